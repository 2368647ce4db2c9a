/* The operations as this build's compiler emits them. Each function has its own section, whose bounds the linker
 * provides. */
#include "codegen.h"

#include "os/process.h"

#include <string.h>

#if defined(__x86_64__)
#define V3 __attribute__((target("avx2,fma,bmi,bmi2,popcnt,lzcnt")))
#else
#define V3
#endif
#define RAW __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

__extension__ typedef unsigned __int128 wide;

/* ---- one copy: p the memory, v the value, c and e the operands ---- */

#define ADD_KEPT(order) v = __atomic_fetch_add(p, v, order);
#define ADD_DROPPED(order) (void)__atomic_fetch_add(p, c, order);
#define EXCHANGE_KEPT(order) v = __atomic_exchange_n(p, v, order);
#define EXCHANGE_DROPPED(order) (void)__atomic_exchange_n(p, c, order);
/* C has no such atomic, so this is a compare-and-swap loop. */
#define BY_SWAP(order, what)                                                                                           \
    __atomic_load(p, &seen, __ATOMIC_RELAXED);                                                                         \
    do                                                                                                                 \
        made = what;                                                                                                   \
    while (!__atomic_compare_exchange(p, &seen, &made, 1, order, __ATOMIC_RELAXED));
#define FADD_KEPT(order) BY_SWAP(order, seen + v) v = seen;
#define FADD_DROPPED(order) BY_SWAP(order, seen + c)
#define MIN_KEPT(order) BY_SWAP(order, v < seen ? v : seen) v = seen;
#define MIN_DROPPED(order) BY_SWAP(order, c < seen ? c : seen)
#define MAX_KEPT(order) BY_SWAP(order, v > seen ? v : seen) v = seen;
#define MAX_DROPPED(order) BY_SWAP(order, c > seen ? c : seen)
#define PLUS(order) v = v + c;
#define TIMES(order) v = v * c;
#define FMA32(order) v = __builtin_fmaf(v, c, e);
#define FMA64(order) v = __builtin_fma(v, c, e);
#define DIV(order) v = v / c;
#define POPCOUNT32(order) v = (uint32_t)__builtin_popcount(v ^ c);
#define POPCOUNT64(order) v = (uint64_t)__builtin_popcountll(v ^ c);
#define MULHI(order) v = (uint64_t)(((wide)v * c) >> 64);

#define COPIES4(copy, order) copy(order) copy(order) copy(order) copy(order)
#define COPIES5(copy, order) COPIES4(copy, order) copy(order)
#define COPIES13(copy, order) COPIES4(copy, order) COPIES4(copy, order) COPIES5(copy, order)
#if defined(__ELF__)
#define BOUNDS(name)                                                                                                   \
    extern const unsigned char start_##name[] __asm__("__start_codegen_" #name) __attribute__((visibility("hidden"))); \
    extern const unsigned char stop_##name[] __asm__("__stop_codegen_" #name) __attribute__((visibility("hidden")));
#define SECTION(name) __attribute__((section("codegen_" #name)))
#define NATIVE(name)                                                                                                   \
    {                                                                                                                  \
        run_##name, start_##name, stop_##name                                                                          \
    }
#else /* no section symbols: as_function_bounds finds the end */
#define BOUNDS(name)
#define SECTION(name)
#define NATIVE(name)                                                                                                   \
    {                                                                                                                  \
        run_##name, NULL, NULL                                                                                         \
    }
#endif
#define DEFINE(name, word, type, attribute, copies)                                                                    \
    BOUNDS(name)                                                                                                       \
    RAW SECTION(name)                                                                                                  \
    attribute static void run_##name(union codegen_data *d)                                                            \
    {                                                                                                                  \
        type *p = &d->word[0], v = d->word[1], c = d->word[2], e = d->word[3], seen, made;                             \
        (void)p, (void)c, (void)e, (void)seen, (void)made;                                                             \
        copies d->word[1] = v;                                                                                         \
    }

