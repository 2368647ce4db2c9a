#include "contents.h"

struct contents stored(struct fixture *f, int64_t run_id)
{
    struct contents c = {0};
    const struct as_cell_filter filter = {.run_id = run_id};
    check(f, as_store_verify(f->store, &f->err));
    check(f, as_store_cells(f->store, &filter, &c.cells, &c.cells_n, &f->err));
    check(f, as_store_trials(f->store, run_id, 0, &c.trials, &c.trials_n, &f->err));
    return c;
}

void forget(struct contents *c)
{
    as_cells_free(c->cells, c->cells_n);
    as_trials_free(c->trials, c->trials_n);
}

const struct as_trial *find_trial(const struct contents *c, int64_t cell, int number)
{
    const struct as_trial *found = NULL;
    for (size_t i = 0; i < c->trials_n; i++)
        if (c->trials[i].cell_id == cell && c->trials[i].number == number) {
            assert_null(found); /* stored once */
            found = &c->trials[i];
        }
    return found;
}

size_t with_status(const struct contents *c, enum as_cell_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < c->cells_n; i++)
        n += c->cells[i].status == status;
    return n;
}

const struct as_cell *cell_of_size(const struct contents *c, uint64_t size)
{
    for (size_t i = 0; i < c->cells_n; i++)
        if (as_axes_u64(&c->cells[i].axes, "size") == size)
            return &c->cells[i];
    fail_msg("no cell of %llu bytes", (unsigned long long)size);
    return NULL;
}
