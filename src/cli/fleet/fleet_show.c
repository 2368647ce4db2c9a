/* assay fleet show, merge */
#include "base/text.h"
#include "cli/fleet/fleet_verbs.h"

#include <stdlib.h>

static const struct as_args_range deviation_range = {as_parse_percent, 0, 1, "0% to 100%"};
static const struct as_args_range fdr_range = {as_parse_percent, 1e-6, 0.5, "0.0001% to 50%"};
static const double usual_deviation = 0.01, usual_fdr = 0.005;

enum as_status as_fleet_read_words(const struct as_args *args, struct as_fleet *f, struct as_fleet_merged *merged,
                                   struct as_error *err)
{
    enum as_status st = AS_OK;
    if (args->words < 2)
        return as_fail(err, AS_USAGE, "name the files: stores of nodes, or sheets of 'assay export --format sheet'");
    for (size_t i = 1; i < args->words && !st; i++)
        st = as_fleet_read(f, args->word[i], merged, err);
    return st;
}

static enum as_status
write_option(const struct as_args *args, const char *option, const struct as_fleet *f, const struct as_fleet_judged *j,
             void (*write)(const struct as_fleet *, const struct as_fleet_judged *, struct as_buf *),
             struct as_error *err)
{
    const char *path = as_args_value(args, option);
    struct as_buf out = AS_BUF_INIT;
    if (!path)
        return AS_OK;
    write(f, j, &out);
    enum as_status st = as_buf_check(&out, err);
    if (!st)
        st = as_write_file(path, as_buf_get(&out), out.len, err);
    as_buf_finish(&out);
    return st;
}

static enum as_status write_page(const struct as_args *args, const struct as_fleet *f, const struct as_fleet_judged *j,
                                 struct as_error *err)
{
    const char *path = as_args_value(args, "page");
    struct as_buf out = AS_BUF_INIT;
    enum as_status st = path ? as_fleet_page(f, j, &out, err) : AS_OK;
    if (!st && path)
        st = as_write_file(path, as_buf_get(&out), out.len, err);
    as_buf_finish(&out);
    return st;
}

static enum as_status read_asked(const struct as_args *args, struct as_fleet_asked *asked, struct as_table_style *style,
                                 struct as_error *err)
{
    *asked = (struct as_fleet_asked){usual_deviation, usual_fdr};
    enum as_status st = as_args_number(args, "min-deviation", &deviation_range, &asked->ignored, err);
    if (!st)
        st = as_args_number(args, "fdr", &fdr_range, &asked->fdr, err);
    return st ? st : as_cli_style(args, style, err);
}

enum as_status as_fleet_show_check(const struct as_args *args, struct as_error *err)
{
    struct as_fleet_asked asked;
    struct as_table_style style;
    return read_asked(args, &asked, &style, err);
}

int as_fleet_show_nodes(const struct as_command *command, const struct as_args *args, struct as_fleet *f)
{
    struct as_fleet_judged j = {0};
    struct as_fleet_asked asked;
    struct as_table_style style;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    enum as_status st = read_asked(args, &asked, &style, &err);
    if (!st)
        st = as_fleet_use_links(f, &err);
    as_fleet_sort(f);
    if (!st)
        st = as_fleet_judge(f, &asked, &j, &err);
    if (!st && as_args_flag(args, "json"))
        as_fleet_json(f, &j, as_args_flag(args, "all"), &out);
    else if (!st)
        st = as_fleet_text(f, &j, as_args_flag(args, "all"), &style, &out, &err);
    if (!st)
        st = write_page(args, f, &j, &err);
    if (!st)
        st = write_option(args, "junit", f, &j, as_fleet_junit, &err);
    if (!st)
        st = write_option(args, "prometheus", f, &j, as_fleet_prometheus, &err);
    const int code = j.worse                             ? AS_EXIT_REGRESSION
                     : as_fleet_missing(f) == f->nodes_n ? AS_EXIT_FAILED
                     : as_fleet_missing(f)               ? AS_EXIT_PARTLY
                                                         : AS_EXIT_OK;
    as_fleet_judged_finish(&j);
    as_fleet_finish(f);
    if (!st)
        return as_args_flag(args, "json") ? as_cli_print(&out, code) : as_cli_print_text(&out, code);
    as_buf_finish(&out);
    return as_cli_misuse(command, &err);
}

int as_fleet_verb_show(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet f = {.for_page = as_args_value(args, "page") != NULL};
    struct as_error err = {0};
    if (as_args_value(args, "policy"))
        return as_fleet_show_policy(command, args);
    if (!as_fleet_read_words(args, &f, NULL, &err))
        return as_fleet_show_nodes(command, args, &f);
    as_fleet_finish(&f);
    return as_cli_misuse(command, &err);
}

static enum as_status merge_into(const struct as_args *args, struct as_fleet *f, struct as_fleet_merged *merged,
                                 struct as_error *err)
{
    struct as_buf links = AS_BUF_INIT;
    enum as_status st = as_fleet_read_words(args, f, merged, err);
    for (size_t i = 0; i < f->nodes_n && !st; i++)
        if (f->nodes[i].why[0])
            as_cli_note("%s: %s", f->nodes[i].source, f->nodes[i].why);
    if (!st && !merged->sheets)
        st = as_fail(err, AS_FAILED, "no file contains measurements");
    if (!st)
        st = as_fleet_links_write(&f->links, &links, err);
    if (!st)
        st = as_writer_add(&merged->file, as_buf_get(&links), links.len, err);
    as_buf_finish(&links);
    return st;
}

int as_fleet_verb_merge(const struct as_command *command, const struct as_args *args)
{
    struct as_fleet f = {0};
    struct as_fleet_merged merged = {.sheets = 0};
    struct as_error err = {0};
    const char *path = as_args_value(args, "output");
    enum as_status st = path ? AS_OK : as_fail(&err, AS_USAGE, "merge needs -o FILE");
    if (!st && !(st = as_writer_open(&merged.file, path, &err)))
        st = as_writer_close(&merged.file, merge_into(args, &f, &merged, &err), &err);
    if (!st)
        as_cli_note("wrote %s: %zu node%s", path, f.nodes_n, f.nodes_n == 1 ? "" : "s");
    const int code = as_fleet_missing(&f) ? AS_EXIT_PARTLY : AS_EXIT_OK;
    as_fleet_finish(&f);
    return st ? as_cli_misuse(command, &err) : code;
}
