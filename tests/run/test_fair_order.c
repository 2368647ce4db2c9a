/* How first trials share a budget that does not suffice, on planned cells whose costs are made up: whatever a cell
 * costs, no probe and no memory goes without. */
#include "../facts/planned.h"
#include "base/text.h"
#include "run/engine.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require_ok(enum as_status st, const struct as_error *err)
{
    if (st)
        fail_msg("%s", err->text);
}

/* What a trial of a cell takes: filling its memory, and more where other costs are behind it. */
static double cost_of(const struct as_cell *cell)
{
    static const struct {
        const char *probe;
        double times;
    } dear[] = {{"host_bandwidth", 4}, {"atomics", 3}, {"page_events", 20}, {"alloc", 2}};
    double cost = 0.05 + 1e-9 * as_engine_bytes_of(cell);
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (strcmp(cell->probe, dear[i].probe) == 0)
            cost *= dear[i].times;
    return strcmp(as_axes_text(&cell->axes, "hold"), "sustained") == 0 ? cost + 1.2 : cost;
}

struct bench {
    struct as_engine e;
    size_t *order, n; /* possible cells */
    size_t quoted;    /* of these cells of quantities */
    double all_s;     /* for a trial of each */
};

static void set_up_bench(struct bench *b, struct as_cell *cells, size_t n, struct as_slot *slot)
{
    struct as_error err = {0};
    *b = (struct bench){.e = {.cells = cells, .cells_n = n, .sentinels_first = n, .slots = slot, .slots_n = !!slot}};
    b->e.progress = calloc(n, sizeof *b->e.progress);
    b->order = calloc(n, sizeof *b->order);
    assert_non_null(b->e.progress);
    assert_non_null(b->order);
    require_ok(as_engine_rank(&b->e, &err), &err);
    for (size_t i = 0; i < n; i++) {
        if (cells[i].status != AS_CELL_PLANNED)
            continue;
        b->order[b->n++] = i;
        b->quoted += b->e.progress[i].first != AS_QUANTITY_OF_NONE;
        b->all_s += cost_of(&cells[i]);
    }
    as_engine_shuffle(&b->e, b->order, b->n, 1, AS_ORDER_FIRST_ROUND);
}

static void tear_down_bench(struct bench *b)
{
    free(b->e.progress);
    free(b->order);
}

/* The k-th cell of the first round, measured. */
static const struct as_cell *measure_next(struct bench *b, size_t k)
{
    if (!b->e.progress[b->order[k]].first)
        as_engine_fair_next(&b->e, b->order + k, b->n - k);
    struct as_cell *cell = &b->e.cells[b->order[k]];
    assert_int_equal(cell->status, AS_CELL_PLANNED); /* never twice */
    cell->status = AS_CELL_OK;
    cell->duration_s = cost_of(cell);
    return cell;
}

static size_t measure_for(struct bench *b, double budget_s)
{
    size_t k = 0;
    for (double spent = 0; k < b->n && spent < budget_s; k++)
        spent += measure_next(b, k)->duration_s;
    return k;
}

static bool is_of_group(const struct bench *b, size_t a, size_t other)
{
    return b->e.progress[a].fair[AS_FAIR_MEMORY].group == b->e.progress[other].fair[AS_FAIR_MEMORY].group;
}

static bool is_of_probe(const struct bench *b, size_t a, size_t other)
{
    return strcmp(b->e.cells[a].probe, b->e.cells[other].probe) == 0;
}

/* Groups with possible cells, each of which must have a measurement. */
static size_t count_groups(const struct bench *b, bool (*is_of)(const struct bench *, size_t, size_t))
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        bool is_first = true, has = false;
        for (size_t k = 0; k < b->n; k++)
            if (is_of(b, b->order[i], b->order[k])) {
                is_first &= k >= i;
                has |= b->e.cells[b->order[k]].status == AS_CELL_OK;
            }
        n += is_first;
        if (!has)
            fail_msg("none of %s '%s'", b->e.cells[b->order[i]].probe,
                     as_axes_text(&b->e.cells[b->order[i]].axes, "allocator"));
    }
    return n;
}

