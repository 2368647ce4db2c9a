/* Published figures: read or refused with a reason, and what was accepted can be shown. */
#include "facts/refs_facts.h"
#include "fuzz.h"

#include <math.h>
#include <string.h>

static void check_ref(const struct as_ref *r)
{
    struct as_buf text = AS_BUF_INIT;
    fuzz_require(isfinite(r->lo) && isfinite(r->hi) && r->lo <= r->hi, "a figure that is no number or range");
    fuzz_require(r->metric[0] && r->unit[0] && r->source[0] && r->conditions[0],
                 "a figure that does not say what it is");
    as_ref_value(r, false, &text);
    fuzz_require(text.len > 0, "a figure without text");
    as_buf_clear(&text);
    as_ref_what(r, &text);
    fuzz_require(text.len >= strlen(r->metric), "a figure that does not say of what it is");
    as_buf_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct as_refs refs;
    struct as_error err = {0};
    struct as_fact fact = {.id = "memory.latency", .device = "cpu", .value = 1, .unit = "ns"};
    struct as_buf json = AS_BUF_INIT;
    enum as_status st = as_refs_parse("fuzz", text, size, &refs, &err);
    fuzz_require(st == AS_OK ? refs.n > 0 && refs.v : err.text[0] != 0 && err.code == st && !refs.v && refs.n == 0,
                 "refused without a reason");
    for (size_t i = 0; i < refs.n; i++)
        check_ref(&refs.v[i]);
    as_refs_to_json(&refs, &fact, 1, &json);
    as_buf_finish(&json);
    as_refs_finish(&refs);
    free(text);
    return 0;
}
