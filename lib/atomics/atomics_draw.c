/* Seeding of the element generator, axis words and type sizes. */
#include "atomics.h"

const char *const as_atomics_type_words[] = {"u32", "u64", "f32", "f64", NULL};
const char *const as_atomics_scope_words[] = {"device", "system", NULL};
const char *const as_atomics_order_words[] = {"relaxed", "seq_cst", NULL};
const char *const as_atomics_agent_words[] = {"cpu", "device", NULL};

size_t as_atomics_type_bytes(enum as_atomics_type type)
{
    static const unsigned char bytes[ATOMICS_TYPES] = {4, 8, 4, 8};
    return bytes[type];
}

void as_atomics_draw_start(struct as_atomics_draw *r, uint64_t seed, uint64_t thread)
{
    uint64_t key = seed + thread * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ (key >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94D049BB133111EB);
    key ^= key >> 31;
    uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
    *r = (struct as_atomics_draw){.x = 123456789u ^ low,
                                  .y = 362436069u ^ high,
                                  .z = 521288629u ^ low,
                                  .w = 88675123u ^ high,
                                  .v = 5783321u ^ low,
                                  .d = 6615241u + low};
}
