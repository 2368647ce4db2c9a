/* The records of the export format, member by member. docs/export.schema.json says the same to others. */
/* Names of stored columns and JSON members; words: keep visits */
#include "store/fields.h"

#include <stddef.h>

static const char *cell_status(int i)
{
    return i < AS_CELL_STATUS_N ? as_cell_status_word((enum as_cell_status)i) : NULL;
}

static const char *gate_state(int i)
{
    return i <= AS_GATE_FAIL ? as_gate_state_word((enum as_gate_state)i) : NULL;
}

static const char *run_state(int i)
{
    return i < AS_RUN_STATE_N ? as_run_state_word((enum as_run_state)i) : NULL;
}

static const char *better(int i)
{
    static const char *const words[] = {"more", "less", NULL};
    return words[i];
}

#define OTHER(name)                                                                                                    \
    {                                                                                                                  \
        name, AS_FIELD_OTHER, 0, 0, NULL, 0                                                                            \
    }

const struct as_field as_run_fields[] = {
    OTHER("id"),
    {"uuid", AS_FIELD(as_run, uuid, AS_FIELD_TEXT), NULL, 0},
    {"started_at", AS_FIELD(as_run, started_at, AS_FIELD_TIME), NULL, 0},
    {"ended_at", AS_FIELD(as_run, ended_at, AS_FIELD_TIME), NULL, 0},
    {"state", AS_FIELD(as_run, state, AS_FIELD_WORD), run_state, 0},
    {"suite", AS_FIELD(as_run, suite, AS_FIELD_TEXT), NULL, 0},
    {"command", AS_FIELD(as_run, command, AS_FIELD_OWNED), NULL, 0},
    {"seed", AS_FIELD(as_run, seed, AS_FIELD_SEED), NULL, 0},
    {"precision", AS_FIELD(as_run, precision, AS_FIELD_REAL), NULL, 0},
    {"budget_s", AS_FIELD(as_run, budget_s, AS_FIELD_TIME), NULL, 0},
    {"visits", AS_FIELD(as_run, trials, AS_FIELD_INT), NULL, 0},
    {"isolate", AS_FIELD(as_run, isolate, AS_FIELD_FLAG), NULL, 0},
    {"tool_version", AS_FIELD(as_run, tool_version, AS_FIELD_TEXT), NULL, 0},
    {"tool_commit", AS_FIELD(as_run, tool_commit, AS_FIELD_TEXT), NULL, 0},
    {"host", AS_FIELD(as_run, host, AS_FIELD_TEXT), NULL, 0},
    {"provenance", AS_FIELD(as_run, provenance, AS_FIELD_OBJECT), NULL, 0},
    {"devices", AS_FIELD(as_run, devices, AS_FIELD_ARRAY), NULL, 0},
    {"reference_clock_hz", AS_FIELD(as_run, reference_hz, AS_FIELD_REAL), NULL, 4},
    {"sampling_share", AS_FIELD(as_run, sampling, AS_FIELD_REAL), NULL, 4},
    {"clock_exponents", AS_FIELD(as_run, exponents, AS_FIELD_ARRAY), NULL, 4},
    {"left_out", AS_FIELD(as_run, left_out, AS_FIELD_OBJECT), NULL, 4},
};
const size_t as_run_fields_n = sizeof as_run_fields / sizeof *as_run_fields;

