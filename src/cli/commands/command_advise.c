/* assay advise: how to port to shared memory on this machine */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/lookup.h"
#include "model/number.h"
#include "report/model/load.h"
#include "report/model/same_hardware.h"
#include "report/terminal/terminal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void print_line(const char *text, unsigned margin, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf safe = AS_BUF_INIT;
    as_buf_terminal(&safe, text);
    as_buf_repeat(out, ' ', margin);
    as_text_fill(out, as_buf_get(&safe), style->width, margin + 2, margin);
    as_buf_finish(&safe);
}

static void print_numbers(const struct as_advice *a, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < a->numbers_n; i++) {
        const struct as_advice_number *number = &a->numbers[i];
        as_buf_clear(&line);
        as_buf_printf(&line, "cell %lld: %s: ", (long long)number->cell, number->what);
        as_number_prose(
            &(struct as_number){
                .value = number->value, .ci = number->ci, .unit = number->unit, .trials = number->trials},
            "", "", &line);
        print_line(as_buf_get(&line), 4, style, out);
    }
    as_buf_finish(&line);
}

static void say_first(const struct as_advice *a, char out[sizeof a->sentence])
{
    const size_t n = as_advice_first_statement(a);
    snprintf(out, sizeof a->sentence, "%.*s%s", (int)n, a->sentence, a->sentence[n] ? " ..." : "");
}

/* What to do; whole: also why, with all measurements. */
static void print_advice(const struct as_advice *a, bool whole, const struct as_table_style *style, struct as_buf *out)
{
    const enum as_paint paint = a->warning ? AS_PAINT_BAD : a->known ? AS_PAINT_NONE : AS_PAINT_DIM;
    char first[sizeof a->sentence];
    say_first(a, first);
    as_buf_char(out, '\n');
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_buf_terminal(out, a->device);
    as_buf_printf(out, " %s", a->topic);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_printf(out, ": %s\n", a->question);
    as_paint_on(out, paint, style);
    print_line(whole ? a->sentence : first, 2, style, out);
    as_paint_off(out, paint, style);
    if (whole)
        print_numbers(a, style, out);
    if (a->command[0])
        print_line(a->command, 4, style, out);
}

/* Does it say what to do? Of devices that are the same hardware behind several APIs, one answers. */
static bool is_answer(const struct as_report_run *run, const struct as_advice *a)
{
    char said[sizeof a->sentence];
    say_first(a, said);
    return a->known && !as_hardware_representative_id(run, a->device) && !strstr(said, "inconclusive");
}

static void print_further(size_t n, const char *what, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "%zu %s", n, what);
    as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
    as_buf_finish(&line);
}

/* What to do, the largest effects first. */
static void print_brief(const struct as_report_run *run, const struct as_table_style *style, struct as_buf *out)
{
    size_t known = 0, shown = 0;
    for (size_t i = 0; i < run->advice_n; i++)
        known += run->advice[i].known;
    as_buf_printf(out, "Run %lld: %zu of %zu questions answered\n", (long long)run->run.id, known, run->advice_n);
    for (size_t i = 0; i < run->advice_n && shown < AS_ADVICE_SHOWN; i++)
        if (is_answer(run, &run->advice[i])) {
            print_advice(&run->advice[i], false, style, out);
            shown++;
        }
    as_buf_char(out, '\n');
    if (known) {
        struct as_buf line = AS_BUF_INIT;
        as_buf_printf(&line, "For reasons and measurements: assay advise TOPIC, such as '%s'", run->advice[0].topic);
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
        as_buf_finish(&line);
    }
    if (known > shown)
        print_further(known - shown,
                      "more (smaller effects, inconclusive, or the same device under another API): assay advise --all",
                      style, out);
    if (known < run->advice_n)
        print_further(
            run->advice_n - known,
            run->advice_n - known == 1
                ? "question lacks measurements; 'assay advise --all' prints the command"
                : "questions lack measurements ('assay run upm apps' makes most of them); 'assay advise --all' has "
                  "the commands",
            style, out);
}

