/* Arenas: parts, renewal, what is free, and that all is given back; on the scripted device and on the CPU. */
#include "check.h"
#include "device/arena.h"
#include "device/null/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

static struct as_opened opened;
static struct as_device *dev = &opened.device;

static int open_null(void **state)
{
    char path[64];
    struct as_error err;
    (void)state;
    snprintf(path, sizeof path, "/tmp/assay-arena-%d.json", (int)getpid());
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fputs("{\"info\": {\"memory_free\": 1073741824, \"memory_bytes\": 1073741824}}", f);
    fclose(f);
    setenv("ASSAY_NULL", path, 1);
    int failed = as_device_open("null", &opened, &err) != AS_OK;
    unlink(path);
    return failed ? -1 : 0;
}

static int open_cpu(void **state)
{
    struct as_error err;
    (void)state;
    return as_device_open("cpu", &opened, &err) ? -1 : 0;
}

static int close_device(void **state)
{
    (void)state;
    as_device_close(&opened);
    return 0;
}

static uint64_t held(void)
{
    return as_null(dev)->held;
}

static uint64_t free_now(void)
{
    uint64_t bytes = 0;
    struct as_error err;
    check_ok(dev->device->memory_free(dev, &bytes, &err), &err);
    return bytes;
}

static enum as_status try_take(uint64_t bytes, const char *use, uint64_t touch, struct as_memory **out,
                               struct as_error *err)
{
    const struct as_arena_desc d = {
        .memory = {.allocator = dev->info.allocators[0].name, .bytes = bytes, .node = -1}, .use = use, .touch = touch};
    return as_arena_take(dev, &d, out, err);
}

static struct as_memory *take_part(uint64_t bytes, const char *use, uint64_t touch)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    check_ok(try_take(bytes, use, touch, &m, &err), &err);
    assert_int_equal(m->bytes, bytes);
    check_ok(dev->memory->map(dev, m, &err), &err);
    return m;
}

static bool overlap(const char *a, uint64_t a_bytes, const char *b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* What several cells need one after the other is one arena, whose content stays. */
static void test_is_kept(void **unused)
{
    struct as_arena_content c;
    (void)unused;
    as_arenas_begin(dev, 1, 1);
    struct as_memory *m = take_part(40 * MIB, "a", 0);
    assert_true(as_arena_content(dev, m, &c));
    assert_true(c.offset % (2 * MIB) == 0);
    memset(c.pieces, AS_PIECE_FILLED, 1);
    const uint64_t one = held(), seed = c.seed;
    assert_true(one >= 45 * MIB && one < 50 * MIB);
    as_arena_give(dev, m);
    for (uint64_t cell = 2; cell < 6; cell++) {
        as_arenas_begin(dev, cell, cell);
        m = take_part(20 * MIB, "a", 0);
        assert_true(as_arena_content(dev, m, &c));
        assert_true(c.seed == seed && c.pieces[0] == AS_PIECE_FILLED);
        as_arena_give(dev, m);
    }
    assert_int_equal(held(), one);
    assert_int_equal(free_now(), dev->info.memory_free); /* what lends nothing can be had */
}

static void test_parts_do_not_overlap(void **unused)
{
    struct as_memory *m[4];
    (void)unused;
    as_arenas_begin(dev, 1, 1);
    m[0] = take_part(20 * MIB, "a", 0);
    m[1] = take_part(20 * MIB, "a", 0); /* while the part is out */
    m[2] = take_part(20 * MIB, "b", 0);
    m[3] = take_part(20 * MIB, "a", AS_TOUCH_THREAD);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_false(overlap(m[i]->host, m[i]->bytes, m[k]->host, m[k]->bytes));
    for (int i = 0; i < 4; i++)
        as_arena_give(dev, m[i]);
}

/* The cell that comes back has other pages; its old ones were still held when it got them. */
static void test_is_renewed(void **unused)
{
    const char *last = NULL;
    struct as_arena_content c;
    (void)unused;
    for (uint64_t trial = 0; trial < 5; trial++) {
        as_arenas_begin(dev, 7, trial);
        struct as_memory *m = take_part(16 * MIB, "a", 0);
        assert_true(!last || !overlap(m->host, m->bytes, last, m->bytes));
        assert_true(as_arena_content(dev, m, &c) && c.pieces[0] == AS_PIECE_NEW);
        memset(c.pieces, AS_PIECE_FILLED, 1);
        last = m->host;
        as_arena_give(dev, m);
    }
    assert_true(held() < 20 * MIB);
}

/* A large one stays, and its parts lie at different places of it; where each thread has touched its pages, at one. */
static void test_large_ones_move(void **unused)
{
    (void)unused;
    for (int fixed = 0; fixed < 2; fixed++) {
        uint64_t offsets = 0, one = 0;
        for (uint64_t trial = 0; trial < 20; trial++) {
            struct as_arena_content c;
            as_arenas_begin(dev, 7, trial);
            struct as_memory *m = take_part(100 * MIB, "a", fixed ? AS_TOUCH_OTHER + 5 : 0);
            assert_true(as_arena_content(dev, m, &c));
            assert_true(c.offset / (2 * MIB) < 64);
            offsets |= UINT64_C(1) << c.offset / (2 * MIB);
            one = one ? one : held();
            assert_int_equal(held(), one);
            as_arena_give(dev, m);
        }
        assert_true(fixed ? offsets == 1 : (offsets & (offsets - 1)) != 0);
        as_arenas_drop_idle(dev);
        assert_int_equal(held(), 0);
    }
}

/* What does not fit beside idle arenas has their room, in an arena or not; what does not fit at all is an error. */
static void test_bounded_by_what_is_free(void **unused)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)unused;
    as_arenas_begin(dev, 1, 1);
    as_arena_give(dev, take_part(100 * MIB, "a", 0));
    as_arena_give(dev, take_part(100 * MIB, "b", 0));
    assert_true(as_arenas_idle(dev) >= 200 * MIB);
    m = take_part(1000 * MIB, "c", 0); /* has no room for other places */
    assert_int_equal(as_arenas_idle(dev), 0);
    as_arena_give(dev, m);
    assert_int_equal(held(), 0); /* more than a quarter of all is not kept */
    as_arena_give(dev, take_part(100 * MIB, "a", 0));
    const struct as_memory_desc plain = {
        .allocator = dev->info.allocators[0].name, .bytes = 1000 * MIB, .node = -1, .fresh = true};
    check_ok(dev->memory->alloc(dev, &plain, &m, &err), &err);
    dev->memory->free(dev, m);
    assert_int_equal(held(), 0);
    m = take_part(100 * MIB, "a", 0);
    struct as_memory *more = NULL;
    check_fails(try_take(1000 * MIB, "b", 0, &more, &err), AS_NOMEM, &err, "out of memory");
    assert_null(more);
    memset(m->host, 1, m->bytes); /* a part that is out is not touched by that */
    as_arena_give(dev, m);
}

