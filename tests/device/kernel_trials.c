/* Every kernel of the probes as a run-time compiler gets it, without a device: each program is the one that its probe
 * builds, and the machine code meets the probe's expectation. A kernel that no trial of a test_kernels.inc builds is
 * reported by name. */
#include "kernel_trials.h"
#include "tests/unit_test.h"

#include "../probes/toy_device.h"
#include "base/text.h"
#include "device/dialect/dialect.h"
#include "probe_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the folders of the registered probes, and the shared ones in lib. */
#define LIB_KERNELS(f) f(chase) f(stream) f(transfer)
#define DECLARE(name) extern const char as_kernel_##name[];
#define ROW(name) {#name, as_kernel_##name},
AS_PROBE_KERNELS(DECLARE)
LIB_KERNELS(DECLARE)
static const struct {
    const char *name, *source;
} kernels[] = {AS_PROBE_KERNELS(ROW) LIB_KERNELS(ROW)};
#define COUNT(name) +1
enum { KERNELS = sizeof kernels / sizeof *kernels, OF_PROBES = AS_PROBE_KERNELS(COUNT) };

enum {
    PLAIN = 0,
    CODE = 1,        /* the probe states what the machine code must contain */
    LARGE_LOCAL = 2, /* a kernel with more shared memory than some chips have */
    LONG = 4,        /* its kernel takes long to compile, and another trial builds it too */
};
enum { EVERY_CHIP_KIB = 64 };
static const struct trial {
    const char *probe, *axes;
    unsigned is; /* of the words above */
} trials[] = {
#include "probe_kernel_trials.inc"
};
enum { TRIALS = sizeof trials / sizeof *trials };

/* Programs of earlier trials, for reuse. */
struct compiled {
    struct compiled *next;
    uint64_t key;
    unsigned char *code;
    size_t bytes;
};
struct named {
    const struct compiled *in;
    char name[32];
};

static const struct kernel_compiler *compiler;
static struct compiled *all;
static const char *arch;
static bool seen[KERNELS];

static uint64_t key_of(const struct as_program_desc *desc)
{
    const char *defines = desc->defines ? desc->defines : "";
    const uint64_t parts[] = {as_hash(desc->source, strlen(desc->source)), as_hash(defines, strlen(defines)),
                              as_hash(arch, strlen(arch))};
    return as_hash(parts, sizeof parts);
}

static enum as_status build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                            struct as_error *err)
{
    struct as_error why = {0};
    struct compiled *p = all;
    uint64_t key = key_of(desc);
    (void)dev, (void)err;
    for (size_t k = 0; k < KERNELS; k++)
        seen[k] |= strstr(desc->source, kernels[k].source) != NULL;
    while (p && p->key != key)
        p = p->next;
    if (!p) {
        p = calloc(1, sizeof *p);
        assert_non_null(p);
        if (compiler->compile(desc, arch, &p->code, &p->bytes, &why))
            fail_msg("%s %s for %s: %s", desc->name, desc->defines ? desc->defines : "", arch, why.text);
        p->key = key;
        p->next = all;
        all = p;
    }
    *out = (struct as_program *)(void *)p;
    return AS_OK;
}

static void destroy(struct as_device *dev, struct as_program *program)
{
    (void)dev, (void)program; /* stays for the next trial */
}

static void forget_all(void)
{
    while (all) {
        struct compiled *next = all->next;
        free(all->code);
        free(all);
        all = next;
    }
}

static enum as_status kernel(struct as_device *dev, struct as_program *program, const char *name,
                             struct as_kernel **out, struct as_error *err)
{
    struct named *k = calloc(1, sizeof *k);
    uint64_t bytes;
    (void)dev;
    assert_non_null(k);
    k->in = (const struct compiled *)(const void *)program;
    as_copy_text(k->name, sizeof k->name, name);
    *out = (struct as_kernel *)(void *)k;
    return compiler->code_bytes(k->in->code, k->in->bytes, name, &bytes, err);
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
    if (!compiler->count)
        return as_fail(err, AS_UNSUPPORTED, "there is no machine code without a device");
    return compiler->count(named->in->code, named->in->bytes, named->name, operation, n, err);
}

static enum as_status info(struct as_device *dev, struct as_kernel *k, size_t workgroup_size, size_t shared_bytes,
                           struct as_kernel_info *out, struct as_error *err)
{
    const struct named *named = (const struct named *)(const void *)k;
    (void)dev, (void)workgroup_size, (void)shared_bytes;
    *out = (struct as_kernel_info){.max_threads = 1024};
    return compiler->code_bytes(named->in->code, named->in->bytes, named->name, &out->code_bytes, err);
}

/* Nothing runs; only the compiled code counts. */
static enum as_status launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                             struct as_error *err)
{
    (void)dev, (void)l, (void)err;
    *out = (struct as_timing){.host_s = 1e-2, .device_s = 1e-2};
    return AS_OK;
}

static enum as_status submit(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    (void)dev, (void)l, (void)err;
    return AS_OK;
}

static enum as_status wait_for_all(struct as_device *dev, enum as_wait how, struct as_error *err)
{
    (void)dev, (void)how, (void)err;
    return AS_OK;
}

