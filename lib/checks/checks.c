#include "checks.h"

#include "nodes.h"

#include "base/text.h"

#include "device/device.h"
#include "os/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t as_word_index(const struct as_axes *a, const char *axis, const char *const *words)
{
    size_t i = 0;
    while (words[i] && !as_word_is(a, axis, words[i]))
        i++;
    return i;
}

bool as_word_is(const struct as_axes *a, const char *axis, const char *word)
{
    return strcmp(as_axes_text(a, axis), word) == 0;
}

bool as_always_by_kernel(const struct as_axes *a)
{
    (void)a;
    return true;
}

bool as_how_is_kernel(const struct as_axes *a)
{
    return as_word_is(a, "how", "kernel");
}

double as_compile_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)a;
    return info->capabilities & AS_CAP_HOST_KERNELS ? 5 : 30;
}

unsigned as_arch_number(const struct as_device_info *info)
{
    const char *digit = strpbrk(info->arch, "0123456789");
    return digit ? (unsigned)strtoul(digit, NULL, 10) : 0;
}

bool as_runs_on_host(const struct as_device_info *info)
{
    return info->is_host_cpu || (info->capabilities & AS_CAP_HOST_KERNELS);
}

enum as_status as_too_large(double bytes, const char *but, double limit, const char *behind, struct as_error *err)
{
    struct as_buf requested = AS_BUF_INIT, most = AS_BUF_INIT;
    as_format_sizes(&requested, (uint64_t)bytes, &most, (uint64_t)limit);
    const enum as_status st = as_fail(err, AS_UNSUPPORTED, "%s requested, but %s %s%s", as_buf_get(&requested), but,
                                      as_buf_get(&most), behind);
    as_buf_finish(&requested);
    as_buf_finish(&most);
    return st;
}

static enum as_status checks_size(double bytes, double largest_block, double free_bytes, uint64_t max_alloc,
                                  struct as_error *err)
{
    if (bytes > free_bytes / 2)
        return as_too_large(bytes, "only half of the free", free_bytes, " may be used", err);
    if (max_alloc && largest_block > (double)max_alloc)
        return as_too_large(largest_block, "the largest allocation is", (double)max_alloc, "", err);
    return AS_OK;
}

enum as_status as_check_room(struct as_device *dev, uint64_t bytes, uint64_t largest_block, struct as_error *err)
{
    uint64_t free_bytes;
    enum as_status st = as_device_memory_free(dev, &free_bytes, err);
    return st ? st : checks_size((double)bytes, (double)largest_block, (double)free_bytes, dev->info.max_alloc, err);
}

enum as_status as_check_fits(const struct as_device_info *info, uint64_t bytes, uint64_t largest_block,
                             struct as_error *err)
{
    return checks_size((double)bytes, (double)largest_block, (double)info->memory_free, info->max_alloc, err);
}

enum as_status as_check_cap(const struct as_device_info *info, const char *allocator, double bytes,
                            struct as_error *err)
{
    const struct as_allocator *a = as_info_allocator(info, allocator);
    char gives[80];
    if (!a || !a->most || bytes <= (double)a->most)
        return AS_OK;
    snprintf(gives, sizeof gives, "'%s' gives at most", a->name);
    return as_too_large(bytes, gives, (double)a->most, "", err);
}

enum as_status as_check_block(const struct as_device_info *info, const char *allocator, double bytes,
                              struct as_error *err)
{
    const enum as_status st = checks_size(bytes, bytes, (double)info->memory_free, info->max_alloc, err);
    return st ? st : as_check_cap(info, allocator, bytes, err);
}

void as_limit_one_cycle(struct as_trial_context *tc, double hz)
{
    if (!(hz > 0))
        return;
    tc->limit = 1e9 / hz;
    snprintf(tc->limit_why, sizeof tc->limit_why, "one cycle: the minimum of a dependent load");
}

void as_limit_own_cycle(struct as_trial_context *tc)
{
    double hz;
    if (tc->dev->device->clock && !tc->dev->device->clock(tc->dev, &hz, NULL))
        as_limit_one_cycle(tc, hz);
}

enum as_status as_note_node(struct as_trial_context *tc, struct as_memory *mem, int wanted, struct as_error *err)
{
    const struct as_device_info *info = &tc->dev->info;
    const struct as_allocator *a = as_info_allocator(info, as_axes_text(tc->axes, "allocator"));
    const bool either = info->memory_node && a && as_role_is_pageable(a->role);
    const bool placed = either || (a && a->role == AS_ROLE_REGISTERED);
    const bool map = !mem->host && (wanted >= 0 || placed || (info->is_host_memory && !info->is_host_cpu));
    if (map && tc->dev->memory->map(tc->dev, mem, NULL))
        return AS_OK;
    const int node = mem->host ? as_node_of(mem->host) : -1;
    const enum as_status st = as_node_check(tc, wanted, node, err);
    if (map)
        (void)tc->dev->memory->unmap(tc->dev, mem, NULL);
    return st;
}
