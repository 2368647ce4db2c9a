/* Programs: built, refused with the compiler's message, identified; kernels get their arguments and workgroups. */
#include "conformance.h"

#include <math.h>

/* The same source and definitions give one program; different ones give another. */
static void check_identity(void)
{
    static const char *const defines[] = {"-DMORE=2", "-DMORE=2", "-DMORE=3"};
    struct as_code_identity code[3];
    for (size_t i = 0; i < 3; i++) {
        const struct as_program_desc desc = conformance_program(defines[i]);
        struct as_error err = {0};
        struct as_program *p = NULL;
        gpu.dev.code = (struct as_code_identity){0};
        check_ok(gpu.dev.program->build(&gpu.dev, &desc, &p, &err), &err);
        gpu.dev.program->destroy(&gpu.dev, p);
        code[i] = gpu.dev.code;
    }
    if (conformance_runs_on_host())
        return;
    assert_int_equal(code[0].programs, 1);
    assert_true(code[0].source != 0 && code[0].source == code[1].source && code[0].source != code[2].source);
    assert_true(code[0].binary == code[1].binary);
}

void conformance_builds(void **state)
{
    const struct as_program_desc broken = {.name = "broken",
                                           .source = "KERNEL(k)(ARG_GLOBAL(0, u32, p)) { p = undeclared; }"};
    const struct as_program_desc nothing = {.name = "neither"};
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    struct as_error err = {0};
    (void)state;
    check_fails(gpu.dev.program->build(&gpu.dev, &nothing, &p, &err), AS_UNSUPPORTED, &err, "neither");
    if (conformance_runs_on_host())
        check_fails(gpu.dev.program->build(&gpu.dev, &broken, &p, &err), AS_UNSUPPORTED, &err, "broken");
    else if (stand_in.runs == RUNS_ALL)
        check_fails(gpu.dev.program->build(&gpu.dev, &broken, &p, &err), AS_FAILED, &err, "undeclared");
    assert_null(p);
    gpu.dev.program->destroy(&gpu.dev, NULL);
    gpu.dev.program->kernel_destroy(&gpu.dev, NULL);
    check_identity();
    struct ready r = conformance_ready("conform_tick");
    if (conformance_runs_on_host() || stand_in.runs == RUNS_ALL) {
        enum as_status st = gpu.dev.program->kernel(&gpu.dev, r.program, "absent", &k, &err);
        check_fails(st, conformance_runs_on_host() ? AS_NOTFOUND : AS_FAILED, &err, "absent");
        assert_null(k);
    }
    conformance_done(&r);
}

static void check_timing(const struct as_timing *t)
{
    assert_true(t->host_s >= 0);
    assert_true(isnan(t->device_s) || (t->device_s > 0 && t->device_s <= t->host_s * 1.5));
    assert_true(isnan(t->cycles) || t->cycles > 0);
}

static void run_kernel(const struct ready *r, const struct as_arg *args, size_t n, void *out, size_t bytes)
{
    const struct as_launch l = conformance_launch(r, args, n, 2);
    struct as_error err = {0};
    struct as_timing t = {0};
    check_ok(gpu.dev.queue->launch(&gpu.dev, &l, &t, &err), &err);
    check_timing(&t);
    check_ok(gpu.dev.memory->read(&gpu.dev, args[0].u.memory, 0, out, bytes, &err), &err);
}

void conformance_arguments(void **state)
{
    static uint64_t words[GROUPS * GROUP_SIZE];
    static double doubles[GROUPS * GROUP_SIZE];
    const size_t n = conformance_items();
    (void)state;
    if (stand_in.runs == RUNS_NONE)
        skip();
    struct as_memory *m = conformance_memory(conformance_plain(), sizeof words);
    struct ready r = conformance_ready("conform_numbers");
    const struct as_arg numbers[] = {{AS_ARG_MEMORY, {.memory = m}},
                                     {AS_ARG_U64, {.u64 = UINT64_C(1) << 48}},
                                     {AS_ARG_F32, {.f32 = 0.25F}},
                                     {AS_ARG_U32, {.u32 = 4000000000u}}};
    run_kernel(&r, numbers, 4, words, sizeof words);
    for (size_t i = 0; i < n; i++)
        assert_true(words[i] == (UINT64_C(1) << 40) + 1 + 4000000000u + 2);
    conformance_done(&r);
    if (gpu.dev.info.capabilities & AS_CAP_FP64 || conformance_runs_on_host()) {
        const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = m}}, {AS_ARG_F64, {.f64 = -1e300}}};
        r = conformance_ready("conform_double");
        run_kernel(&r, args, 2, doubles, sizeof doubles);
        for (size_t i = 0; i < n; i++)
            assert_true(doubles[i] == -2e300);
        conformance_done(&r);
    }
    gpu.dev.memory->free(&gpu.dev, m);
}

/* Barriers and shared memory within a workgroup, with input from every kind of memory. */
void conformance_workgroups(void **state)
{
    static uint32_t in[GROUPS * GROUP_SIZE], out[GROUPS * GROUP_SIZE];
    (void)state;
    if (stand_in.runs != RUNS_ALL || conformance_runs_on_host())
        skip();
    struct ready r = conformance_ready("conform_turn");
    for (uint32_t i = 0; i < GROUPS * GROUP_SIZE; i++)
        in[i] = i * 7;
    struct as_memory *to = conformance_memory(conformance_plain(), sizeof out);
    for (size_t a = 0; a < gpu.dev.info.allocators_n; a++) {
        struct as_error err = {0};
        if (gpu.dev.info.allocators[a].why_not[0])
            continue;
        struct as_memory *from = conformance_memory(gpu.dev.info.allocators[a].name, sizeof in);
        const struct as_arg args[] = {
            {AS_ARG_MEMORY, {.memory = to}}, {AS_ARG_MEMORY, {.memory = from}}, {AS_ARG_U32, {.u32 = 9}}};
        check_ok(gpu.dev.memory->write(&gpu.dev, from, 0, in, sizeof in, &err), &err);
        run_kernel(&r, args, 3, out, sizeof out);
        for (uint32_t i = 0; i < GROUPS * GROUP_SIZE; i++)
            assert_int_equal(out[i], (i / GROUP_SIZE * GROUP_SIZE + GROUP_SIZE - 1 - i % GROUP_SIZE) * 7 + 9);
        gpu.dev.memory->free(&gpu.dev, from);
    }
    gpu.dev.memory->free(&gpu.dev, to);
    conformance_done(&r);
}

/* Compiler output: optional slots are absent, or return it. */
void conformance_code(void **state)
{
    struct as_kernel_info info;
    struct as_error err = {0};
    uint64_t n = 0;
    (void)state;
    struct ready r = conformance_ready("conform_tick");
    const struct as_program_ops *ops = gpu.dev.program;
    if (ops->kernel_info && stand_in.runs == RUNS_ALL) {
        check_ok(ops->kernel_info(&gpu.dev, r.kernel, GROUP_SIZE, 0, &info, &err), &err);
        assert_true(info.max_threads >= GROUP_SIZE || info.max_threads == 0);
    }
    if (ops->count) {
        assert_int_equal(ops->count(&gpu.dev, r.kernel, "fma.f128", &n, &err), AS_USAGE);
        assert_non_null(strstr(err.text, "fma.f128"));
        enum as_status st = ops->count(&gpu.dev, r.kernel, "any", &n, &err);
        assert_true(st == AS_OK || err.text[0]);
    }
    conformance_done(&r);
}
