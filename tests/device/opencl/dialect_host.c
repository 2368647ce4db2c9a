/* The dialect's words as host C: indices, barriers, shared memory and atomics behave as specified. */
#include "device/dialect/dialect.h"
#include "device/dialect/host_prelude.h"
#include "tests/unit_test.h"

#include <string.h>

_Thread_local struct as_host_item as_host_item;

/* Each thread passes its index to its neighbour through shared memory; the sum is stored by an atomic. */
KERNEL(rotate)(ARG_GLOBAL(0, u32, out), ARG_GLOBAL(1, atomic_u32, totals), ARG_VALUE(2, u32, by) ARG_INDICES)
{
    LOCAL u32 line[16];
    line[THREAD] = (u32)GLOBAL_THREAD;
    BARRIER();
    out[GLOBAL_THREAD] = line[(THREAD + by) % THREADS];
    ATOMIC_ADD(&totals[0], (u32)GLOBAL_THREADS, ORDER_RELAXED, SCOPE_DEVICE);
    ATOMIC_MAX(&totals[1], (u32)GLOBAL_THREAD, ORDER_SEQ_CST, SCOPE_SYSTEM);
    ATOMIC_MIN(&totals[2], GROUP, ORDER_ACQ_REL, SCOPE_GROUP);
    BARRIER();
}

enum { GROUPS_N = 3, THREADS_N = 16 };
static uint32_t out[GROUPS_N * THREADS_N], totals[3];

struct item {
    uint32_t thread, group;
    pthread_barrier_t *barrier;
};

static void *run_item(void *arg)
{
    const struct item *i = arg;
    as_host_item = (struct as_host_item){i->thread, THREADS_N, i->group, GROUPS_N, i->barrier};
    rotate(out, totals, 5);
    return NULL;
}

UNIT_TEST(test_kernel_on_threads)
{
    pthread_barrier_t barrier;
    totals[2] = 99;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS_N), 0);
    for (uint32_t g = 0; g < GROUPS_N; g++) {
        pthread_t threads[THREADS_N];
        struct item items[THREADS_N];
        for (uint32_t t = 0; t < THREADS_N; t++) {
            items[t] = (struct item){t, g, &barrier};
            assert_int_equal(pthread_create(&threads[t], NULL, run_item, &items[t]), 0);
        }
        for (uint32_t t = 0; t < THREADS_N; t++)
            pthread_join(threads[t], NULL);
    }
    pthread_barrier_destroy(&barrier);
    for (uint32_t i = 0; i < GROUPS_N * THREADS_N; i++)
        assert_int_equal(out[i], i / THREADS_N * THREADS_N + (i + 5) % THREADS_N);
    assert_int_equal(totals[0], GROUPS_N * THREADS_N * GROUPS_N * THREADS_N);
    assert_int_equal(totals[1], GROUPS_N * THREADS_N - 1);
    assert_int_equal(totals[2], 0);
}

UNIT_TEST(test_exchange_and_store)
{
    uint32_t v = 7;
    assert_int_equal(ATOMIC_EXCHANGE(&v, 9, ORDER_ACQ_REL, SCOPE_SYSTEM), 7);
    ATOMIC_STORE(&v, 11, ORDER_RELEASE, SCOPE_DEVICE);
    assert_int_equal(ATOMIC_LOAD(&v, ORDER_ACQUIRE, SCOPE_DEVICE), 11);
}

UNIT_TEST(test_additions_of_other_types)
{
    atomic_u64 a = UINT64_C(0xffffffff);
    atomic_f32 b = 1.5f;
    atomic_f64 c = 0.25;
    assert_true(ATOMIC_ADD_U64(&a, 2, ORDER_RELAXED, SCOPE_SYSTEM) == UINT64_C(0xffffffff));
    assert_true(a == UINT64_C(0x100000001));
    assert_true(ATOMIC_ADD_F32(&b, 2, ORDER_SEQ_CST, SCOPE_SYSTEM) == 1.5f && b == 3.5f);
    assert_true(ATOMIC_ADD_F64(&c, 1, ORDER_ACQ_REL, SCOPE_DEVICE) == 0.25 && c == 1.25);
}

