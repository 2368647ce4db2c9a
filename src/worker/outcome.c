#include "worker/outcome.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/host_limits.h"
#include "device/shared_host.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct as_trial as_outcome_empty(int number)
{
    return (struct as_trial){.number = number,
                             .started_at = as_wall(),
                             .status = AS_CELL_OK,
                             .clock_hz = NAN,
                             .clock_lo = NAN,
                             .clock_hi = NAN,
                             .limit = NAN,
                             .sample_s = NAN,
                             .sampling_s = NAN};
}

/* Whoever lacks memory of the host wants to know who limits it. */
void as_outcome_add_limit(const struct as_device_info *info, char *reason, size_t size)
{
    const size_t n = strlen(reason);
    struct as_host_limits limits;
    char text[256] = "";
    const bool is_host = info->is_host_memory || info->capabilities & AS_CAP_HOST_KERNELS;
    if (is_host && as_info_shares_host(info) && as_host_limits_now(&limits, NULL) == AS_OK)
        as_host_limits_memory_text(&limits, text, sizeof text);
    if (text[0] && n < size)
        snprintf(reason + n, size - n, "; %s", text);
}

void as_outcome_set(struct as_trial *out, enum as_status st, const char *text)
{
    static const enum as_cell_status of[] = {
        [AS_UNSUPPORTED] = AS_CELL_UNSUPPORTED,
        [AS_TIMEOUT] = AS_CELL_TIMEOUT,
        [AS_FAILED] = AS_CELL_FAILED,
        [AS_NOMEM] = AS_CELL_UNSUPPORTED,
    };
    out->status = (size_t)st < sizeof of / sizeof *of && of[st] ? of[st] : AS_CELL_FAILED;
    as_copy_text(out->reason, sizeof out->reason, text);
}

/* Equal hashes mean the same code. */
void as_outcome_note_code(struct as_trial_context *tc, const struct as_code_identity *code)
{
    const struct {
        const char *name;
        uint64_t hash;
    } notes[] = {{"source_hash", code->source}, {"binary_hash", code->binary}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char hex[17];
        as_hash_hex(notes[i].hash, hex);
        if (notes[i].hash)
            as_note(tc, notes[i].name, hex);
    }
}

/* What as_demand_metrics names, in its units. */
void as_outcome_note_demand(struct as_trial_context *tc, const struct as_demand_seen *seen)
{
    const double values[] = {1e-9 * seen->memory_read, 1e-9 * seen->memory_written,
                             1e-9 * seen->cpu_traffic, 100 * seen->device_memory,
                             100 * seen->device_busy,  1e-9 * seen->bus_received,
                             1e-9 * seen->bus_sent,    seen->cpu_power,
                             seen->gpu_power,          seen->ane_power,
                             seen->dram_power,         seen->cores_power,
                             seen->platform_power,     seen->device_memory_power,
                             seen->module_power};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (isfinite(values[i]))
            as_note_number(tc, as_demand_metrics[i].name, values[i]);
}
