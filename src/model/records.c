/* The fields of the records. docs/export.schema.json says the same of the JSON to others. */
#include "model/fields.h"
#include "model/metrics.h"

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

static const struct as_field run_fields[] = {
    {.name = "id", .kind = AS_FIELD_OTHER},
    {.name = "uuid", AS_FIELD(as_run, uuid, AS_FIELD_TEXT)},
    {.name = "started_at", AS_FIELD(as_run, started_at, AS_FIELD_TIME)},
    {.name = "ended_at", AS_FIELD(as_run, ended_at, AS_FIELD_TIME)},
    {.name = "state", AS_FIELD(as_run, state, AS_FIELD_WORD), .word = run_state},
    {.name = "suite", AS_FIELD(as_run, suite, AS_FIELD_TEXT)},
    {.name = "command", AS_FIELD(as_run, command, AS_FIELD_OWNED)},
    {.name = "seed", AS_FIELD(as_run, seed, AS_FIELD_SEED)},
    {.name = "precision", AS_FIELD(as_run, precision, AS_FIELD_REAL)},
    {.name = "budget_s", AS_FIELD(as_run, budget_s, AS_FIELD_TIME)},
    {.name = "trials", AS_FIELD(as_run, trials, AS_FIELD_INT)},
    {.name = "isolate", AS_FIELD(as_run, isolate, AS_FIELD_FLAG)},
    {.name = "tool_version", AS_FIELD(as_run, tool_version, AS_FIELD_TEXT)},
    {.name = "tool_commit", AS_FIELD(as_run, tool_commit, AS_FIELD_TEXT)},
    {.name = "host", AS_FIELD(as_run, host, AS_FIELD_TEXT)},
    {.name = "provenance", AS_FIELD(as_run, provenance, AS_FIELD_OBJECT)},
    {.name = "devices", AS_FIELD(as_run, devices, AS_FIELD_ARRAY)},
    {.name = "reference_clock_hz", AS_FIELD(as_run, reference_hz, AS_FIELD_REAL), .column = "reference_hz"},
    {.name = "sampling_share", AS_FIELD(as_run, sampling, AS_FIELD_REAL), .column = "sampling"},
    {.name = "clock_exponents", AS_FIELD(as_run, exponents, AS_FIELD_ARRAY), .column = "exponents"},
    {.name = "left_out", AS_FIELD(as_run, left_out, AS_FIELD_OBJECT)},
};
const struct as_fields as_run_fields = {run_fields, sizeof run_fields / sizeof *run_fields};