/* An allocation that drops idle arenas, that which it replaces among them, leaves alone a part that is out. */
static void test_replaced_while_short(void **unused)
{
    (void)unused;
    as_arenas_begin(dev, 1, 1);
    as_arena_give(dev, take_part(100 * MIB, "b", 0));
    struct as_memory *out = take_part(100 * MIB, "a", 0);
    const uint64_t left = dev->info.memory_free - held();
    struct as_memory *more = take_part(left / 9 * 8 - 4 * MIB + 100 * MIB, "b", 0);
    memset(out->host, 1, out->bytes);
    as_arena_give(dev, out);
    as_arena_give(dev, more);
}

static void test_many_kinds(void **unused)
{
    (void)unused;
    for (uint64_t i = 0; i < 40; i++) {
        char use[16];
        snprintf(use, sizeof use, "use %d", (int)i);
        as_arenas_begin(dev, i, i);
        as_arena_give(dev, take_part(9 * MIB, use, 0));
    }
    assert_true(held() <= dev->info.memory_free / 4);
}

static void test_small_ones_are_fresh(void **unused)
{
    struct as_arena_content c;
    (void)unused;
    as_arenas_begin(dev, 1, 1);
    struct as_memory *m = take_part(8 * MIB, "a", 0);
    assert_false(as_arena_content(dev, m, &c));
    as_arena_give(dev, m);
    as_arena_give(dev, NULL);
    assert_int_equal(held(), 0);
}

/* Real pages: zero where they are new, each at its place in the arena, and backed as the allocator says. */
static void test_of_the_cpu(void **unused)
{
    struct as_error err = {0};
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)unused;
    for (size_t i = 0; i < dev->info.allocators_n; i++) {
        if (dev->info.allocators[i].why_not[0])
            continue;
        const struct as_arena_desc d = {
            .memory = {.allocator = dev->info.allocators[i].name, .bytes = 12 * MIB, .node = -1}, .use = "a"};
        for (uint64_t trial = 0; trial < 3; trial++) {
            struct as_memory *m = NULL;
            as_arenas_begin(dev, 1, trial);
            enum as_status st = as_arena_take(dev, &d, &m, &err);
            if (st == AS_NOMEM) /* huge pages that are reserved are few */
                break;
            check_ok(st, &err);
            check_ok(dev->memory->map(dev, m, &err), &err);
            /* inside: the heap shares the pages at the ends */
            for (uint64_t at = page; at < m->bytes - page; at += page)
                assert_int_equal(((char *)m->host)[at], 0);
            memset(m->host, 1, m->bytes);
            check_ok(dev->memory->map(dev, m, &err), &err);
            assert_true(m->page_size >= page);
            as_arena_give(dev, m);
        }
    }
    assert_true(as_arenas_idle(dev) > 0);
}

int main(void)
{
#define OF_NULL(test) cmocka_unit_test_setup_teardown(test, open_null, close_device)
    const struct CMUnitTest tests[] = {
        OF_NULL(test_is_kept),
        OF_NULL(test_parts_do_not_overlap),
        OF_NULL(test_is_renewed),
        OF_NULL(test_large_ones_move),
        OF_NULL(test_bounded_by_what_is_free),
        OF_NULL(test_replaced_while_short),
        OF_NULL(test_many_kinds),
        OF_NULL(test_small_ones_are_fresh),
        cmocka_unit_test_setup_teardown(test_of_the_cpu, open_cpu, close_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
