/* Keeps blocks freed by a trial for the next one, which saves the first touch. */
#include "device/cpu/cpu.h"

#include <string.h>

static struct as_cpu_block take_at(struct as_cpu_pool *pool, size_t i)
{
    struct as_cpu_block b = pool->blocks[i];
    pool->n--;
    memmove(&pool->blocks[i], &pool->blocks[i + 1], (pool->n - i) * sizeof pool->blocks[0]);
    pool->bytes -= b.bytes;
    return b;
}

void as_cpu_pool_trim(struct as_cpu_pool *pool, uint64_t most)
{
    while (pool->n && pool->bytes > most) {
        struct as_cpu_block b = take_at(pool, 0);
        as_cpu_block_release(&b);
    }
}

void as_cpu_pool_put(struct as_cpu_pool *pool, const struct as_cpu_block *block, uint64_t most)
{
    struct as_cpu_block b = *block;
    if (b.bytes > most) {
        as_cpu_block_release(&b);
        return;
    }
    as_cpu_pool_trim(pool, most - b.bytes);
    if (pool->n == AS_CPU_POOL_MAX) {
        struct as_cpu_block oldest = take_at(pool, 0);
        as_cpu_block_release(&oldest);
    }
    pool->blocks[pool->n++] = b;
    pool->bytes += b.bytes;
}

bool as_cpu_pool_take(struct as_cpu_pool *pool, enum as_cpu_allocator allocator, uint64_t bytes, int node,
                      struct as_cpu_block *out)
{
    for (size_t i = pool->n; i-- > 0;) {
        const struct as_cpu_block *b = &pool->blocks[i];
        if (b->allocator == allocator && b->bytes == bytes && b->node == node) {
            *out = take_at(pool, i);
            return true;
        }
    }
    return false;
}