struct planned {
    struct as_slot slot;
    struct as_plan plan;
    struct bench bench;
};

/* The first machine that has the device, with this one alone. */
static void open_machine(const char *device, struct planned_machine *one)
{
    struct as_error err = {0};
    for (const struct planned_start *start = planned_starts; start->refs; start++) {
        struct planned_machine m;
        require_ok(planned_open(start, &m, &err), &err);
        for (size_t i = 0; i < m.devices_n; i++)
            if (strcmp(m.info[i].id, device) == 0) {
                *one = (struct planned_machine){.n = 1, .devices_n = 1};
                one->info[0] = m.info[i];
                return;
            }
    }
    fail_msg("no machine has the device %s", device);
}

static void set_up_suite(const char *name, const char *device, struct planned *p)
{
    struct planned_machine m;
    struct as_error err = {0};
    open_machine(device, &m);
    p->plan = (struct as_plan){0};
    p->slot = (struct as_slot){.worker = AS_WORKER_INIT, .info = m.info[0]};
    for (size_t i = 0; as_suite_texts[i].name; i++)
        if (strcmp(as_suite_texts[i].name, name) == 0)
            require_ok(planned_add(&p->plan, name, as_suite_texts[i].text, &m, &err), &err);
    for (size_t i = 0; i < p->plan.n; i++)
        p->plan.cells[i].id = (int64_t)i + 1;
    set_up_bench(&p->bench, p->plan.cells, p->plan.n, &p->slot);
}

static void tear_down_suite(struct planned *p)
{
    tear_down_bench(&p->bench);
    as_plan_finish(&p->plan);
}

/* All memories of all probes in a third of the time for all cells, and no cell is lost where there is time for all. */
static void third_of_the_time(const char *suite, const char *device)
{
    struct planned p;
    set_up_suite(suite, device, &p);
    const struct bench *b = &p.bench;
    const size_t done = measure_for(&p.bench, b->all_s / 3);
    assert_true(b->quoted < done && done < b->n);
    const size_t probes = count_groups(b, is_of_probe), memories = count_groups(b, is_of_group);
    print_message("%s on %s: %zu of %zu cells, %zu probes, %zu memories\n", suite, device, done, b->n, probes,
                  memories);
    assert_true(memories > probes);
    for (size_t k = done; k < b->n; k++)
        measure_next(&p.bench, k);
    for (size_t i = 0; i < p.plan.n; i++)
        assert_true(p.plan.cells[i].status != AS_CELL_PLANNED);
    tear_down_suite(&p);
}

UNIT_TEST(test_memories)
{
    third_of_the_time("upm", "hip:0");
    third_of_the_time("upm", "cpu");
    third_of_the_time("full", "hip:0");
}

static bool is_main(const struct as_cell *cell)
{
    const char *const *op = as_main_operations;
    while (*op && strcmp(*op, as_axes_text(&cell->axes, "op")) != 0)
        op++;
    return *op && !(as_axes_number(&cell->axes, "warps") > 0) && !(as_axes_number(&cell->axes, "operands") > 0) &&
           !(as_axes_number(&cell->axes, "steps") > 0) && strncmp(cell->probe, "alu", 3) == 0;
}

/* What the main results of a run of operations rest on does not wait for the other operations. */
static void main_operations(const char *device)
{
    struct planned p;
    size_t n = 0;
    set_up_suite("alu", device, &p);
    measure_for(&p.bench, p.bench.all_s / 4);
    for (size_t i = 0; i < p.bench.n; i++) {
        const struct as_cell *cell = &p.plan.cells[p.bench.order[i]];
        if (!is_main(cell))
            continue;
        n++;
        if (cell->status != AS_CELL_OK)
            fail_msg("no %s %s", cell->probe, as_axes_text(&cell->axes, "op"));
    }
    assert_true(n >= 20 && n < p.bench.n / 4);
    tear_down_suite(&p);
}

UNIT_TEST(test_main_operations)
{
    main_operations("hip:0");
    main_operations("cpu");
}