/* A word that only one prelude has would make kernels that build on one API only. */
UNIT_TEST(test_preludes_have_the_same_words)
{
    static const char *const words[] = {"KERNEL(",
                                        "ARG_GLOBAL(",
                                        "ARG_VALUE(",
                                        "ARG_INDICES",
                                        "GLOBAL",
                                        "LOCAL",
                                        "FUNCTION",
                                        "THREAD",
                                        "THREADS",
                                        "GROUP",
                                        "GROUPS",
                                        "GLOBAL_THREAD",
                                        "GLOBAL_THREADS",
                                        "BARRIER(",
                                        "ATOMIC_LOAD(",
                                        "ATOMIC_STORE(",
                                        "ATOMIC_ADD(",
                                        "ATOMIC_MIN(",
                                        "ATOMIC_MAX(",
                                        "ATOMIC_EXCHANGE(",
                                        "ORDER_RELAXED",
                                        "ORDER_ACQUIRE",
                                        "ORDER_RELEASE",
                                        "ORDER_ACQ_REL",
                                        "ORDER_SEQ_CST",
                                        "SCOPE_GROUP",
                                        "SCOPE_DEVICE",
                                        "SCOPE_SYSTEM",
                                        "HAVE_F64",
                                        "HAVE_F16",
                                        "HAVE_CYCLES",
                                        "HAVE_ATOMIC_ORDERS",
                                        "HAVE_ATOMIC_SEQ_CST",
                                        "HAVE_SCOPE_SYSTEM",
                                        "HAVE_ATOMIC_ADD_U64",
                                        "HAVE_ATOMIC_ADD_F32",
                                        "HAVE_ATOMIC_ADD_F64",
                                        "HAVE_ATOMIC_BOUND_U64",
                                        "ATOMIC_MIN_U64(",
                                        "ATOMIC_MAX_U64(",
                                        "ATOMIC_ADD_U64(",
                                        "ATOMIC_ADD_F32(",
                                        "ATOMIC_ADD_F64("};
    static const char *const types[] = {" u8;",         " u16;",        " u32;",        " u64;",       " i8;",
                                        " i16;",        " i32;",        " i64;",        " f32;",       " f64;",
                                        " atomic_u32;", " atomic_u64;", " atomic_f32;", " atomic_f64;"};
    /* words for types that a language lacks */
    static const char *const lacking[AS_DIALECT_N] = {
        [AS_DIALECT_METAL] = " f64; atomic_u64; atomic_f64; ATOMIC_ADD_U64( ATOMIC_ADD_F64( "
                             "ATOMIC_MIN_U64( ATOMIC_MAX_U64("};
    for (int d = 0; d < AS_DIALECT_N; d++) {
        const char *lacks = lacking[d] ? lacking[d] : "";
        const char *prelude = as_dialect_prelude((enum as_dialect)d);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            char define[64] = "#define ";
            strcat(define, words[w]);
            if (!strstr(prelude, define) && !strstr(lacks, words[w]))
                fail_msg("prelude %d has no '%s'", d, define);
        }
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (!strstr(prelude, types[t]) && !strstr(lacks, types[t]))
                fail_msg("prelude %d has no type '%s'", d, types[t]);
    }
}

UNIT_TEST(test_source_keeps_its_lines)
{
    struct as_buf b = AS_BUF_INIT;
    as_dialect_source(AS_DIALECT_OPENCL, "first line\n", &b);
    assert_non_null(strstr(as_buf_get(&b), "#line 1\nfirst line\n"));
    as_buf_finish(&b);
}

UNIT_TEST(test_complaints)
{
    static const struct {
        const char *log, *says;
    } cases[] = {
        {"a warning\nk.cl:3: error: no x\n\there\n", "k.cl:3: error: no x  here"},
        {"error", "error"},
        {"all went wrong\n", "all went wrong"},
        {"error: \xff", "error: \xef\xbf\xbd"},
        {" \n\n", "the compiler says nothing"},
        {"", "the compiler says nothing"},
        {NULL, "the compiler says nothing"},
    };
    char said[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        as_dialect_complaint(cases[i].log, said, sizeof said);
        assert_string_equal(said, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_on_threads),        cmocka_unit_test(test_exchange_and_store),
        cmocka_unit_test(test_additions_of_other_types), cmocka_unit_test(test_preludes_have_the_same_words),
        cmocka_unit_test(test_source_keeps_its_lines),   cmocka_unit_test(test_complaints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
