/* Layouts of software units with shuffled operands: the experiments must find each slot. */
#include "lib/mma/discovery/model.h"
#include "lib/mma/discovery/slots.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { M = 8, N = 4, K = 16, SLOTS_A = M * K + 9, SLOTS_B = K * N, SLOTS_C = M * N + 3 };

/* The slot of each element. */
struct shuffled {
    struct as_matrix_model model;
    uint16_t a[M * K], b[K * N], c[M * N];
    size_t also; /* a second slot of A that is added to its first element; SLOTS_A: none */
    bool stale;  /* the result of one problem replaces the next one's */
};

static enum as_status multiply(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, uint64_t *d,
                               struct as_error *err)
{
    const struct shuffled *s = ctx;
    const struct as_matrix_unit *u = &s->model.unit;
    uint64_t x[M * K], y[K * N], zero[M * N] = {0}, z[M * N];
    for (size_t p = 0; p < count; p++, a += SLOTS_A, b += SLOTS_B, d += SLOTS_C) {
        for (size_t i = 0; i < M * K; i++)
            x[i] = a[s->a[i]];
        if (s->also < SLOTS_A && a[s->also])
            x[0] = a[s->also];
        for (size_t i = 0; i < K * N; i++)
            y[i] = b[s->b[i]];
        enum as_status st = u->multiply(u->ctx, 1, x, y, zero, z, err);
        if (st)
            return st;
        memset(d, 0, SLOTS_C * sizeof *d);
        for (size_t i = 0; i < M * N; i++)
            d[s->c[i]] = s->stale && p % 3 == 2 ? 0 : z[i];
    }
    return AS_OK;
}

static void shuffle(uint16_t *v, size_t n, size_t slots, uint64_t *state)
{
    uint16_t all[SLOTS_A];
    for (size_t i = 0; i < slots; i++)
        all[i] = (uint16_t)i;
    for (size_t i = 0; i < n; i++) {
        *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        size_t with = i + (size_t)(*state >> 33) % (slots - i);
        uint16_t t = all[i];
        v[i] = all[i] = all[with];
        all[with] = t;
    }
}

static struct as_slot_unit start(struct shuffled *s, const char *format, const char *sum, uint64_t seed)
{
    struct as_error err;
    struct as_arithmetic how = as_arithmetic_of_fma(as_number_format(sum));
    how.step = K; /* the layout does not depend on the order of additions: this one is cheapest */
    *s = (struct shuffled){.also = SLOTS_A};
    assert_int_equal(as_matrix_model_start(&s->model, format, format, sum, M, N, K, &how, &err), AS_OK);
    shuffle(s->a, M * K, SLOTS_A, &seed);
    shuffle(s->b, K * N, SLOTS_B, &seed);
    shuffle(s->c, M * N, SLOTS_C, &seed);
    const struct as_matrix_unit *u = &s->model.unit;
    return (struct as_slot_unit){u->a, u->b, u->c, SLOTS_A, SLOTS_B, SLOTS_C, M, N, K, multiply, s};
}

static struct as_slot *table(const uint16_t *places, size_t rows, size_t columns, size_t slots)
{
    struct as_slot *v = malloc(slots * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < slots; i++)
        v[i] = (struct as_slot){AS_SLOT_NONE, AS_SLOT_NONE};
    for (size_t i = 0; i < rows * columns; i++)
        v[places[i]] = (struct as_slot){(uint16_t)(i / columns), (uint16_t)(i % columns)};
    return v;
}

static struct as_slots truth(const struct shuffled *s)
{
    return (struct as_slots){table(s->a, M, K, SLOTS_A),
                             table(s->b, K, N, SLOTS_B),
                             table(s->c, M, N, SLOTS_C),
                             SLOTS_A,
                             SLOTS_B,
                             SLOTS_C,
                             M,
                             N,
                             K};
}

static void differences(struct shuffled *s, const struct as_slot_unit *u, struct as_slots *doc,
                        struct as_slots_difference *out)
{
    struct as_slots found;
    struct as_error err;
    (void)s;
    if (as_slots_find(u, &found, &err))
        fail_msg("%s", err.text);
    assert_int_equal(as_slots_compare(&found, doc, out, &err), AS_OK);
    as_slots_finish(&found);
    as_slots_finish(doc);
}

