/* What 'assay check' writes: for people, for programs, for CI. */
#ifndef AS_CLI_CHECK_OUTPUT_H
#define AS_CLI_CHECK_OUTPUT_H

#include "base/buf.h"
#include "report/report.h"
#include "report/sheet_check.h"

struct as_checked {
    const struct as_machine_sheet *base, *now;
    const char *const *base_names; /* as the user gave them */
    size_t base_names_n;
    double tolerance;   /* fraction */
    bool allow_missing; /* lines of the base that the checked machine lacks are no failure */
    struct as_check check;
};
/* Does the checked machine lack a line of the base, and is that a failure? */
bool as_check_is_incomplete(const struct as_checked *c);
/* "worse: 2 of 27 lines by more than 5%": the verdict of the machine in one line. */
void as_check_verdict_text(const struct as_checked *c, struct as_buf *out);
enum as_status as_check_text(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err);
/* A line each, then a summary. */
void as_check_json(const struct as_checked *c, struct as_buf *out);
/* One test case per line: worse fails; missing is an error unless it is allowed, then skipped; new is skipped;
 * the rest pass. */
void as_check_junit(const struct as_checked *c, struct as_buf *out);
/* GitHub-flavoured Markdown, for $GITHUB_STEP_SUMMARY. */
void as_check_markdown(const struct as_checked *c, struct as_buf *out);

#endif
