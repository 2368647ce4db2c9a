/* The end of a run stores what changed at once: with many measurements, a transaction each would outlast the budget. */
#include "contents.h"

#include "engine_changed.h"

#include <stdio.h>
#include <stdlib.h>

/* SQLite counts the transactions that changed the file, big-endian in its header. */
static unsigned transactions(const char *path)
{
    unsigned char header[28];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(header, 1, sizeof header, f), sizeof header);
    fclose(f);
    return (unsigned)header[24] << 24 | (unsigned)header[25] << 16 | (unsigned)header[26] << 8 | header[27];
}

static void test_changed_apart(void **state)
{
    enum { N = 40 };
    struct fixture *f = *state;
    struct as_run run;
    bool changed[N];
    must_open(f, AS_STORE_WRITE);
    struct as_cell *cells = begin(f, &run, 7, N);
    for (size_t i = 0; i < N; i++) {
        changed[i] = i % 2;
        cells[i].status = AS_CELL_SKIPPED;
    }
    const unsigned before = transactions(as_store_path(f->store));
    check(f, engine_store_changed(f->store, &run, cells, N, changed, &f->err));
    assert_int_equal(transactions(as_store_path(f->store)), before + 1);
    struct contents c = stored(f, run.id);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(c.cells[i].status, i % 2 ? AS_CELL_SKIPPED : AS_CELL_PLANNED);
    forget(&c);
    free(cells);
    as_run_finish(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_changed_apart, set_up, tear_down)};
    return cmocka_run_group_tests_name("stored at the end", tests, NULL, NULL);
}
