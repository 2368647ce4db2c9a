/* Memory of the Metal backend on the stand-in: every storage mode, on a Mac of Apple's own chip and on one of
 * another's; copies between all of them; what cannot be had; nothing left over. */
#include "../gpu_tests.h"

#include <math.h>
#include <stdlib.h>

static const char *const names[] = {"MTLStorageModePrivate", "MTLStorageModeShared",
                                    "MTLStorageModeShared WriteCombined", "MTLStorageModeManaged",
                                    "newBufferWithBytesNoCopy"};
static const int options[] = {0x20, 0x00, 0x01, 0x10, 0x00}; /* storage and cache modes by Metal's headers */
enum { KINDS = 5, MANAGED = 3, BYTES = 4096 };

static void open_as(const char *words)
{
    fake(words);
    open_card(&card, 0);
}

static void test_every_allocator(void **state)
{
    static const char *const machines[] = {"", "intel", "intel old"};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        open_as(machines[m]);
        assert_int_equal(card.dev.info.allocators_n, KINDS);
        for (size_t i = 0; i < KINDS; i++) {
            struct as_memory *mem = NULL;
            struct as_error err = {0};
            assert_string_equal(card.dev.info.allocators[i].name, names[i]);
            enum as_status s = gpu_get(names[i], ROUND_TRIP, NULL, &mem, &err);
            if (i == MANAGED && m == 0) {
                check_fails(s, AS_UNSUPPORTED, &err, "unified memory");
                continue;
            }
            check_ok(s, &err);
            assert_int_equal(fake_live_of("Metal.dylib", "fake_metal_options"), options[i]);
            gpu_round_trip(names[i], mem);
            card.dev.memory->free(&card.dev, mem);
        }
        card.dev.memory->free(&card.dev, NULL);
        close_card(&card);
    }
}

/* More than goes through the buffer for copies at a time. */
static void test_large_private(void **state)
{
    enum { WORDS = (40 << 20) / 4 + 1 };
    struct as_memory *mem = NULL;
    struct as_error err = {0};
    uint32_t *words = malloc(WORDS * 4), at = 0;
    (void)state;
    assert_non_null(words);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
    open_as("");
    check_ok(gpu_get(names[0], WORDS * 4, NULL, &mem, &err), &err);
    check_ok(card.dev.memory->write(&card.dev, mem, 0, words, WORDS * 4, &err), &err);
    memset(words, 0, WORDS * 4);
    check_ok(card.dev.memory->read(&card.dev, mem, 0, words, WORDS * 4, &err), &err);
    while (at < WORDS && words[at] == at * 2654435761u)
        at++;
    assert_int_equal(at, WORDS);
    card.dev.memory->free(&card.dev, mem);
    free(words);
    close_card(&card);
}

static void test_free_and_limits(void **state)
{
    struct as_memory *mem = NULL;
    struct as_error err = {0};
    uint64_t before, during, after;
    (void)state;
    open_as("intel");
    check_ok(card.dev.device->memory_free(&card.dev, &before, &err), &err);
    check_ok(gpu_get(names[0], 64 * KIB, NULL, &mem, &err), &err);
    check_ok(card.dev.device->memory_free(&card.dev, &during, &err), &err);
    assert_int_equal(before - during, 64 * KIB);
    card.dev.memory->free(&card.dev, mem);
    check_ok(card.dev.device->memory_free(&card.dev, &after, &err), &err);
    assert_int_equal(before, after);
    check_fails(gpu_get(names[0], 4 * GIB + 1, NULL, &mem, &err), AS_UNSUPPORTED, &err, "maxBufferLength");
    check_fails(gpu_get(names[0], 0, NULL, &mem, &err), AS_USAGE, &err, "cannot be allocated");
    check_fails(gpu_get("hipMalloc", 1, NULL, &mem, &err), AS_USAGE, &err, "no allocator 'hipMalloc'");
    check_fails(gpu_get(names[0], 1, "metal:1", &mem, &err), AS_UNSUPPORTED, &err, "does not reach memory of device");
    check_ok(gpu_get(names[0], 1, "metal:0", &mem, &err), &err);
    card.dev.memory->free(&card.dev, mem);
    close_card(&card);
}