static const struct as_field cell_fields[] = {
    {.name = "id", .kind = AS_FIELD_OTHER},
    {.name = "position", AS_FIELD(as_cell, index, AS_FIELD_INT)},
    {.name = "backend", AS_FIELD(as_cell, backend, AS_FIELD_TEXT), .csv = "backend"},
    {.name = "device", AS_FIELD(as_cell, device, AS_FIELD_TEXT), .csv = "device"},
    {.name = "driver", .kind = AS_FIELD_OTHER},
    {.name = "probe", AS_FIELD(as_cell, probe, AS_FIELD_TEXT), .csv = "probe"},
    {.name = "axes", .kind = AS_FIELD_OTHER},
    {.name = "key", .kind = AS_FIELD_OTHER},
    {.name = "metric", AS_FIELD(as_cell, metric, AS_FIELD_TEXT), .csv = "metric"},
    {.name = "unit", AS_FIELD(as_cell, unit, AS_FIELD_TEXT), .csv = "unit"},
    {.name = "counts", AS_FIELD(as_cell, counts, AS_FIELD_TEXT_OR_NULL), .csv = "counts"},
    {.name = "better",
     AS_FIELD(as_cell, lower_is_better, AS_FIELD_WORD_FLAG),
     .word = better,
     .column = "lower_is_better",
     .csv = "better"},
    {.name = "precision", AS_FIELD(as_cell, precision, AS_FIELD_REAL), .csv = "precision"},
    {.name = "status", AS_FIELD(as_cell, status, AS_FIELD_WORD), .word = cell_status, .csv = "status"},
    {.name = "causes", AS_FIELD(as_cell, causes, AS_FIELD_CAUSES), .csv = "causes"},
    {.name = "reason", AS_FIELD(as_cell, reason, AS_FIELD_TEXT), .csv = "reason"},
    {.name = "n", AS_FIELD(as_cell, sum.n, AS_FIELD_SIZE), .csv = "n"},
    {.name = "trials_counted", AS_FIELD(as_cell, sum.trials, AS_FIELD_SIZE), .column = "trials", .csv = "trials"},
    {.name = "median", AS_FIELD(as_cell, sum.median, AS_FIELD_REAL), .csv = "median"},
    {.name = "ci_low", AS_FIELD(as_cell, sum.ci.lo, AS_FIELD_REAL), .csv = "ci_low"},
    {.name = "ci_high", AS_FIELD(as_cell, sum.ci.hi, AS_FIELD_REAL), .csv = "ci_high"},
    {.name = "mad", AS_FIELD(as_cell, sum.mad, AS_FIELD_REAL), .csv = "mad"},
    {.name = "min", AS_FIELD(as_cell, sum.min, AS_FIELD_REAL), .csv = "min"},
    {.name = "max", AS_FIELD(as_cell, sum.max, AS_FIELD_REAL), .csv = "max"},
    {.name = "modes", AS_FIELD(as_cell, sum.modes, AS_FIELD_SIZE), .csv = "modes"},
    {.name = "mode_low", AS_FIELD(as_cell, sum.mode[0], AS_FIELD_REAL)},
    {.name = "mode_high", AS_FIELD(as_cell, sum.mode[1], AS_FIELD_REAL)},
    {.name = "mode_share", AS_FIELD(as_cell, sum.mode_share0, AS_FIELD_REAL)},
    {.name = "clock_exponent",
     AS_FIELD(as_cell, exponent, AS_FIELD_REAL),
     .column = "exponent",
     .csv = "clock_exponent"},
    {.name = "raw_low", AS_FIELD(as_cell, raw_low, AS_FIELD_REAL), .csv = "raw_low"},
    {.name = "raw_high", AS_FIELD(as_cell, raw_high, AS_FIELD_REAL), .csv = "raw_high"},
    {.name = "samples", .kind = AS_FIELD_OTHER},
    {.name = "sample_trials", .kind = AS_FIELD_OTHER},
    {.name = "gates", .kind = AS_FIELD_OTHER},
    {.name = "limit", AS_FIELD(as_cell, limit, AS_FIELD_REAL), .column = "bound", .csv = "limit"},
    {.name = "clock_hz", AS_FIELD(as_cell, clock_hz, AS_FIELD_REAL), .csv = "clock_hz"},
    {.name = "footprint", AS_FIELD(as_cell, footprint, AS_FIELD_U64), .csv = "footprint"},
    {.name = "answers", AS_FIELD(as_cell, answers, AS_FIELD_ARRAY)},
    {.name = "metrics", AS_FIELD(as_cell, metrics, AS_FIELD_ARRAY)},
    {.name = "trials_done", AS_FIELD(as_cell, trials_done, AS_FIELD_INT)},
    {.name = "duration_s", AS_FIELD(as_cell, duration_s, AS_FIELD_TIME)},
    {.name = "started_at", AS_FIELD(as_cell, started_at, AS_FIELD_TIME), .csv = "started_at"},
    {.name = "detail", AS_FIELD(as_cell, detail, AS_FIELD_OBJECT)},
    {.name = "trials", .kind = AS_FIELD_OTHER},
};
const struct as_fields as_cell_fields = {cell_fields, sizeof cell_fields / sizeof *cell_fields};

static const struct as_field trial_fields[] = {
    {.name = "number", AS_FIELD(as_trial, number, AS_FIELD_INT)},
    {.name = "started_at", AS_FIELD(as_trial, started_at, AS_FIELD_TIME)},
    {.name = "prepare_s", AS_FIELD(as_trial, prepare_s, AS_FIELD_REAL)},
    {.name = "duration_s", AS_FIELD(as_trial, duration_s, AS_FIELD_REAL)},
    {.name = "status", AS_FIELD(as_trial, status, AS_FIELD_WORD), .word = cell_status},
    {.name = "reason", AS_FIELD(as_trial, reason, AS_FIELD_TEXT)},
    {.name = "excluded", AS_FIELD(as_trial, excluded, AS_FIELD_FLAG)},
    {.name = "n", AS_FIELD(as_trial, n, AS_FIELD_SIZE)},
    {.name = "samples", .kind = AS_FIELD_OTHER},
    {.name = "warmup", AS_FIELD(as_trial, warmup, AS_FIELD_SIZE)},
    {.name = "reps", AS_FIELD(as_trial, reps, AS_FIELD_U64)},
    {.name = "sample_s", AS_FIELD(as_trial, sample_s, AS_FIELD_REAL)},
    {.name = "clock_hz", AS_FIELD(as_trial, clock_hz, AS_FIELD_REAL)},
    {.name = "clock_low", AS_FIELD(as_trial, clock_lo, AS_FIELD_REAL)},
    {.name = "clock_high", AS_FIELD(as_trial, clock_hi, AS_FIELD_REAL)},
    {.name = "checksum", AS_FIELD(as_trial, checksum, AS_FIELD_WORD), .word = gate_state},
    {.name = "checksum_text", AS_FIELD(as_trial, checksum_text, AS_FIELD_TEXT)},
    {.name = "code", AS_FIELD(as_trial, code, AS_FIELD_WORD), .word = gate_state},
    {.name = "code_text", AS_FIELD(as_trial, code_text, AS_FIELD_TEXT)},
    {.name = "readings", .kind = AS_FIELD_OTHER},
    {.name = "worker", AS_FIELD(as_trial, worker, AS_FIELD_INT)},
    {.name = "limit", AS_FIELD(as_trial, limit, AS_FIELD_REAL), .column = "bound"},
    {.name = "limit_why", AS_FIELD(as_trial, limit_why, AS_FIELD_TEXT), .column = "bound_text"},
    {.name = "footprint", AS_FIELD(as_trial, footprint, AS_FIELD_U64)},
    {.name = "claims_memory", AS_FIELD(as_trial, claims_memory, AS_FIELD_FLAG)},
    {.name = "detail", AS_FIELD(as_trial, detail, AS_FIELD_OBJECT)},
    {.name = "sampling_s", AS_FIELD(as_trial, sampling_s, AS_FIELD_REAL)},
    {.name = "core_hz", .kind = AS_FIELD_OTHER},
    {.name = "weight", .kind = AS_FIELD_OTHER},
};
const struct as_fields as_trial_fields = {trial_fields, sizeof trial_fields / sizeof *trial_fields};

