/* The records of the export format, member by member. docs/export.schema.json says the same to others. */
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
        name, AS_FIELD_OTHER, 0, 0, NULL                                                                               \
    }

const struct as_field as_run_fields[] = {
    OTHER("id"),
    {"uuid", AS_FIELD(as_run, uuid, AS_FIELD_TEXT), NULL},
    {"started_at", AS_FIELD(as_run, started_at, AS_FIELD_TIME), NULL},
    {"ended_at", AS_FIELD(as_run, ended_at, AS_FIELD_TIME), NULL},
    {"state", AS_FIELD(as_run, state, AS_FIELD_WORD), run_state},
    {"suite", AS_FIELD(as_run, suite, AS_FIELD_TEXT), NULL},
    {"command", AS_FIELD(as_run, command, AS_FIELD_OWNED), NULL},
    {"seed", AS_FIELD(as_run, seed, AS_FIELD_SEED), NULL},
    {"precision", AS_FIELD(as_run, precision, AS_FIELD_REAL), NULL},
    {"budget_s", AS_FIELD(as_run, budget_s, AS_FIELD_TIME), NULL},
    {"visits", AS_FIELD(as_run, visits, AS_FIELD_INT), NULL},
    {"isolate", AS_FIELD(as_run, isolate, AS_FIELD_FLAG), NULL},
    {"tool_version", AS_FIELD(as_run, tool_version, AS_FIELD_TEXT), NULL},
    {"tool_commit", AS_FIELD(as_run, tool_commit, AS_FIELD_TEXT), NULL},
    {"host", AS_FIELD(as_run, host, AS_FIELD_TEXT), NULL},
    {"provenance", AS_FIELD(as_run, provenance, AS_FIELD_OBJECT), NULL},
    {"devices", AS_FIELD(as_run, devices, AS_FIELD_ARRAY), NULL},
};
const size_t as_run_fields_n = sizeof as_run_fields / sizeof *as_run_fields;

const struct as_field as_cell_fields[] = {
    OTHER("id"),
    {"position", AS_FIELD(as_cell, index, AS_FIELD_INT), NULL},
    {"backend", AS_FIELD(as_cell, backend, AS_FIELD_TEXT), NULL},
    {"device", AS_FIELD(as_cell, device, AS_FIELD_TEXT), NULL},
    OTHER("driver"),
    {"probe", AS_FIELD(as_cell, probe, AS_FIELD_TEXT), NULL},
    OTHER("axes"),
    OTHER("key"),
    {"status", AS_FIELD(as_cell, status, AS_FIELD_WORD), cell_status},
    {"reason", AS_FIELD(as_cell, reason, AS_FIELD_TEXT), NULL},
    {"metric", AS_FIELD(as_cell, metric, AS_FIELD_TEXT), NULL},
    {"unit", AS_FIELD(as_cell, unit, AS_FIELD_TEXT), NULL},
    {"counts", AS_FIELD(as_cell, counts, AS_FIELD_TEXT_OR_NULL), NULL},
    {"better", AS_FIELD(as_cell, better_less, AS_FIELD_WORD), better},
    {"n", AS_FIELD(as_cell, sum.n, AS_FIELD_SIZE), NULL},
    {"visits_counted", AS_FIELD(as_cell, sum.visits, AS_FIELD_SIZE), NULL},
    {"median", AS_FIELD(as_cell, sum.median, AS_FIELD_REAL), NULL},
    {"ci_low", AS_FIELD(as_cell, sum.ci.lo, AS_FIELD_REAL), NULL},
    {"ci_high", AS_FIELD(as_cell, sum.ci.hi, AS_FIELD_REAL), NULL},
    {"mad", AS_FIELD(as_cell, sum.mad, AS_FIELD_REAL), NULL},
    {"min", AS_FIELD(as_cell, sum.min, AS_FIELD_REAL), NULL},
    {"max", AS_FIELD(as_cell, sum.max, AS_FIELD_REAL), NULL},
    {"modes", AS_FIELD(as_cell, sum.modes, AS_FIELD_SIZE), NULL},
    {"mode_low", AS_FIELD(as_cell, sum.mode[0], AS_FIELD_REAL), NULL},
    {"mode_high", AS_FIELD(as_cell, sum.mode[1], AS_FIELD_REAL), NULL},
    {"mode_share", AS_FIELD(as_cell, sum.mode_share0, AS_FIELD_REAL), NULL},
    OTHER("samples"),
    OTHER("sample_visits"),
    OTHER("gates"),
    {"limit", AS_FIELD(as_cell, limit, AS_FIELD_REAL), NULL},
    {"clock_hz", AS_FIELD(as_cell, clock_hz, AS_FIELD_REAL), NULL},
    {"footprint", AS_FIELD(as_cell, footprint, AS_FIELD_U64), NULL},
    {"visits_done", AS_FIELD(as_cell, visits_done, AS_FIELD_INT), NULL},
    {"duration_s", AS_FIELD(as_cell, duration_s, AS_FIELD_TIME), NULL},
    {"started_at", AS_FIELD(as_cell, started_at, AS_FIELD_TIME), NULL},
    {"detail", AS_FIELD(as_cell, detail, AS_FIELD_OBJECT), NULL},
    OTHER("visits"),
};
const size_t as_cell_fields_n = sizeof as_cell_fields / sizeof *as_cell_fields;

