/* Output of 'assay check': text, JSON, JUnit, Markdown and Prometheus text. */
#ifndef AS_CLI_CHECK_OUTPUT_H
#define AS_CLI_CHECK_OUTPUT_H

#include "base/buf.h"
#include "cli/compare/check_repeats.h"
#include "report/report.h"
#include "report/sheet/sheet_check.h"

struct as_checked {
    struct as_machine_sheet *base, *now;
    const char *const *base_names; /* as the user gave them; or the policy's */
    size_t base_names_n;
    double tolerance;   /* fraction */
    bool allow_missing; /* missing lines do not fail the check, except those of a lost GPU */
    struct as_check check;
    struct as_repeats repeats; /* of checked runs; once merged, the last of the runs of `now` */
    char not_again[400];       /* why what looks worse was not measured again; "" it was, or nothing looked worse */
};
/* Does this missing line fail the check? How many do? */
bool as_check_fails_missing(const struct as_checked *c, const struct as_check_line *line);
size_t as_check_missing_failures(const struct as_checked *c);
/* Lines that are worse, without those of a policy that only warn. */
size_t as_check_failures(const struct as_checked *c);
/* "fail"; "incomplete": missing lines alone fail the check; "unconfirmed": what looks worse in one run does not; "pass"
 */
const char *as_check_word(const struct as_checked *c);
/* "worse: 2 of 27 lines by more than 5%": the verdict of the machine in one line. */
void as_check_verdict_text(const struct as_checked *c, struct as_buf *out);
enum as_status as_check_text(const struct as_checked *c, const struct as_table_style *style, struct as_buf *out,
                             struct as_error *err);
/* One object per line, then a summary. */
void as_check_json(const struct as_checked *c, struct as_buf *out);
/* One test case per line: worse fails; missing is an error, or skipped where allowed; new is skipped;
 * the rest pass. */
void as_check_junit(const struct as_checked *c, struct as_buf *out);
/* Its suite alone, which stands between head and tail. */
void as_check_junit_suite(const struct as_checked *c, const char *name, struct as_buf *out);
#define AS_CHECK_JUNIT_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
#define AS_CHECK_JUNIT_TAIL "</testsuites>\n"
/* GitHub-flavoured Markdown, for $GITHUB_STEP_SUMMARY. */
void as_check_markdown(const struct as_checked *c, struct as_buf *out);
/* Prometheus text, for node_exporter: the verdict, and each line's ratio and number. */
void as_check_prometheus(const struct as_checked *c, struct as_buf *out);
/* The same of several nodes. */
struct as_check_metrics {
    struct as_buf verdicts, ratios, values; /* owned */
};
void as_check_metrics_add(struct as_check_metrics *m, const char *node, const struct as_checked *c);
/* The verdict of a node without data. */
void as_check_metrics_verdict(struct as_check_metrics *m, const char *node, const char *verdict);
/* Empties m. */
void as_check_metrics_write(struct as_check_metrics *m, struct as_buf *out);
/* Parts of them. The row of the base, or the checked one where there is none. */
const struct as_sheet_row *as_check_row_of(const struct as_check_line *line);
void as_check_number(const struct as_number *n, bool unicode, struct as_buf *out); /* "27.3 ns ±1.1%" */
void as_check_ratio(const struct as_check_line *line, struct as_buf *out); /* "0.912x (0.905 to 0.919x)"; or empty */
void as_check_name_bases(const struct as_checked *c, struct as_buf *out);

#endif
