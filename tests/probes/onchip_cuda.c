/* The kernels that time themselves as NVRTC compiles them for three generations, without a GPU: each program is the one
 * that the probe asks for, and its machine code holds the loads and operations that the probe is about. */
#include "toy_device.h"

#include "base/text.h"
#include "device/cuda/cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct compiled {
    unsigned char *cubin;
    size_t bytes;
};
static struct as_nvrtc_api nvrtc;
static const char *arch;

static enum as_status build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                            struct as_error *err)
{
    struct compiled *p = calloc(1, sizeof *p);
    (void)dev;
    assert_non_null(p);
    *out = (struct as_program *)(void *)p;
    enum as_status s = as_cu_compile(&nvrtc, desc, arch, &p->cubin, &p->bytes, err);
    if (s)
        fail_msg("%s for %s: %s", desc->name, arch, err->text);
    return s;
}

static void destroy(struct as_device *dev, struct as_program *program)
{
    struct compiled *p = (struct compiled *)(void *)program;
    (void)dev;
    if (p)
        free(p->cubin);
    free(p);
}

struct named {
    struct compiled *in;
    char name[32];
};

static enum as_status kernel(struct as_device *dev, struct as_program *program, const char *name,
                             struct as_kernel **out, struct as_error *err)
{
    struct named *k = calloc(1, sizeof *k);
    uint64_t bytes;
    (void)dev;
    assert_non_null(k);
    k->in = (struct compiled *)(void *)program;
    as_copy_text(k->name, sizeof k->name, name);
    *out = (struct as_kernel *)(void *)k;
    return as_cubin_code_bytes(k->in->cubin, k->in->bytes, name, &bytes, err);
}

static void kernel_destroy(struct as_device *dev, struct as_kernel *k)
{
    (void)dev;
    free(k);
}

static enum as_status count(struct as_device *dev, struct as_kernel *k, const char *operation, uint64_t *n,
                            struct as_error *err)
{
    const struct named *named = (const struct named *)(const void *)k;
    (void)dev;
    return as_cubin_count(named->in->cubin, named->in->bytes, named->name, operation, n, err);
}

static enum as_status info(struct as_device *dev, struct as_kernel *k, size_t group_size, size_t local_bytes,
                           struct as_kernel_info *out, struct as_error *err)
{
    const struct named *named = (const struct named *)(const void *)k;
    (void)dev, (void)group_size, (void)local_bytes;
    *out = (struct as_kernel_info){.max_threads = 1024};
    return as_cubin_code_bytes(named->in->cubin, named->in->bytes, named->name, &out->code_bytes, err);
}

/* Nothing runs: what is compiled is all that counts. */
static enum as_status launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                             struct as_error *err)
{
    (void)dev, (void)l, (void)err;
    *out = (struct as_timing){.host_s = 1e-3, .device_s = 1e-3};
    return AS_OK;
}

static const struct as_program_ops program_ops = {.build = build,
                                                  .destroy = destroy,
                                                  .kernel = kernel,
                                                  .kernel_destroy = kernel_destroy,
                                                  .count = count,
                                                  .kernel_info = info};

static void start(struct toy *t)
{
    static struct as_queue_ops queue;
    toy_init(t, AS_CAP_SOURCE | AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_ASYNC);
    queue = *t->dev.queue;
    queue.launch = launch;
    t->dev.queue = &queue;
    t->dev.program = &program_ops;
    t->dev.info.units = 2;
    t->dev.info.warp = 32;
    t->dev.info.threads = 1024;
    t->dev.info.group_local = 227 << 10;
    t->dev.info.is_host_memory = false;
    t->dev.info.caches_n = 1;
    t->dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 4 << 20};
    t->free_bytes = UINT64_C(1) << 30;
}

struct program {
    const char *probe, *axes;
    bool code; /* the probe says what the machine code must hold */
};
static const struct program programs[] = {
    {"latency", "size=65536 pattern=random allocator=toy stride=64", true},
    {"onchip", "what=global size=65536 stride=64 local=0", true},
    {"onchip", "what=readonly size=65536 stride=64 local=0", true},
    {"onchip", "what=constant size=65536 stride=64 local=0", true},
    {"onchip", "what=local size=4096 stride=64 local=0", true},
    {"onchip", "what=local size=131072 stride=64 local=0", true},
    {"onchip", "what=code size=16384 stride=64 local=0", true},
    {"onchip_lines", "what=fetch level=L1 distance=32 lines=0", true},
    {"onchip_lines", "what=fetch level=L2 distance=64 lines=0", true},
    {"onchip_lines", "what=ways level=L1 distance=4096 lines=8", true},
    {"onchip_bandwidth", "what=own size=32768 width=128 stride=1 units=all", true},
    {"onchip_bandwidth", "what=own size=65536 width=32 stride=4 units=all", true},
    {"onchip_bandwidth", "what=common size=4194304 width=64 stride=1 units=one", true},
    {"onchip_bandwidth", "what=local size=0 width=32 stride=33 units=all", true},
    {"onchip_bandwidth", "what=local size=0 width=64 stride=2 units=all", true},
    {"onchip_bandwidth", "what=local size=0 width=128 stride=1 units=all", true},
    {"onchip_units", "what=near unit=1 filler=0", true},
    {"onchip_groups", "threads=64 values=128 local=0", false},
};

static void compile_all(const char *for_arch)
{
    struct toy t;
    arch = for_arch;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];
        const struct as_probe *probe = as_probe_find(p->probe);
        struct toy_visit v;
        struct as_error err = {0};
        start(&t);
        assert_int_equal(toy_applies(&t, probe, p->axes, &err), AS_APPLIES);
        enum as_status s = toy_prepare(&t, probe, p->axes, &v, &err);
        /* Where nothing runs no unit is found, and nothing says that a launch may ask for memory. */
        bool excused = strstr(err.text, "put a group on unit") || strstr(err.text, "cannot ask for LOCAL");
        if (s != AS_OK && !(s == AS_UNSUPPORTED && excused))
            fail_msg("%s %s: %s", p->probe, p->axes, err.text);
        if (p->code && v.vc.code != AS_GATE_PASS)
            fail_msg("%s %s for %s: %s", p->probe, p->axes, arch, v.vc.code_text);
        toy_finish(probe, &v);
        assert_int_equal(t.live, 0);
    }
}

static void test_arch(void **state)
{
    struct as_error err = {0};
    if (!nvrtc.library && as_nvrtc_load(&nvrtc, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    compile_all(*state);
}

int main(void)
{
    static char old[] = "sm_80", middle[] = "sm_90a", recent[] = "sm_100";
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_arch, old),
                                       cmocka_unit_test_prestate(test_arch, middle),
                                       cmocka_unit_test_prestate(test_arch, recent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
