/* The rank by the environment of launchers. */
#include "fleet/fleet_job.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A row counts if rank, size and local rank are all there. mpirun inside of a Slurm job sets its own beside Slurm's, so
 * Slurm's come after MPI's; a batch script is no rank, and has no SLURM_STEP_NUM_TASKS. */
static const struct launcher {
    const char *name, *rank, *size, *local, *id[2];
} launchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", {"PMIX_NAMESPACE"}},
    {"mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", {NULL}},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {NULL}},
    {"aprun", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", {"PALS_APID"}},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", {"FLUX_JOB_ID"}},
};

static bool number_of(const char *variable, int lo, int *out)
{
    const char *text = getenv(variable);
    uint64_t v = 0;
    if (!text || as_parse_u64(text, &v, NULL) || v < (uint64_t)lo || v > INT_MAX)
        return false;
    *out = (int)v;
    return true;
}

static void find_id(const struct launcher *l, char *out, size_t size)
{
    struct as_buf id = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof l->id / sizeof *l->id && l->id[i]; i++) {
        const char *text = getenv(l->id[i]);
        as_buf_printf(&id, "%s%s", i ? "." : "", text ? text : "");
    }
    as_copy_text(out, size, as_buf_get(&id));
    as_buf_finish(&id);
}

void as_fleet_job_find(struct as_fleet_job *out)
{
    *out = (struct as_fleet_job){.size = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *l = &launchers[i];
        struct as_fleet_job found = {.launcher = l->name};
        if (!number_of(l->rank, 0, &found.rank) || !number_of(l->size, 1, &found.size) ||
            !number_of(l->local, 0, &found.local) || found.rank >= found.size)
            continue;
        find_id(l, found.id, sizeof found.id);
        *out = found;
        return;
    }
}

void as_fleet_job_name(const struct as_fleet_job *job, const char *host, char *out, size_t size)
{
    struct as_buf name = AS_BUF_INIT;
    as_buf_str(&name, host[0] ? host : "localhost");
    for (size_t i = 0; i < name.len; i++)
        if (name.data[i] == '/' || (unsigned char)name.data[i] < ' ' || (i == 0 && name.data[i] == '.'))
            name.data[i] = '_';
    if (job->local)
        as_buf_printf(&name, "-%d", job->local);
    as_copy_text(out, size, as_buf_get(&name));
    as_buf_finish(&name);
}
