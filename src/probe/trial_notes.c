/* Notes of a trial, and the instructions expected in its machine code. */
#include "base/text.h"
#include "device/machine_code.h"
#include "model/bins.h"
#include "probe/probe.h"

#include <math.h>

bool as_check_no_memory(char *why, size_t size)
{
    struct as_error err = {0};
    as_nomem(&err, 0, "the check");
    as_copy_text(why, size, err.text);
    return false;
}

void as_note(struct as_trial_context *tc, const char *name, const char *text)
{
    as_buf_str(&tc->detail, tc->detail.len ? "," : "{");
    as_buf_json_str(&tc->detail, name);
    as_buf_char(&tc->detail, ':');
    as_buf_json_str(&tc->detail, text);
}

void as_note_number(struct as_trial_context *tc, const char *name, double value)
{
    as_buf_str(&tc->detail, tc->detail.len ? "," : "{");
    as_buf_json_str(&tc->detail, name);
    if (isfinite(value))
        as_buf_printf(&tc->detail, ":%.17g", value);
    else
        as_buf_str(&tc->detail, ":null");
}

void as_note_bins(struct as_trial_context *tc, const double *values, size_t n)
{
    struct as_bins bins = {.count = {0}};
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < n; i++)
        as_bins_add(&bins, values[i]);
    as_bins_write(&bins, &text);
    as_note(tc, AS_BINS_NOTE, as_buf_get(&text));
    tc->detail.failed |= text.failed;
    as_buf_finish(&text);
}

static void note_count(struct as_trial_context *tc, const char *operation, uint64_t n)
{
    char name[40];
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "code_%s", operation);
    as_copy_text(name, sizeof name, as_buf_get(&b));
    as_buf_finish(&b);
    for (char *s = name; *s; s++)
        *s = *s == '.' ? '_' : *s;
    as_note_number(tc, name, (double)n);
}

/* The worst state wins (n/a, pass, fail); texts of equal states are joined. */
void as_judge_code(struct as_trial_context *tc, enum as_gate_state state, const char *text)
{
    struct as_buf b = AS_BUF_INIT;
    if (state == tc->code && state != AS_GATE_NA)
        as_buf_printf(&b, "%s; ", tc->code_text);
    as_buf_str(&b, text);
    if (state >= tc->code)
        as_copy_text(tc->code_text, sizeof tc->code_text, as_buf_get(&b));
    tc->code = state >= tc->code ? state : tc->code;
    as_buf_finish(&b);
}

/* A compiler may remove a loop; the cell would then measure something else. */
void as_expect_code(struct as_trial_context *tc, struct as_kernel *kernel, const char *operation, uint64_t at_least)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_error err = {0};
    uint64_t n = 0;
    enum as_gate_state state = AS_GATE_NA;
    if (as_kernel_count(tc->dev, kernel, operation, &n, &err))
        as_buf_str(&text, err.text);
    else {
        state = n >= at_least ? AS_GATE_PASS : AS_GATE_FAIL;
        as_buf_printf(&text, "%llu %s in the machine code, at least %llu wanted", (unsigned long long)n, operation,
                      (unsigned long long)at_least);
        note_count(tc, operation, n);
    }
    as_judge_code(tc, state, as_buf_get(&text));
    as_buf_finish(&text);
}

void as_host_part(struct as_trial_context *tc)
{
    tc->host_work = true;
}