const struct as_field as_cell_fields[] = {
    OTHER("id"),
    {"position", AS_FIELD(as_cell, index, AS_FIELD_INT), NULL, 0},
    {"backend", AS_FIELD(as_cell, backend, AS_FIELD_TEXT), NULL, 0},
    {"device", AS_FIELD(as_cell, device, AS_FIELD_TEXT), NULL, 0},
    OTHER("driver"),
    {"probe", AS_FIELD(as_cell, probe, AS_FIELD_TEXT), NULL, 0},
    OTHER("axes"),
    OTHER("key"),
    {"status", AS_FIELD(as_cell, status, AS_FIELD_WORD), cell_status, 0},
    {"reason", AS_FIELD(as_cell, reason, AS_FIELD_TEXT), NULL, 0},
    {"causes", AS_FIELD(as_cell, causes, AS_FIELD_CAUSES), NULL, 4},
    {"metric", AS_FIELD(as_cell, metric, AS_FIELD_TEXT), NULL, 0},
    {"unit", AS_FIELD(as_cell, unit, AS_FIELD_TEXT), NULL, 0},
    {"counts", AS_FIELD(as_cell, counts, AS_FIELD_TEXT_OR_NULL), NULL, 0},
    {"better", AS_FIELD(as_cell, lower_is_better, AS_FIELD_WORD), better, 0},
    {"precision", AS_FIELD(as_cell, precision, AS_FIELD_REAL), NULL, 3},
    {"n", AS_FIELD(as_cell, sum.n, AS_FIELD_SIZE), NULL, 0},
    {"visits_counted", AS_FIELD(as_cell, sum.trials, AS_FIELD_SIZE), NULL, 0},
    {"median", AS_FIELD(as_cell, sum.median, AS_FIELD_REAL), NULL, 0},
    {"ci_low", AS_FIELD(as_cell, sum.ci.lo, AS_FIELD_REAL), NULL, 0},
    {"ci_high", AS_FIELD(as_cell, sum.ci.hi, AS_FIELD_REAL), NULL, 0},
    {"mad", AS_FIELD(as_cell, sum.mad, AS_FIELD_REAL), NULL, 0},
    {"min", AS_FIELD(as_cell, sum.min, AS_FIELD_REAL), NULL, 0},
    {"max", AS_FIELD(as_cell, sum.max, AS_FIELD_REAL), NULL, 0},
    {"modes", AS_FIELD(as_cell, sum.modes, AS_FIELD_SIZE), NULL, 0},
    {"mode_low", AS_FIELD(as_cell, sum.mode[0], AS_FIELD_REAL), NULL, 0},
    {"mode_high", AS_FIELD(as_cell, sum.mode[1], AS_FIELD_REAL), NULL, 0},
    {"mode_share", AS_FIELD(as_cell, sum.mode_share0, AS_FIELD_REAL), NULL, 0},
    {"clock_exponent", AS_FIELD(as_cell, exponent, AS_FIELD_REAL), NULL, 4},
    {"raw_low", AS_FIELD(as_cell, raw_low, AS_FIELD_REAL), NULL, 4},
    {"raw_high", AS_FIELD(as_cell, raw_high, AS_FIELD_REAL), NULL, 4},
    OTHER("samples"),
    OTHER("sample_visits"),
    OTHER("gates"),
    {"limit", AS_FIELD(as_cell, limit, AS_FIELD_REAL), NULL, 0},
    {"clock_hz", AS_FIELD(as_cell, clock_hz, AS_FIELD_REAL), NULL, 0},
    {"footprint", AS_FIELD(as_cell, footprint, AS_FIELD_U64), NULL, 0},
    {"visits_done", AS_FIELD(as_cell, trials_done, AS_FIELD_INT), NULL, 0},
    {"duration_s", AS_FIELD(as_cell, duration_s, AS_FIELD_TIME), NULL, 0},
    {"started_at", AS_FIELD(as_cell, started_at, AS_FIELD_TIME), NULL, 0},
    {"detail", AS_FIELD(as_cell, detail, AS_FIELD_OBJECT), NULL, 0},
    OTHER("visits"),
};
const size_t as_cell_fields_n = sizeof as_cell_fields / sizeof *as_cell_fields;

