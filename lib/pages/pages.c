#include "pages.h"

#include "base/host.h"
#include "os/cpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

extern const char as_kernel_pages[];

enum { GROUP = 64, GROUPS_MAX = 1 << 12, LINE_WORDS = 8, CPU_WORD = 1, ARGS = 6 };

/* args: address, bytes of a page, number of pages, mark, load, address of the sums */
static uint64_t pages_value(const struct as_host_call *call, size_t arg)
{
    uint64_t v;
    memcpy(&v, call->args[arg], sizeof v);
    return v;
}

static void touch_pages(const struct as_host_call *call)
{
    char *at = (char *)(uintptr_t)pages_value(call, 0);
    uint64_t page = pages_value(call, 1), pages = pages_value(call, 2), mark = pages_value(call, 3), sum = 0;
    uint64_t first = pages * call->thread / call->threads, end = pages * (call->thread + 1) / call->threads;
    uint64_t *sums = (uint64_t *)(uintptr_t)pages_value(call, 5);
    if (call->thread == 0)
        sums[CPU_WORD] = (uint64_t)as_thread_cpu();
    if (!pages_value(call, 4)) {
        for (uint64_t i = first; i < end; i++)
            *(volatile uint64_t *)(void *)(at + i * page) = mark + i;
        return;
    }
    for (uint64_t i = first; i < end; i++)
        sum += *(volatile const uint64_t *)(const void *)(at + i * page);
    sums[(size_t)call->thread * LINE_WORDS] = sum;
}
static const struct as_host_kernel host_kernels[] = {{"touch", touch_pages}, {NULL, NULL}};

static const char *usable_allocator(const struct as_device_info *info)
{
    size_t i = 0;
    while (i + 1 < info->allocators_n && info->allocators[i].why_not[0])
        i++;
    return info->allocators[i].name;
}

static enum as_status prepare_cpu(struct as_pages *p, unsigned threads, struct as_error *err)
{
    const enum as_status st = as_cpu_beside(p->dev, &p->cpu, &p->agent, err);
    if (st)
        return st;
    p->threads = threads < p->agent->info.threads ? threads : p->agent->info.threads;
    p->host_sums = calloc((size_t)p->threads * LINE_WORDS, sizeof *p->host_sums);
    return p->host_sums ? AS_OK : as_nomem(err, (size_t)p->threads * LINE_WORDS * sizeof *p->host_sums, "sums");
}

enum as_status as_pages_prepare(struct as_pages *p, struct as_device *dev, unsigned threads, struct as_error *err)
{
    struct as_program_desc desc = {.name = "touch", .source = as_kernel_pages, .host = host_kernels};
    *p = (struct as_pages){.dev = dev, .agent = dev, .page = as_host_page()};
    enum as_status st = threads ? prepare_cpu(p, threads, err) : AS_OK;
    if (st)
        return st;
    as_buffers_open(&p->own, p->agent, &desc, err);
    p->kernel = as_buffers_kernel(&p->own, "touch", err);
    if (!threads)
        p->sums = as_buffers_memory(&p->own, usable_allocator(&dev->info),
                                    (uint64_t)GROUPS_MAX * GROUP * sizeof(uint64_t), err);
    return p->own.status;
}

void as_pages_finish(struct as_pages *p)
{
    if (!p->dev)
        return;
    as_buffers_finish(&p->own);
    free(p->host_sums);
    as_device_close(&p->cpu);
    *p = (struct as_pages){0};
}

static void pages_shape(const struct as_pages *p, const struct as_span *span, struct as_launch *l)
{
    uint64_t workgroups = (span->pages + GROUP - 1) / GROUP;
    l->workgroup_size = p->threads ? 1 : span->pages < GROUP ? (size_t)span->pages : GROUP;
    l->workgroups = p->threads ? p->threads : workgroups < GROUPS_MAX ? (size_t)workgroups : GROUPS_MAX;
}

