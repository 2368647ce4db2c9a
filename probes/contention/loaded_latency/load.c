/* The blocks of the loading threads, and their expected sums. */
#include "loaded.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHECKED_BLOCKS = 16 };

uint64_t as_load_bytes(const struct load *l)
{
    return l->loaders * l->blocks * LOAD_BLOCK;
}

static void make_words(struct load *l, uint64_t seed)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    l->key = as_rng_u64(&rng) | 1;
    for (size_t i = 0; i < LOAD_WORDS; i++) {
        l->table[i] = as_rng_u64(&rng);
        l->table_sum += l->table[i];
    }
}

enum as_status as_load_prepare(struct load *l, struct as_device *dev, const struct load_desc *desc,
                               struct as_error *err)
{
    *l = (struct load){.dev = dev, .loaders = desc->loaders, .update = desc->update, .delay = desc->delay};
    l->blocks = desc->bytes / LOAD_BLOCK / desc->loaders;
    l->blocks += l->blocks == 0;
    l->lead = desc->interleaved ? 1 : l->blocks;
    l->step = desc->interleaved ? l->loaders : 1;
    make_words(l, desc->seed);
    const uint64_t layout[] = {l->loaders, l->blocks};
    const struct as_arena_desc memory = {
        .memory = {.allocator = desc->allocator, .bytes = as_load_bytes(l), .node = -1},
        .use = "load",
        .touch = dev->info.numa_nodes > 1 ? as_hash(layout, sizeof layout) | AS_TOUCH_OTHER : AS_TOUCH_ANY};
    const uint64_t bytes = l->loaders * 2 * sizeof(uint64_t);
    enum as_status st = as_arena_take(dev, &memory, &l->memory, err);
    if (!st)
        st = as_device_memory(dev, bytes, &l->progress, err);
    uint64_t *zeros = st ? NULL : calloc(1, bytes);
    if (!st)
        st = zeros ? dev->memory->write(dev, l->progress, 0, zeros, bytes, err) : as_nomem(err, bytes, "progress");
    free(zeros);
    return st;
}

uint64_t as_load_word(const struct load *l, uint64_t block, uint64_t word)
{
    return l->table[word] + block * l->key;
}

/* Sum of the numbers 0 .. n-1. */
static uint64_t sum_below(uint64_t n)
{
    return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

/* Sum of the first `blocks` blocks of a slice, as filled. */
static uint64_t sum_of_first(const struct load *l, size_t loader, uint64_t blocks)
{
    const uint64_t numbers = blocks * (loader * l->lead) + l->step * sum_below(blocks);
    return blocks * l->table_sum + LOAD_WORDS * l->key * numbers;
}

uint64_t as_load_sum(const struct load *l, size_t loader, uint64_t done)
{
    const uint64_t laps = done / l->blocks, rest = done % l->blocks;
    uint64_t sum = laps * sum_of_first(l, loader, l->blocks) + sum_of_first(l, loader, rest);
    if (l->update)
        sum += LOAD_WORDS * (l->blocks * sum_below(laps) + rest * laps);
    return sum;
}

/* Checks the last updated block and up to 15 earlier ones. */
static bool check_blocks(const struct load *l, size_t loader, uint64_t done, char *why, size_t why_size)
{
    uint64_t words[LOAD_WORDS];
    struct as_error err = {0};
    for (uint64_t i = 0; i < CHECKED_BLOCKS; i++) {
        const uint64_t k = (done - 1 - i * (done / CHECKED_BLOCKS)) % l->blocks;
        const uint64_t block = loader * l->lead + k * l->step;
        const uint64_t times = done / l->blocks + (k < done % l->blocks);
        if (l->dev->memory->read(l->dev, l->memory, block * LOAD_BLOCK, words, sizeof words, &err)) {
            snprintf(why, why_size, "%s", err.text);
            return false;
        }
        for (uint64_t j = 0; j < LOAD_WORDS; j++)
            if (words[j] != as_load_word(l, block, j) + times) {
                snprintf(why, why_size, "a word of block %llu was not updated %llu times", (unsigned long long)block,
                         (unsigned long long)times);
                return false;
            }
    }
    return true;
}

/* pairs: blocks and sum of each loader */
static bool loaded_latency_check_pairs(const struct load *l, const uint64_t *pairs, char *why, size_t why_size)
{
    uint64_t all = 0;
    for (size_t i = 0; i < l->loaders; i++) {
        all += pairs[2 * i];
        if (pairs[2 * i + 1] == as_load_sum(l, i, pairs[2 * i]))
            continue;
        snprintf(why, why_size, "the sum of loading thread %zu differs from the reference", i);
        return false;
    }
    for (size_t i = 0; i < l->loaders && l->update; i++)
        if (pairs[2 * i] && !check_blocks(l, i, pairs[2 * i], why, why_size))
            return false;
    if (all == 0)
        snprintf(why, why_size, "no loading thread read anything");
    return all > 0;
}

bool as_load_check(const struct load *l, char *why, size_t why_size)
{
    const uint64_t bytes = l->loaders * 2 * sizeof(uint64_t);
    struct as_error err = {0};
    uint64_t *pairs = malloc(bytes);
    enum as_status st = pairs ? l->dev->memory->read(l->dev, l->progress, 0, pairs, bytes, &err)
                              : as_nomem(&err, bytes, "the check of a load");
    bool right = !st && loaded_latency_check_pairs(l, pairs, why, why_size);
    if (st)
        snprintf(why, why_size, "%s", err.text);
    free(pairs);
    return right;
}

void as_load_finish(struct load *l)
{
    if (!l->dev)
        return;
    l->dev->memory->free(l->dev, l->progress);
    as_arena_give(l->dev, l->memory);
    *l = (struct load){0};
}
