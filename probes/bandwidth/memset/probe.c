/* memset: rate of filling memory. See method.md. */
#include "lib/buffers/buffer_trial.h"

#include <string.h>

extern const char as_kernel_memset[];

static const char *const how_words[] = {"memset", "store", "fill", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("how", how_words, "all", "CPU: the C library's memset, or a loop of stores; device: a fill kernel"),
    AS_SIZE_AXIS("size", 4096, 0, "DRAM", "bytes that a call fills"),
    AS_COUNT_AXIS("threads", 0, 0, "0,1,max", "CPU threads; 0: the whole device", .domain = AS_DOMAIN_THREADS,
                  .zero = "device"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    {0},
};
static const char *const grids[] = {"how=all size=16KiB,1MiB,16MiB,DRAM threads=0,1,max allocator=first", NULL};

static enum as_applies memset_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const bool native = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    return as_word_is(a, "how", "fill") == native ? AS_PRUNED : as_buffer_applies(info, a, err);
}

/* Every byte of a word is the same, as memset needs. */
static uint32_t memset_expected(uint32_t key, uint64_t i)
{
    (void)i;
    return (key & 0xff) * UINT32_C(0x01010101);
}

static void host_memset(const struct as_host_call *call)
{
    uint64_t n;
    uint32_t *words = as_buffer_share(call, &n);
    for (uint64_t r = call->reps; r; r--) {
        memset(words, (int)(as_buffer_key(call) & 0xff), n * sizeof *words);
        __asm__ volatile("" : : "r"(words) : "memory");
    }
}

static void host_store(const struct as_host_call *call)
{
    uint64_t n;
    uint32_t *words = as_buffer_share(call, &n);
    const uint32_t value = memset_expected(as_buffer_key(call), 0);
    for (uint64_t r = call->reps; r; r--)
        for (uint64_t i = 0; i < n; i++) {
            words[i] = value;
            __asm__ volatile("" : : "r"(&words[i]) : "memory"); /* else the compiler would call memset */
        }
}
static const struct as_host_kernel host[] = {{"memset", host_memset}, {"store", host_store}, {NULL, NULL}};
static const struct as_buffer_work work = {"memset", as_kernel_memset, host, "store.global", memset_expected};

static enum as_status memset_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    return as_buffer_prepare(tc, state, &work, as_axes_text(tc->axes, "how"), err);
}

const struct as_probe as_probe_memset = {
    .name = "memset",
    .title = "Memory fill",
    .question = "What rate does filling memory reach?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "each byte of the buffer once; decimal GB",
    AS_CELLS(axes, grids, grids, memset_applies),
    .kernel_reaches = as_always_by_kernel,
    .patience = as_buffer_patience,
    AS_TRIAL(struct as_buffer_trial, memset_prepare, as_buffer_sample, as_buffer_check, as_buffer_finish),
};