static enum as_status queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    (void)dev, (void)n, (void)urgent, (void)err;
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
    toy_init(t, (AS_CAP_SOURCE | AS_CAP_CYCLES | AS_CAP_CODE | AS_CAP_ASYNC | AS_CAP_FP16 | AS_CAP_FP64 |
                 AS_CAP_SVM_ATOMICS | AS_CAP_QUEUES | AS_CAP_RECOMMENDED) &
                    ~compiler->without);
    queue = *t->dev.queue;
    queue.launch = launch;
    queue.submit = submit;
    queue.wait = wait_for_all;
    queue.queues = queues;
    t->dev.queue = &queue;
    t->dev.program = &program_ops;
    as_copy_text(t->dev.info.dialect, sizeof t->dev.info.dialect, as_dialect_word(compiler->dialect));
    as_copy_text(t->dev.info.arch, sizeof t->dev.info.arch, arch);
    t->dev.info.compute_units = 2;
    t->dev.info.warp = compiler->warp;
    t->dev.info.threads = 1024;
    t->dev.info.compute_unit_threads = 2048;
    t->dev.info.workgroup_shared = (uint64_t)compiler->kib_local << 10;
    t->dev.info.is_host_memory = false;
    t->dev.info.caches_n = 1;
    t->dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 4 << 20};
    t->dev.info.allocators[1].host_access = true;
    t->dev.info.allocators[t->dev.info.allocators_n++] =
        (struct as_allocator){.name = "managed", .role = AS_ROLE_MANAGED, .on_demand = true};
}

const struct kernel_lack *hip_kernel_lacks(const char *for_arch)
{
    static const struct kernel_lack lacks[] = {{"async_copy", "path=to_lds"}, {"async_copy", "path=cp_async"},
                                               {"async_copy", "path=bulk"},   {"async_copy", "path=tensor"},
                                               {"cluster_memory", ""},        {NULL, NULL}};
    return strncmp(for_arch, "gfx9", strlen("gfx9")) == 0 ? lacks + 1 : lacks;
}

static bool is_lacking(const char *probe, const char *axes)
{
    const struct kernel_lack *l = compiler->lacks;
    while (l && l->probe && !(strcmp(l->probe, probe) == 0 && strstr(axes, l->text)))
        l++;
    return l && l->probe;
}

static void trial(const struct trial *v)
{
    const struct as_probe *probe = as_probe_find(v->probe);
    struct as_error err = {0};
    struct toy_trial made;
    struct toy t;
    bool lacks = is_lacking(v->probe, v->axes);
    start(&t);
    assert_non_null(probe);
    if (probe->applies && toy_applies(&t, probe, v->axes, &err) != AS_APPLIES) {
        if (lacks || compiler->partial)
            return;
        fail_msg("%s %s does not apply: %s", v->probe, v->axes, err.text);
    }
    enum as_status st = toy_prepare(&t, probe, v->axes, &made, &err);
    /* As nothing runs, no unit is found, nothing shows that a launch may request memory, and no time passes. */
    bool excused = strstr(err.text, "ran a workgroup on unit") || strstr(err.text, "have no unit id") ||
                   strstr(err.text, "cannot request dynamic shared memory") || strstr(err.text, "take no longer than");
    bool is_missing = st == AS_NOTFOUND ||
                      (st == AS_UNSUPPORTED && (strstr(err.text, "no such operation") ||
                                                strstr(err.text, "does not report the size of a kernel's code")));
    if (lacks && !is_missing)
        fail_msg("%s %s can do all it needs in %s", v->probe, v->axes, arch);
    if (st != AS_OK && !lacks && !(st == AS_UNSUPPORTED && excused) && !(compiler->partial && is_missing))
        fail_msg("%s %s for %s: %s", v->probe, v->axes, arch, err.text);
    bool asked = compiler->count && !lacks && (v->is & CODE) && !(compiler->loose && strstr(v->axes, compiler->loose));
    if (asked && made.tc.code != AS_GATE_PASS)
        fail_msg("%s %s for %s: the code gate says '%s'", v->probe, v->axes, arch, made.tc.code_text);
    toy_finish(probe, &made);
    assert_int_equal(t.live, 0);
}

/* Does it have a value that no earlier trial of the probe has? */
static bool has_new_value(size_t i)
{
    struct as_axes axes, other;
    toy_axes(&axes, trials[i].axes);
    for (size_t a = 0; a < axes.n; a++) {
        bool seen_before = false;
        for (size_t k = 0; k < i && !seen_before; k++) {
            toy_axes(&other, trials[k].axes);
            seen_before = strcmp(trials[k].probe, trials[i].probe) == 0 &&
                          strcmp(as_axes_text(&other, axes.v[a].name), axes.v[a].text) == 0;
        }
        if (!seen_before)
            return true;
    }
    return false;
}

void kernel_trials_check(const struct kernel_compiler *by, const char *for_arch)
{
    compiler = by;
    arch = for_arch;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < TRIALS; i++)
        if ((!(trials[i].is & LARGE_LOCAL) || compiler->kib_local > EVERY_CHIP_KIB) &&
            (!compiler->brief || has_new_value(i)) && !(compiler->skips_long && (trials[i].is & LONG)))
            trial(&trials[i]);
    forget_all();
    for (size_t k = 0; k < KERNELS; k++)
        if (!seen[k] && !is_lacking(kernels[k].name, ""))
            fail_msg("no trial builds %s.kernel", kernels[k].name);
}

void kernel_trials_complete(void **state)
{
    (void)state;
    for (size_t k = 0; k < OF_PROBES; k++) {
        size_t v = 0;
        while (v < TRIALS && strcmp(trials[v].probe, kernels[k].name) != 0)
            v++;
        if (v == TRIALS)
            fail_msg("%s.kernel has no trial in its folder's test_kernels.inc", kernels[k].name);
    }
}