UNIT_TEST(test_shuffled)
{
    static const char *const formats[][2] = {{"f16", "f32"}, {"e4m3", "f32"}, {"s8", "s32"},
                                             {"u8", "s32"},  {"e2m1", "f32"}, {"f64", "f64"}};
    for (size_t i = 0; i < 12; i++) {
        struct shuffled s;
        struct as_slots_difference diff;
        struct as_slot_unit u = start(&s, formats[i % 6][0], formats[i % 6][1], i + 1);
        struct as_slots doc = truth(&s);
        differences(&s, &u, &doc, &diff);
        assert_int_equal(diff.unequal[0] + diff.unequal[1] + diff.unequal[2], 0);
        assert_string_equal(diff.first, "");
    }
}

static void swap(struct as_slot *a, struct as_slot *b)
{
    struct as_slot t = *a;
    *a = *b;
    *b = t;
}

/* The documentation is wrong: two elements of one operand are exchanged. */
UNIT_TEST(test_wrong_documents)
{
    for (unsigned which = 0; which < 3; which++) {
        struct shuffled s;
        struct as_slots_difference diff;
        struct as_slot_unit u = start(&s, "f16", "f32", 77);
        struct as_slots doc = truth(&s);
        struct as_slot *tables[] = {doc.a, doc.b, doc.c};
        const uint16_t *places[] = {s.a, s.b, s.c};
        swap(&tables[which][places[which][0]], &tables[which][places[which][N + 1]]);
        differences(&s, &u, &doc, &diff);
        assert_true(diff.unequal[which] >= 2);
        assert_non_null(strstr(diff.first, "expected: row"));
    }
}

/* Rows numbered differently, but alike in A and the result, are the same product. */
UNIT_TEST(test_other_numbers)
{
    struct shuffled s;
    struct as_slots_difference diff;
    struct as_slot_unit u = start(&s, "f16", "f32", 78);
    struct as_slots doc = truth(&s);
    for (size_t i = 0; i < SLOTS_A; i++)
        doc.a[i].row = doc.a[i].row == AS_SLOT_NONE ? AS_SLOT_NONE : (uint16_t)(M - 1 - doc.a[i].row);
    for (size_t i = 0; i < SLOTS_C; i++)
        doc.c[i].row = doc.c[i].row == AS_SLOT_NONE ? AS_SLOT_NONE : (uint16_t)(M - 1 - doc.c[i].row);
    differences(&s, &u, &doc, &diff);
    assert_int_equal(diff.unequal[0] + diff.unequal[1] + diff.unequal[2], 0);
}

static void expect_failed(const struct as_slot_unit *u, const char *text)
{
    struct as_slots found;
    struct as_error err;
    assert_int_equal(as_slots_find(u, &found, &err), AS_FAILED);
    assert_non_null(strstr(err.text, text));
    assert_null(found.a);
}

UNIT_TEST(test_contradictions)
{
    struct shuffled s;
    struct as_slot_unit u = start(&s, "f16", "f32", 79);
    for (s.also = 0; s.also < SLOTS_A; s.also++) {
        bool used = false;
        for (size_t i = 0; i < M * K; i++)
            used |= s.a[i] == s.also;
        if (!used)
            break;
    }
    expect_failed(&u, "129 places of A are used");
    u = start(&s, "f16", "f32", 80);
    s.model.skipped_k = 3;
    expect_failed(&u, "120 places of A are used");
    u = start(&s, "f16", "f32", 81);
    s.stale = true;
    expect_failed(&u, "place");
    u = start(&s, "f16", "f32", 82);
    s.c[5] = s.c[9];
    expect_failed(&u, "");
    u = start(&s, "f16", "f32", 83);
    s.b[7] = s.b[12];
    expect_failed(&u, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffled),
        cmocka_unit_test(test_wrong_documents),
        cmocka_unit_test(test_other_numbers),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