static const struct as_field gate_fields[] = {
    {.name = "state", AS_FIELD(as_gate_result, state, AS_FIELD_WORD), .word = gate_state, .column = ""},
    {.name = "text", AS_FIELD(as_gate_result, text, AS_FIELD_TEXT), .column = "_text"},
};
const struct as_fields as_gate_fields = {gate_fields, sizeof gate_fields / sizeof *gate_fields};

static const struct as_field metric_fields[] = {
    {.name = "name", AS_FIELD(as_metric_value, name, AS_FIELD_TEXT)},
    {.name = "unit", AS_FIELD(as_metric_value, unit, AS_FIELD_TEXT)},
    {.name = "better", AS_FIELD(as_metric_value, lower_is_better, AS_FIELD_WORD_FLAG), .word = better},
    {.name = "counts", AS_FIELD(as_metric_value, counts, AS_FIELD_TEXT_OR_NULL)},
    {.name = "trials", AS_FIELD(as_metric_value, trials, AS_FIELD_SIZE)},
    {.name = "value", AS_FIELD(as_metric_value, value, AS_FIELD_REAL)},
    {.name = "ci_low", AS_FIELD(as_metric_value, ci.lo, AS_FIELD_REAL)},
    {.name = "ci_high", AS_FIELD(as_metric_value, ci.hi, AS_FIELD_REAL)},
};
const struct as_fields as_metric_fields = {metric_fields, sizeof metric_fields / sizeof *metric_fields};

static const struct as_field readings_fields[] = {
    {.name = "sensor", AS_FIELD(as_readings, sensor, AS_FIELD_TEXT)},
    {.name = "throttle", AS_FIELD(as_readings, throttle, AS_FIELD_THROTTLE)},
    {.name = "power_w", AS_FIELD(as_readings, power_w, AS_FIELD_REAL)},
    {.name = "temperature_before", AS_FIELD(as_readings, temperature_before, AS_FIELD_REAL)},
    {.name = "temperature_after", AS_FIELD(as_readings, temperature_after, AS_FIELD_REAL)},
    {.name = "clock_hz", AS_FIELD(as_readings, clock_hz, AS_FIELD_REAL), .column = "sensor_clock_hz"},
    {.name = "clock_low", AS_FIELD(as_readings, clock_lo, AS_FIELD_REAL), .column = "sensor_clock_low"},
    {.name = "clock_high", AS_FIELD(as_readings, clock_hi, AS_FIELD_REAL), .column = "sensor_clock_high"},
    {.name = "memory_clock_low", AS_FIELD(as_readings, memory_clock_lo, AS_FIELD_REAL)},
    {.name = "memory_clock_high", AS_FIELD(as_readings, memory_clock_hi, AS_FIELD_REAL)},
    {.name = "pcie_generation", AS_FIELD(as_readings, pcie_generation, AS_FIELD_REAL)},
    {.name = "pcie_width", AS_FIELD(as_readings, pcie_width, AS_FIELD_REAL)},
    {.name = "pcie_generation_max", AS_FIELD(as_readings, pcie_generation_max, AS_FIELD_REAL)},
    {.name = "pcie_width_max", AS_FIELD(as_readings, pcie_width_max, AS_FIELD_REAL)},
    {.name = "ecc_corrected", AS_FIELD(as_readings, ecc_corrected, AS_FIELD_REAL)},
    {.name = "ecc_uncorrected", AS_FIELD(as_readings, ecc_uncorrected, AS_FIELD_REAL)},
    {.name = "users", AS_FIELD(as_readings, users, AS_FIELD_REAL)},
    {.name = "utilisation", AS_FIELD(as_readings, utilisation, AS_FIELD_REAL)},
    {.name = "reads", AS_FIELD(as_readings, reads, AS_FIELD_REAL), .column = "sensor_reads"},
};
const struct as_fields as_readings_fields = {readings_fields, sizeof readings_fields / sizeof *readings_fields};
