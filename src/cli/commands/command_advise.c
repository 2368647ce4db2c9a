/* assay advise: how to port to shared memory on this machine */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/lookup.h"
#include "report/model/load.h"
#include "report/terminal/terminal.h"

static void print_line(const char *text, unsigned margin, const struct as_table_style *style, struct as_buf *out)
{
    struct as_buf safe = AS_BUF_INIT;
    as_buf_terminal(&safe, text);
    as_buf_repeat(out, ' ', margin);
    as_text_fill(out, as_buf_get(&safe), style->width, margin + 2, margin);
    as_buf_finish(&safe);
}

static void print_numbers(const struct as_advice *a, size_t most, const struct as_table_style *style,
                          struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < a->numbers_n && i < most; i++) {
        const struct as_advice_number *number = &a->numbers[i];
        as_buf_clear(&line);
        as_buf_printf(&line, "cell %lld: %s: ", (long long)number->cell, number->what);
        as_format_with_interval(&line, number->value, number->ci, number->unit);
        print_line(as_buf_get(&line), 4, style, out);
    }
    if (a->numbers_n > most) {
        as_buf_clear(&line);
        as_buf_printf(&line, "and %zu more: assay advise --all", a->numbers_n - most);
        print_line(as_buf_get(&line), 4, style, out);
    }
    as_buf_finish(&line);
}

static void print_advice(const struct as_advice *a, bool all, const struct as_table_style *style, struct as_buf *out)
{
    enum { NUMBERS_MAX = 4 };
    const enum as_paint paint = a->warning ? AS_PAINT_BAD : a->known ? AS_PAINT_NONE : AS_PAINT_DIM;
    as_buf_char(out, '\n');
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_buf_terminal(out, a->device);
    as_buf_printf(out, " %s", a->topic);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_buf_printf(out, ": %s\n", a->question);
    as_paint_on(out, paint, style);
    print_line(a->sentence, 2, style, out);
    as_paint_off(out, paint, style);
    print_numbers(a, all ? a->numbers_n : NUMBERS_MAX, style, out);
    if (a->command[0])
        print_line(a->command, 4, style, out);
}

/* Those that are known come first; what the others lack is for those who ask. */
static void print_all(const struct as_report_run *run, bool all, const struct as_table_style *style, struct as_buf *out)
{
    size_t known = 0;
    for (size_t i = 0; i < run->advice_n; i++)
        known += run->advice[i].known;
    as_buf_printf(out, "Run %lld: %zu of %zu questions answered\n", (long long)run->run.id, known, run->advice_n);
    for (size_t i = 0; i < run->advice_n; i++)
        if (all || (i < AS_ADVICE_SHOWN && (run->advice[i].known || !known)))
            print_advice(&run->advice[i], all, style, out);
    if (!all && known > AS_ADVICE_SHOWN)
        as_buf_printf(out, "\n%zu more with smaller effects: assay advise --all\n", known - AS_ADVICE_SHOWN);
    if (!all && known && known < run->advice_n) {
        struct as_buf line = AS_BUF_INIT;
        as_buf_printf(&line,
                      "%zu question%s need%s more measurements, most of which 'assay run upm apps' makes: assay "
                      "advise --all",
                      run->advice_n - known, run->advice_n - known == 1 ? "" : "s",
                      run->advice_n - known == 1 ? "s" : "");
        as_buf_char(out, '\n');
        as_text_fill(out, as_buf_get(&line), style->width, 0, 0);
        as_buf_finish(&line);
    }
}

static int run_advise(const struct as_command *command, const struct as_args *args)
{
    struct as_table_style style;
    struct as_report_run run = {0};
    struct as_store *store = NULL;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    const char *name = as_args_word(args, 0);
    enum as_status st = as_cli_style(args, &style, &err);
    if (!st)
        st = as_cli_store(args, AS_STORE_READ, &store, &err);
    struct as_run_name taken;
    if (!st && !name && !(st = as_default_run(store, NULL, &taken, &err)))
        name = taken.text;
    if (!st && (st = as_report_load(store, name, &run, &err)) && as_args_word(args, 0))
        as_hint_probe(name, &err);
    if (!st && as_args_flag(args, "json")) {
        as_buf_printf(&out, "{\"run\":%lld,\"advice\":", (long long)run.run.id);
        as_advice_to_json(run.advice, run.advice_n, &out);
        as_buf_str(&out, "}\n");
    } else if (!st) {
        const bool all = as_args_flag(args, "all");
        print_all(&run, all, &style, &out);
    }
    as_report_run_finish(&run);
    as_store_close(store);
    return st ? as_cli_misuse(command, &err) : as_cli_print_text(&out, AS_EXIT_OK);
}

static const struct as_option advise_options[] = {
    {"all", 'a', NULL, "all questions, each with all of its measurements", false},
    AS_OPTION_COLOUR,
    AS_OPTION_JSON,
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_advise = {
    .name = "advise",
    .args = "[RUN]",
    .summary = "advice for porting to memory that CPU and device share, with the evidence",
    .about = "Which allocator to choose for memory used mostly by the device, mostly by the CPU, by both, or only "
             "briefly; who "
             "should touch memory first; whether to remove explicit copies; whether CPU and device may update "
             "the same counter. Answers with the largest effect come first, ten unless --all is given. Each answer "
             "lists its "
             "evidence, the measurements it rests on; 'assay explain CELL' shows one. "
             "If valid measurements are missing, --all names the command that measures them. Advice rests on one run; "
             "'assay run upm apps' takes most of these measurements.",
    .example = "assay run upm apps && assay advise\nassay advise 3 --json",
    .options = advise_options,
    .max_args = 1,
    .run = run_advise,
};
