/* make_page SCENARIO OUT.html: writes the page of a synthetic run, for the browser test and for viewing. */
#include "synth.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct as_error err = {0};
    struct as_buf out = AS_BUF_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: make_page SCENARIO OUT.html\n");
        return 2;
    }
    struct synth *s = synth_make(argv[1]);
    if (!s) {
        fprintf(stderr, "no scenario \"%s\"\n", argv[1]);
        return 2;
    }
    enum as_status st = as_report_html(s->runs, s->n, &out, &err);
    if (st == AS_OK)
        st = as_write_file(argv[2], as_buf_get(&out), out.len, &err);
    if (st != AS_OK)
        fprintf(stderr, "%s\n", err.text);
    as_buf_finish(&out);
    synth_free(s);
    return st != AS_OK;
}
