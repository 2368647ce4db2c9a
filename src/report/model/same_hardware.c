/* Devices that drive the same hardware, of which one stands for all, and devices of identical hardware. */
#include "report/model/same_hardware.h"

#include <string.h>

static size_t count_numbers(const struct as_report_run *run, const char *device)
{
    size_t n = 0;
    for (size_t i = 0; i < run->cells_n; i++)
        n += strcmp(run->cells[i].device, device) == 0 && as_report_is_measured(&run->cells[i]);
    return n;
}

/* Native code measures the host's CPU as it is, an API's device there what the API makes of it. */
static bool is_drawn_rather(const struct as_report_run *run, size_t a, size_t b)
{
    const size_t n = count_numbers(run, run->devices[a].id), most = count_numbers(run, run->devices[b].id);
    const bool native = run->devices[a].capabilities & AS_CAP_HOST_KERNELS,
               other = run->devices[b].capabilities & AS_CAP_HOST_KERNELS;
    if (native != other)
        return native ? n > 0 : most == 0;
    return n > most || (n == most && a < b);
}

size_t as_hardware_representative(const struct as_report_run *run, size_t index)
{
    char how[96];
    size_t best = index;
    for (size_t i = 0; i < run->devices_n; i++)
        if (i != index && as_info_same_hardware(&run->devices[i], &run->devices[index], how, sizeof how) &&
            is_drawn_rather(run, i, best))
            best = i;
    return best;
}

const char *as_hardware_representative_id(const struct as_report_run *run, const char *id)
{
    for (size_t i = 0; i < run->devices_n; i++)
        if (strcmp(run->devices[i].id, id) == 0) {
            const size_t drawn = as_hardware_representative(run, i);
            return drawn == i ? NULL : run->devices[drawn].id;
        }
    return NULL;
}

bool as_hardware_has_own_memory(const struct as_device_info *info)
{
    return !info->is_host_memory && !(info->capabilities & AS_CAP_HOST_KERNELS);
}

bool as_hardware_is_alike(const struct as_device_info *a, const struct as_device_info *b)
{
    return as_hardware_has_own_memory(a) && strcmp(a->backend, b->backend) == 0 && strcmp(a->name, b->name) == 0 &&
           a->compute_units == b->compute_units && a->memory_bytes == b->memory_bytes;
}
