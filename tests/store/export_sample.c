/* Writes the export of a synthetic run with every kind of cell to stdout. */
#include "fixture.h"

int main(void)
{
    void *state;
    struct as_buf out = AS_BUF_INIT;
    struct as_run run;
    if (set_up(&state))
        return 1;
    struct fixture *f = state;
    enum as_status st = as_store_open(f->path, AS_STORE_WRITE, &f->store, &f->err);
    if (!st) {
        finished_run(f, 1);
        st = as_store_run(f->store, "last", &run, &f->err);
    }
    if (!st) {
        st = as_store_export_json(f->store, &run, &(struct as_sink){.out = &out}, &f->err);
        as_run_finish(&run);
    }
    if (!st)
        st = as_write_file("-", out.data, out.len, &f->err);
    if (st)
        fprintf(stderr, "%s\n", f->err.text);
    as_buf_finish(&out);
    tear_down(&state);
    return st != AS_OK;
}