const struct as_field as_visit_fields[] = {
    {"number", AS_FIELD(as_visit, number, AS_FIELD_INT), NULL},
    {"started_at", AS_FIELD(as_visit, started_at, AS_FIELD_TIME), NULL},
    {"prepare_s", AS_FIELD(as_visit, prepare_s, AS_FIELD_REAL), NULL},
    {"duration_s", AS_FIELD(as_visit, duration_s, AS_FIELD_REAL), NULL},
    {"status", AS_FIELD(as_visit, status, AS_FIELD_WORD), cell_status},
    {"reason", AS_FIELD(as_visit, reason, AS_FIELD_TEXT), NULL},
    {"excluded", AS_FIELD(as_visit, excluded, AS_FIELD_FLAG), NULL},
    {"n", AS_FIELD(as_visit, n, AS_FIELD_SIZE), NULL},
    OTHER("samples"),
    {"warmup", AS_FIELD(as_visit, warmup, AS_FIELD_SIZE), NULL},
    {"reps", AS_FIELD(as_visit, reps, AS_FIELD_U64), NULL},
    {"sample_s", AS_FIELD(as_visit, sample_s, AS_FIELD_REAL), NULL},
    {"clock_hz", AS_FIELD(as_visit, clock_hz, AS_FIELD_REAL), NULL},
    {"clock_low", AS_FIELD(as_visit, clock_lo, AS_FIELD_REAL), NULL},
    {"clock_high", AS_FIELD(as_visit, clock_hi, AS_FIELD_REAL), NULL},
    {"checksum", AS_FIELD(as_visit, checksum, AS_FIELD_WORD), gate_state},
    {"checksum_text", AS_FIELD(as_visit, checksum_text, AS_FIELD_TEXT), NULL},
    {"worker", AS_FIELD(as_visit, worker, AS_FIELD_INT), NULL},
    {"limit", AS_FIELD(as_visit, limit, AS_FIELD_REAL), NULL},
    {"limit_why", AS_FIELD(as_visit, limit_why, AS_FIELD_TEXT), NULL},
    {"footprint", AS_FIELD(as_visit, footprint, AS_FIELD_U64), NULL},
    {"claims_memory", AS_FIELD(as_visit, claims_memory, AS_FIELD_FLAG), NULL},
    {"detail", AS_FIELD(as_visit, detail, AS_FIELD_OBJECT), NULL},
};
const size_t as_visit_fields_n = sizeof as_visit_fields / sizeof *as_visit_fields;

const struct as_field as_gate_fields[] = {
    {"state", AS_FIELD(as_gate_result, state, AS_FIELD_WORD), gate_state},
    {"text", AS_FIELD(as_gate_result, text, AS_FIELD_TEXT), NULL},
};
const size_t as_gate_fields_n = sizeof as_gate_fields / sizeof *as_gate_fields;