static size_t count_of(const struct planned *p, const char *hold, enum as_cell_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < p->bench.n; i++) {
        const struct as_cell *c = &p->plan.cells[p->bench.order[i]];
        n +=
            strcmp(c->probe, "matmul") == 0 && strcmp(as_axes_text(&c->axes, "hold"), hold) == 0 && c->status == status;
    }
    return n;
}

/* A curve over sizes costs less than its power at one: where a budget ends, sustained cells are dropped first. */
static void curves_first(const char *device)
{
    struct planned p;
    set_up_suite("tensor", device, &p);
    for (size_t k = 0; k < p.bench.n && count_of(&p, "burst", AS_CELL_PLANNED); k++)
        measure_next(&p.bench, k);
    const size_t waiting = count_of(&p, "sustained", AS_CELL_PLANNED), done = count_of(&p, "sustained", AS_CELL_OK);
    print_message("tensor on %s: %zu sustained cells after all curves, %zu before\n", device, waiting, done);
    assert_true(waiting > done);
    tear_down_suite(&p);
}

UNIT_TEST(test_curves_before_sustained_cells)
{
    curves_first("hip:0");
}

/* ---- cells of two probes, alike or not ---- */

enum { OF_EACH = 32 };

static void make_cells(struct as_cell cells[2 * OF_EACH], size_t triads)
{
    struct as_error err = {0};
    for (size_t n = 0; n < (size_t)2 * OF_EACH; n++) {
        const bool events = n % 2;
        struct as_cell *c = &cells[n];
        *c = (struct as_cell){.id = (int64_t)n, .status = AS_CELL_PLANNED};
        as_copy_text(c->device, sizeof c->device, "opencl:0");
        as_copy_text(c->probe, sizeof c->probe, events ? "page_events" : "host_bandwidth");
        as_axes_add(&c->axes, events ? "what" : "op", !events ? "add" : n < 2 * triads ? "triads" : "faults", &err);
        as_axes_add(&c->axes, events ? "pages" : "size",
                    !events          ? "1073741824"
                    : n < 2 * triads ? "468480"
                                     : "16384",
                    &err);
        as_axes_add(&c->axes, "allocator", n < 8 ? "first" : n % 3 ? "second" : "third", &err);
    }
}

/* Time of the memory's cells; *waits: is one of them not measured yet? */
static double spent_on(const struct bench *b, size_t cell, bool *waits)
{
    double spent = 0;
    *waits = false;
    for (size_t i = 0; i < b->n; i++)
        if (is_of_group(b, i, cell)) {
            spent += b->e.cells[i].duration_s;
            *waits |= b->e.cells[i].status == AS_CELL_PLANNED;
        }
    return spent;
}

/* A budget that ends anywhere has been spent on all memories of both in equal parts, as far as single cells allow; each
 * probe begins with what is cheap. */
UNIT_TEST(test_equal_parts)
{
    static struct as_cell cells[2 * OF_EACH];
    double largest = 0;
    bool begun = false, waits[2];
    struct bench b;
    make_cells(cells, 8);
    set_up_bench(&b, cells, (size_t)2 * OF_EACH, NULL);
    for (size_t k = 0; k < b.n; k++) {
        const struct as_cell *c = measure_next(&b, k);
        const bool events = c->probe[0] == 'p';
        assert_true(begun || !events || strcmp(as_axes_text(&c->axes, "what"), "faults") == 0);
        begun |= events;
        largest = c->duration_s > largest ? c->duration_s : largest;
        for (size_t i = 0; i < b.n; i++) {
            const double one = spent_on(&b, i, &waits[0]), other = spent_on(&b, b.order[k], &waits[1]);
            if (waits[0] && other > one + 2 * largest)
                fail_msg("after %zu measurements %.1f s for one memory and %.1f s for another", k + 1, one, other);
        }
    }
    tear_down_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memories), cmocka_unit_test(test_main_operations),
                                       cmocka_unit_test(test_curves_before_sustained_cells),
                                       cmocka_unit_test(test_equal_parts)};
    return cmocka_run_group_tests_name("run: a share of the budget", tests, NULL, NULL);
}
