/* Data sheets from files: read or refused with a reason, and accepted ones can be checked and shown, escaped. */
#include "cli/compare/check_output.h"
#include "fuzz.h"

static void check_plain(const struct as_buf *b, int newlines)
{
    for (const char *p = as_buf_get(b); *p; p++)
        fuzz_require((unsigned char)*p >= ' ' || (newlines && *p == '\n'), "a control character in the output");
}

static void check_outputs(const struct as_checked *c)
{
    static const struct as_table_style style = {.width = 80};
    struct as_buf out = AS_BUF_INIT;
    fuzz_require(as_check_text(c, &style, &out, NULL) == AS_OK, "a check that cannot be shown");
    check_plain(&out, 1);
    as_buf_clear(&out);
    as_check_json(c, &out);
    as_check_junit(c, &out);
    as_check_markdown(c, &out);
    fuzz_require(!out.failed && !strstr(as_buf_get(&out), "<script"), "markup of the file in the output");
    as_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    const char *const names[] = {"fuzz"};
    struct as_machine_sheet a, b;
    struct as_error err = {0};
    enum as_status st = as_machine_sheet_read(text, size, &a, &err);
    fuzz_require(st == AS_OK || (err.text[0] && err.code == st && !a.v && !a.n), "refused without a reason");
    if (!st && !as_machine_sheet_read(text, size, &b, &err)) {
        struct as_checked c = {.base = &a, .now = &b, .base_names = names, .base_names_n = 1, .tolerance = 0.05};
        b.run[0][0] = 0; /* another run of the same numbers */
        fuzz_require(as_sheet_check(&a, &b, c.tolerance, &c.check, &err) == AS_OK, "a check that fails");
        check_outputs(&c);
        as_check_finish(&c.check);
        fuzz_require(as_machine_sheet_merge(&b, &a, &err) == AS_OK && b.runs == 2, "runs that cannot be joined");
        as_machine_sheet_finish(&b);
    }
    as_machine_sheet_finish(&a);
    free(text);
    return 0;
}
