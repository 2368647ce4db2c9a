/* The scripted device. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct as_backend as_backend_null;

static char path[64];

static void forget(void)
{
    (void)unlink(path);
}

static void prepare(void)
{
    snprintf(path, sizeof path, "/tmp/assay-null-%d.json", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"sensor\":{\"power_w\":300},\"info\":{\"memory_free\":100000000,\"memory_bytes\":200000000,\"allocators\":"
          "[{\"name\":\"malloc\"},"
          "{\"name\":\"mmap\",\"why_not\":\"because\"}]}}",
          f);
    assert_int_equal(fclose(f), 0);
    setenv("ASSAY_NULL", path, 1);
    atexit(forget);
}

static const struct size_limit limits[] = {
    {"malloc", 100000001, AS_NOMEM, "100000001"},
    {0},
};

const struct stand_in stand_in = {.backend = &as_backend_null, .prepare = prepare, .runs = RUNS_ALL, .limits = limits};