static void test_no_memory(void **state)
{
    double a, f;
    (void)state;
    open_as("intel");
    for (size_t i = 0; i < KINDS; i++) {
        struct as_memory *mem = NULL;
        struct as_error err = {0};
        char byte = 1;
        fake("intel nomem");
        check_fails(gpu_get(names[i], 64, NULL, &mem, &err), AS_NOMEM, &err, names[i]);
        assert_null(mem);
        check_fails(card.dev.memory->time_alloc(&card.dev, names[i], 64, 4, &a, &f, &err), AS_NOMEM, &err, "no buffer");
        fake("intel");
        check_ok(gpu_get(names[i], 64, NULL, &mem, &err), &err);
        fake("intel nomem");
        enum as_status s = card.dev.memory->write(&card.dev, mem, 0, &byte, 1, &err);
        assert_int_equal(s, i == 0 ? AS_NOMEM : AS_OK); /* private memory takes another buffer */
        s = card.dev.memory->map(&card.dev, mem, &err);
        assert_int_equal(s, i == 0 ? AS_NOMEM : AS_OK);
        assert_int_equal(mem->host == NULL, i == 0);
        fake("intel");
        card.dev.memory->free(&card.dev, mem); /* also while it is mapped */
    }
    close_card(&card);
}

static void test_times(void **state)
{
    (void)state;
    open_as("intel");
    for (size_t i = 0; i < KINDS; i++) {
        struct as_error err = {0};
        double alloc_s = NAN, free_s = NAN;
        const int live = fake_live();
        check_ok(card.dev.memory->time_alloc(&card.dev, names[i], 64 * KIB, 16, &alloc_s, &free_s, &err), &err);
        assert_true(alloc_s > 0 && free_s > 0);
        assert_int_equal(fake_live(), live);
    }
    close_card(&card);
}

/* ---- copies ---- */

static struct as_memory *filled(const char *allocator, unsigned seed)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    unsigned char bytes[BYTES];
    for (unsigned i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 31 + seed);
    check_ok(gpu_get(allocator, BYTES, NULL, &m, &err), &err);
    check_ok(card.dev.memory->write(&card.dev, m, 0, bytes, BYTES, &err), &err);
    return m;
}

static void holds(struct as_memory *m, unsigned seed, unsigned n)
{
    struct as_error err = {0};
    unsigned char bytes[BYTES];
    check_ok(card.dev.memory->read(&card.dev, m, 0, bytes, BYTES, &err), &err);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(bytes[i], (unsigned char)(i * 31 + seed));
}

static void copy_between(const char *from, const char *to, uint64_t reps)
{
    struct as_memory *m[4] = {filled(from, 1), filled(to, 2), filled(to, 3), filled(from, 4)};
    struct as_copy c = {.from = m[0], .to = m[1], .bytes = BYTES / 2, .reps = reps};
    struct as_error err = {0};
    struct as_timing t;
    check_ok(card.dev.queue->copy(&card.dev, &c, &t, &err), &err);
    assert_true(t.host_s > 0 && t.device_s > 0 && t.device_s <= t.host_s);
    holds(m[1], 1, BYTES / 2);
    holds(m[2], 3, BYTES);
    c.back_from = m[2], c.back_to = m[3], c.bytes = BYTES;
    check_ok(card.dev.queue->copy(&card.dev, &c, &t, &err), &err);
    holds(m[1], 1, BYTES);
    holds(m[3], 3, BYTES);
    c.bytes = BYTES + 1;
    check_fails(card.dev.queue->copy(&card.dev, &c, &t, &err), AS_USAGE, &err, "outside of memory");
    for (size_t i = 0; i < 4; i++)
        card.dev.memory->free(&card.dev, m[i]);
}

static void test_copies(void **state)
{
    (void)state;
    open_as("intel");
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < KINDS; k++)
            copy_between(names[i], names[k], i == k ? 1 : 3);
    copy_between(names[0], names[1], 10000);
    close_card(&card);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocator), cmocka_unit_test(test_large_private),
        cmocka_unit_test(test_free_and_limits), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_times),           cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
