#include "ballast.h"

#include "lib/counters/counters.h"
#include "os/memory.h"

#include <math.h>
#include <sys/mman.h>

enum { IN_A_ROW = 2, CHUNKS = 16 };
/* Per CPU: twice the batch that refills an empty list, but in total at most a share of the whole. */
static const uint64_t CHUNK = UINT64_C(16) << 20, CHUNK_LEAST = UINT64_C(1) << 20;
static const double SEEN = 0.9;

enum as_status as_accounting_ballast_prepare(struct ballast *b, struct as_device *dev, unsigned threads, uint64_t most,
                                             struct as_error *err)
{
    *b = (struct ballast){.used = {0}};
    for (int huge = 0; huge < 2; huge++) {
        void *at = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return as_nomem(err, most, "ballast");
        (void)as_advise_pages(at, most, huge ? AS_PAGES_HUGE : AS_PAGES_SMALL);
        b->memory[huge] = (struct as_memory){.host = at, .bytes = most};
    }
    return as_pages_prepare(&b->cpus, dev, threads, err);
}

static double free_now(void)
{
    struct counter_reading now;
    as_counters_read("", NULL, &now);
    return -now.bytes[isfinite(now.bytes[COUNTER_NODES]) ? COUNTER_NODES : COUNTER_AVAILABLE];
}

static enum as_status accounting_take(struct ballast *b, struct as_memory *memory, uint64_t *used, struct as_error *err)
{
    const uint64_t part = memory->bytes / CHUNKS / b->cpus.threads / CHUNK_LEAST * CHUNK_LEAST;
    const uint64_t chunk = (part > CHUNK ? CHUNK : part > CHUNK_LEAST ? part : CHUNK_LEAST) * b->cpus.threads;
    double before = free_now(), unused;
    int seen = 0;
    while (seen < IN_A_ROW) {
        if (memory->bytes - *used < chunk)
            return as_fail(err, AS_UNSUPPORTED,
                           "after %llu MiB of ballast the system still allocates pages that it does not count as free",
                           (unsigned long long)(*used >> 20));
        const struct as_span span = {
            .memory = memory, .start = *used, .pages = chunk / b->cpus.page, .mark = *used | 1};
        enum as_status st = as_pages_touch(&b->cpus, &span, &unused, err);
        if (st)
            return st;
        double now = free_now();
        seen = before - now >= SEEN * (double)chunk ? seen + 1 : 0;
        before = now;
        *used += chunk;
    }
    return AS_OK;
}

enum as_status as_accounting_ballast_take(struct ballast *b, bool huge, struct as_error *err)
{
    enum as_status st = accounting_take(b, &b->memory[0], &b->used[0], err);
    return st || !huge ? st : accounting_take(b, &b->memory[1], &b->used[1], err);
}

void as_accounting_ballast_finish(struct ballast *b)
{
    as_pages_finish(&b->cpus);
    for (int huge = 0; huge < 2; huge++)
        if (b->memory[huge].host)
            munmap(b->memory[huge].host, b->memory[huge].bytes);
    *b = (struct ballast){.used = {0}};
}