const struct as_field as_trial_fields[] = {
    {"number", AS_FIELD(as_trial, number, AS_FIELD_INT), NULL, 0},
    {"started_at", AS_FIELD(as_trial, started_at, AS_FIELD_TIME), NULL, 0},
    {"prepare_s", AS_FIELD(as_trial, prepare_s, AS_FIELD_REAL), NULL, 0},
    {"duration_s", AS_FIELD(as_trial, duration_s, AS_FIELD_REAL), NULL, 0},
    {"status", AS_FIELD(as_trial, status, AS_FIELD_WORD), cell_status, 0},
    {"reason", AS_FIELD(as_trial, reason, AS_FIELD_TEXT), NULL, 0},
    {"excluded", AS_FIELD(as_trial, excluded, AS_FIELD_FLAG), NULL, 0},
    {"n", AS_FIELD(as_trial, n, AS_FIELD_SIZE), NULL, 0},
    OTHER("samples"),
    {"warmup", AS_FIELD(as_trial, warmup, AS_FIELD_SIZE), NULL, 0},
    {"reps", AS_FIELD(as_trial, reps, AS_FIELD_U64), NULL, 0},
    {"sample_s", AS_FIELD(as_trial, sample_s, AS_FIELD_REAL), NULL, 0},
    {"clock_hz", AS_FIELD(as_trial, clock_hz, AS_FIELD_REAL), NULL, 0},
    {"clock_low", AS_FIELD(as_trial, clock_lo, AS_FIELD_REAL), NULL, 0},
    {"clock_high", AS_FIELD(as_trial, clock_hi, AS_FIELD_REAL), NULL, 0},
    {"checksum", AS_FIELD(as_trial, checksum, AS_FIELD_WORD), gate_state, 0},
    {"checksum_text", AS_FIELD(as_trial, checksum_text, AS_FIELD_TEXT), NULL, 0},
    {"code", AS_FIELD(as_trial, code, AS_FIELD_WORD), gate_state, 2},
    {"code_text", AS_FIELD(as_trial, code_text, AS_FIELD_TEXT), NULL, 2},
    {"readings", AS_FIELD_OTHER, 0, 0, NULL, 2},
    {"worker", AS_FIELD(as_trial, worker, AS_FIELD_INT), NULL, 0},
    {"limit", AS_FIELD(as_trial, limit, AS_FIELD_REAL), NULL, 0},
    {"limit_why", AS_FIELD(as_trial, limit_why, AS_FIELD_TEXT), NULL, 0},
    {"footprint", AS_FIELD(as_trial, footprint, AS_FIELD_U64), NULL, 0},
    {"claims_memory", AS_FIELD(as_trial, claims_memory, AS_FIELD_FLAG), NULL, 0},
    {"detail", AS_FIELD(as_trial, detail, AS_FIELD_OBJECT), NULL, 0},
    {"sampling_s", AS_FIELD(as_trial, sampling_s, AS_FIELD_REAL), NULL, 4},
    {"core_hz", AS_FIELD_OTHER, 0, 0, NULL, 4},
    {"weight", AS_FIELD_OTHER, 0, 0, NULL, 4},
};
const size_t as_trial_fields_n = sizeof as_trial_fields / sizeof *as_trial_fields;

const struct as_field as_gate_fields[] = {
    {"state", AS_FIELD(as_gate_result, state, AS_FIELD_WORD), gate_state, 0},
    {"text", AS_FIELD(as_gate_result, text, AS_FIELD_TEXT), NULL, 0},
};
const size_t as_gate_fields_n = sizeof as_gate_fields / sizeof *as_gate_fields;

const struct as_field as_readings_fields[] = {
    {"sensor", AS_FIELD(as_readings, sensor, AS_FIELD_TEXT), NULL, 0},
    {"throttle", AS_FIELD(as_readings, throttle, AS_FIELD_THROTTLE), NULL, 0},
    {"power_w", AS_FIELD(as_readings, power_w, AS_FIELD_REAL), NULL, 0},
    {"temperature_before", AS_FIELD(as_readings, temperature_before, AS_FIELD_REAL), NULL, 0},
    {"temperature_after", AS_FIELD(as_readings, temperature_after, AS_FIELD_REAL), NULL, 0},
    {"clock_hz", AS_FIELD(as_readings, clock_hz, AS_FIELD_REAL), NULL, 0},
    {"clock_low", AS_FIELD(as_readings, clock_lo, AS_FIELD_REAL), NULL, 0},
    {"clock_high", AS_FIELD(as_readings, clock_hi, AS_FIELD_REAL), NULL, 0},
    {"memory_clock_low", AS_FIELD(as_readings, memory_clock_lo, AS_FIELD_REAL), NULL, 0},
    {"memory_clock_high", AS_FIELD(as_readings, memory_clock_hi, AS_FIELD_REAL), NULL, 0},
    {"pcie_generation", AS_FIELD(as_readings, pcie_generation, AS_FIELD_REAL), NULL, 0},
    {"pcie_width", AS_FIELD(as_readings, pcie_width, AS_FIELD_REAL), NULL, 0},
    {"pcie_generation_max", AS_FIELD(as_readings, pcie_generation_max, AS_FIELD_REAL), NULL, 0},
    {"pcie_width_max", AS_FIELD(as_readings, pcie_width_max, AS_FIELD_REAL), NULL, 0},
    {"ecc_corrected", AS_FIELD(as_readings, ecc_corrected, AS_FIELD_REAL), NULL, 0},
    {"ecc_uncorrected", AS_FIELD(as_readings, ecc_uncorrected, AS_FIELD_REAL), NULL, 0},
    {"users", AS_FIELD(as_readings, users, AS_FIELD_REAL), NULL, 0},
    {"utilisation", AS_FIELD(as_readings, utilisation, AS_FIELD_REAL), NULL, 0},
    {"reads", AS_FIELD(as_readings, reads, AS_FIELD_REAL), NULL, 0},
};
const size_t as_readings_fields_n = sizeof as_readings_fields / sizeof *as_readings_fields;