/* every function: its name, case and variant */
#define ATOMIC_ORDERS(X, word, type, op, copy)                                                                         \
    X(op##_##word##_relaxed_kept, word, type, , copy##_KEPT, __ATOMIC_RELAXED, op, false, false, false)                \
    X(op##_##word##_relaxed_dropped, word, type, , copy##_DROPPED, __ATOMIC_RELAXED, op, false, true, false)           \
    X(op##_##word##_seq_cst_kept, word, type, , copy##_KEPT, __ATOMIC_SEQ_CST, op, true, false, false)                 \
    X(op##_##word##_seq_cst_dropped, word, type, , copy##_DROPPED, __ATOMIC_SEQ_CST, op, true, true, false)
#define TARGETS(X, word, type, op, copy)                                                                               \
    X(op##_##word##_build, word, type, , copy, 0, op, false, false, false)                                             \
    X(op##_##word##_v3, word, type, V3, copy, 0, op, false, false, true)
#define FUNCTIONS(X)                                                                                                   \
    ATOMIC_ORDERS(X, u32, uint32_t, OP_ATOMIC_ADD, ADD)                                                                \
    ATOMIC_ORDERS(X, u64, uint64_t, OP_ATOMIC_ADD, ADD)                                                                \
    ATOMIC_ORDERS(X, f32, float, OP_ATOMIC_ADD, FADD)                                                                  \
    ATOMIC_ORDERS(X, f64, double, OP_ATOMIC_ADD, FADD)                                                                 \
    ATOMIC_ORDERS(X, u32, uint32_t, OP_ATOMIC_MIN, MIN)                                                                \
    ATOMIC_ORDERS(X, u32, uint32_t, OP_ATOMIC_MAX, MAX)                                                                \
    ATOMIC_ORDERS(X, u32, uint32_t, OP_ATOMIC_EXCHANGE, EXCHANGE)                                                      \
    TARGETS(X, f32, float, OP_ADD, PLUS)                                                                               \
    TARGETS(X, f64, double, OP_ADD, PLUS)                                                                              \
    TARGETS(X, f32, float, OP_MUL, TIMES)                                                                              \
    TARGETS(X, f64, double, OP_MUL, TIMES)                                                                             \
    TARGETS(X, f32, float, OP_FMA, FMA32)                                                                              \
    TARGETS(X, f64, double, OP_FMA, FMA64)                                                                             \
    TARGETS(X, u32, uint32_t, OP_DIV, DIV)                                                                             \
    TARGETS(X, u64, uint64_t, OP_DIV, DIV)                                                                             \
    TARGETS(X, f32, float, OP_DIV, DIV)                                                                                \
    TARGETS(X, f64, double, OP_DIV, DIV)                                                                               \
    TARGETS(X, u32, uint32_t, OP_POPCOUNT, POPCOUNT32)                                                                 \
    TARGETS(X, u64, uint64_t, OP_POPCOUNT, POPCOUNT64)                                                                 \
    TARGETS(X, u64, uint64_t, OP_MULHI, MULHI)

#define BOTH(name, word, type, attribute, copy, order, op, seq_cst, dropped, v3)                                       \
    DEFINE(few_##name, word, type, attribute, COPIES5(copy, order))                                                    \
    DEFINE(many_##name, word, type, attribute, COPIES13(copy, order))
FUNCTIONS(BOTH)

#define TYPE_OF(word) TYPE_OF_##word
#define TYPE_OF_u32 TYPE_U32
#define TYPE_OF_u64 TYPE_U64
#define TYPE_OF_f32 TYPE_F32
#define TYPE_OF_f64 TYPE_F64
#define ROW(name, word, type, attribute, copy, order, op, seq_cst, dropped, v3)                                        \
    {{op, TYPE_OF(word), (op) < OP_ADD, seq_cst, dropped, v3}, NATIVE(few_##name), NATIVE(many_##name)},
static struct {
    struct codegen_case what;
    struct codegen_native few, many;
} functions[] = {FUNCTIONS(ROW)};

/* NULL where the end of the function is unknown. */
static const struct codegen_native *bounded(struct codegen_native *native)
{
    const void *function;
    memcpy(&function, &native->run, sizeof function);
    return native->start || as_function_bounds(function, &native->start, &native->stop) ? native : NULL;
}

const struct codegen_native *as_codegen_native_of(const struct codegen_case *c, bool many)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct codegen_case *w = &functions[i].what;
        if (w->op == c->op && w->type == c->type && w->seq_cst == c->seq_cst && w->dropped == c->dropped &&
            w->v3 == c->v3)
            return bounded(many ? &functions[i].many : &functions[i].few);
    }
    return NULL;
}
