/* The rank by the environment of each launcher. */
#include "fleet/fleet_job.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMIX_NAMESPACE",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "PMI_LOCAL_RANK",
    "PALS_APID",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_LOCALID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_NTASKS",
};

static struct as_fleet_job job_of(const char *const *settings)
{
    struct as_fleet_job job;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    for (; *settings; settings += 2)
        setenv(settings[0], settings[1], 1);
    as_fleet_job_find(&job);
    return job;
}
#define JOB(...) job_of((const char *const[]){__VA_ARGS__, NULL})

static void is_job(struct as_fleet_job job, const char *launcher, int rank, int size, int local, const char *id)
{
    assert_string_equal(job.launcher ? job.launcher : "", launcher);
    assert_int_equal(job.rank, rank);
    assert_int_equal(job.size, size);
    assert_int_equal(job.local, local);
    assert_string_equal(job.id, id);
}

#define SLURM "SLURM_PROCID", "5", "SLURM_STEP_NUM_TASKS", "8", "SLURM_LOCALID", "1", "SLURM_JOB_ID", "77"
#define OPEN_MPI                                                                                                       \
    "OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_RANK", "1", "PMIX_NAMESPACE", "n1"

UNIT_TEST(test_each_launcher)
{
    is_job(JOB(OPEN_MPI), "mpirun", 3, 4, 1, "n1");
    is_job(JOB("PMI_RANK", "2", "PMI_SIZE", "3", "MPI_LOCALRANKID", "0"), "mpirun", 2, 3, 0, "");
    is_job(JOB(SLURM, "SLURM_STEP_ID", "0"), "srun", 5, 8, 1, "77.0");
    is_job(JOB(SLURM, "SLURM_STEP_ID", "0", OPEN_MPI), "mpirun", 3, 4, 1, "n1"); /* mpirun within a job */
}

UNIT_TEST(test_no_rank)
{
    is_job(JOB("HOME", "/"), "", 0, 1, 0, "");
    /* a batch script is not a step */
    is_job(JOB("SLURM_PROCID", "0", "SLURM_NTASKS", "32", "SLURM_LOCALID", "0"), "", 0, 1, 0, "");
    is_job(JOB("PMI_RANK", "3", "PMI_SIZE", "3", "MPI_LOCALRANKID", "0"), "", 0, 1, 0, "");
    is_job(JOB("PMI_RANK", "-1", "PMI_SIZE", "3", "MPI_LOCALRANKID", "0"), "", 0, 1, 0, "");
    is_job(JOB("PMI_RANK", "x", "PMI_SIZE", "", "MPI_LOCALRANKID", "0"), "", 0, 1, 0, "");
}

static void is_name(const char *host, int local, const char *want)
{
    char name[64];
    as_fleet_job_name(&(struct as_fleet_job){.local = local}, host, name, sizeof name);
    assert_string_equal(name, want);
}

UNIT_TEST(test_names_of_files)
{
    is_name("node03", 0, "node03");
    is_name("node03", 2, "node03-2");
    is_name("", 0, "localhost");
    is_name("../etc/x\n", 0, "_._etc_x_");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_launcher),
        cmocka_unit_test(test_no_rank),
        cmocka_unit_test(test_names_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