static void print_whole(const struct as_report_run *run, const char *topic, const struct as_table_style *style,
                        struct as_buf *out)
{
    as_buf_printf(out, "Run %lld\n", (long long)run->run.id);
    for (size_t i = 0; i < run->advice_n; i++)
        if (!topic || strcmp(run->advice[i].topic, topic) == 0)
            print_advice(&run->advice[i], true, style, out);
}

static enum as_status check_topic(const struct as_report_run *run, const char *topic, struct as_error *err)
{
    enum { TOPICS_MAX = 64 };
    const char *names[TOPICS_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < run->advice_n; i++) {
        if (strcmp(run->advice[i].topic, topic) == 0)
            return AS_OK;
        if (n < TOPICS_MAX)
            names[n++] = run->advice[i].topic;
    }
    names[n] = NULL;
    const char *near = as_nearest(topic, names);
    return as_fail(err, AS_NOTFOUND, "there is no topic '%s' in the advice on run %lld%s%s%s", topic,
                   (long long)run->run.id, near ? "; did you mean '" : "; 'assay advise --all' lists the topics",
                   near ? near : "", near ? "'?" : "");
}

/* "[RUN] [TOPIC]": a single word that names no run is a topic, of the run that is taken without one. */
static enum as_status load_advice(struct as_store *store, const struct as_args *args, const char **topic,
                                  struct as_report_run *run, struct as_error *err)
{
    const char *name = as_args_word(args, 0);
    struct as_run_name taken;
    *topic = as_args_word(args, 1);
    enum as_status st = name ? as_report_load(store, name, run, err) : AS_NOTFOUND;
    if (st != AS_NOTFOUND || *topic)
        return st;
    const struct as_error why = *err;
    if (!(st = as_default_run(store, NULL, &taken, err)))
        st = as_report_load(store, taken.text, run, err);
    *topic = name;
    if (st || !name || !check_topic(run, name, err))
        return st;
    if (!isalpha((unsigned char)name[0])) {
        *err = why;
        return AS_NOTFOUND;
    }
    *err = why;
    as_hint_probe(name, err);
    return strcmp(err->text, why.text) != 0 ? AS_NOTFOUND : check_topic(run, name, err);
}

static int run_advise(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_report_run run = {0};
    struct as_store *store = NULL;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    const char *topic = NULL;
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_READ, &store, &err);
    if (!st)
        st = load_advice(store, args, &topic, &run, &err);
    if (!st && topic)
        st = check_topic(&run, topic, &err);
    if (!st && topic && as_args_flag(args, "json"))
        st = as_fail(&err, AS_USAGE, "--json prints all topics: leave out '%s'", topic);
    if (!st && as_args_flag(args, "json")) {
        as_buf_printf(&out, "{\"run\":%lld,\"advice\":", (long long)run.run.id);
        as_advice_to_json(run.advice, run.advice_n, &out);
        as_buf_str(&out, "}\n");
    } else if (!st && (topic || as_args_flag(args, "all")))
        print_whole(&run, topic, &style, &out);
    else if (!st)
        print_brief(&run, &style, &out);
    as_report_run_finish(&run);
    as_store_close(store);
    return st ? as_cli_misuse(command, &err) : as_cli_print_text(&out, AS_EXIT_OK);
}

static const struct as_option advise_options[] = {
    {"all", 'a', NULL, "all questions, with full answers", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_advise = {
    .name = "advise",
    .args = "[RUN] [TOPIC]",
    .summary = "advice for porting to memory that CPU and device share, with the evidence",
    .about = "Which allocator to choose for memory used mostly by the device, mostly by the CPU, by both, or only "
             "briefly; who "
             "should touch memory first; whether to remove explicit copies; whether CPU and device may update "
             "the same counter. Gives a short answer per question, the largest effects first, ten unless --all is "
             "given. With a TOPIC, such as 'shared', or --all: the full answers, with the measurements they rest on; "
             "'assay explain CELL' shows one. "
             "If valid measurements are missing, --all names the command that measures them. Advice rests on one run; "
             "'assay run upm apps' makes most of these measurements.",
    .example = "assay run upm apps && assay advise\nassay advise shared\nassay advise 3 --json",
    .options = advise_options,
    .max_args = 2,
    .run = run_advise,
};
