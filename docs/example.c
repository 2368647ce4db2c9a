/* Measures one probe and prints its cells: cc example.c $(pkg-config --cflags --libs assay)
 * Usage: example STORE [PROBE [DEVICE [AXIS=VALUES]...]] */
#include <assay.h>

#include <stdio.h>

static int print_cell(void *user, const struct assay_cell *cell)
{
    FILE *out = user;
    fprintf(out, "%s %s", cell->device, cell->probe);
    for (size_t i = 0; i < cell->axes_n; i++)
        fprintf(out, " %s=%s", cell->axes[i].name, cell->axes[i].text);
    if (cell->n > 0)
        fprintf(out, ": %.4g %s, 95%% interval %.4g to %.4g, %zu samples, %s\n", cell->median, cell->unit, cell->ci_low,
                cell->ci_high, cell->n, cell->status);
    else
        fprintf(out, ": %s: %s\n", cell->status, cell->reason);
    return 0; /* not 0 ends the run, which can be resumed */
}

int main(int argc, char **argv)
{
    struct assay_error error;
    struct assay_store *store;
    struct assay_options options = {.size = sizeof options};
    int64_t run;
    if (argc < 2) {
        fprintf(stderr, "usage: example STORE [PROBE [DEVICE [AXIS=VALUES]...]]\n");
        return 2;
    }
    if (argc > 3)
        options.devices = argv[3];
    if (argc > 4)
        options.sets = (const char *const *)argv + 4; /* argv ends with NULL */
    if (assay_store_open(argv[1], &store, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    int code = assay_run(store, argc > 2 ? argv[2] : "latency", &options, print_cell, stdout, &run, &error);
    if (code)
        fprintf(stderr, "%s\n", error.text);
    else
        printf("run %lld is in %s\n", (long long)run, argv[1]);
    assay_store_close(store);
    return code ? 1 : 0;
}