enum as_status as_pages_touch(struct as_pages *p, const struct as_span *span, double *seconds, struct as_error *err)
{
    const uint64_t address = (uint64_t)(uintptr_t)span->memory->host + span->start;
    const struct as_arg by_cpu[ARGS] = {as_u64_arg(address),     as_u64_arg(p->page),
                                        as_u64_arg(span->pages), as_u64_arg(span->mark),
                                        as_u64_arg(span->load),  as_u64_arg((uint64_t)(uintptr_t)p->host_sums)};
    const struct as_arg by_device[ARGS] = {as_memory_arg(p->sums),
                                           as_memory_arg(span->memory),
                                           as_u64_arg(span->start / sizeof(uint64_t)),
                                           as_u64_arg(p->page / sizeof(uint64_t)),
                                           as_u64_arg(span->pages),
                                           as_u64_arg(span->load ? 0 : span->mark)};
    struct as_launch launch = {.kernel = p->kernel,
                               .args = p->threads ? by_cpu : by_device,
                               .args_n = ARGS,
                               .reps = 1,
                               .work = {.accesses = (double)span->pages, .footprint = (double)span->memory->bytes}};
    struct as_timing timing;
    pages_shape(p, span, &launch);
    if (p->threads && !span->memory->host)
        return as_fail(err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    enum as_status st = p->agent->queue->launch(p->agent, &launch, &timing, err);
    *seconds = st ? NAN : timing.host_s;
    return st;
}

int as_pages_cpu(const struct as_pages *p)
{
    return p->threads ? (int)p->host_sums[CPU_WORD] : -1;
}

enum as_status as_pages_sum(struct as_pages *p, const struct as_span *span, uint64_t *sum, struct as_error *err)
{
    struct as_launch l = {0};
    enum as_status st = AS_OK;
    *sum = 0;
    for (unsigned i = 0; i < p->threads; i++)
        *sum += p->host_sums[(size_t)i * LINE_WORDS];
    if (p->threads)
        return AS_OK;
    pages_shape(p, span, &l);
    size_t n = l.workgroups * l.workgroup_size;
    uint64_t *each = malloc(n * sizeof *each);
    if (!each)
        return as_nomem(err, n * sizeof *each, "sums");
    st = p->dev->memory->read(p->dev, p->sums, 0, each, n * sizeof *each, err);
    for (size_t i = 0; i < n && !st; i++)
        *sum += each[i];
    free(each);
    return st;
}

static uint64_t *pages_word(const struct as_pages *p, const struct as_span *span, uint64_t i)
{
    return (uint64_t *)(void *)((char *)span->memory->host + span->start + i * p->page);
}

void as_pages_store_here(const struct as_pages *p, const struct as_span *span)
{
    for (uint64_t i = 0; i < span->pages; i++)
        *(volatile uint64_t *)pages_word(p, span, i) = span->mark + i;
}

bool as_pages_hold(const struct as_pages *p, const struct as_span *span, char *why, size_t why_size)
{
    for (uint64_t i = 0; i < span->pages; i++) {
        if (*(volatile const uint64_t *)pages_word(p, span, i) == span->mark + i)
            continue;
        snprintf(why, why_size, "page %llu of %llu does not hold the value written", (unsigned long long)i,
                 (unsigned long long)span->pages);
        return false;
    }
    return true;
}

struct as_fault_count as_faults_now(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u)
               ? (struct as_fault_count){NAN, NAN}
               : (struct as_fault_count){.minor = (double)u.ru_minflt, .major = (double)u.ru_majflt};
}

void as_faults_add(struct as_fault_count *sum, struct as_fault_count since)
{
    const struct as_fault_count now = as_faults_now();
    sum->minor += now.minor - since.minor;
    sum->major += now.major - since.major;
}

double as_faults_total(const struct as_fault_count *count)
{
    return count->minor + count->major;
}
