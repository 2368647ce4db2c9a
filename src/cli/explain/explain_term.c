/* Explains what the data sheet and the messages name: quantities, words of the documents, values of axes. */
#include "cli/explain/explain.h"

#include "base/text.h"
#include "quantity/quantity.h"
#include "report/terminal/terminal.h"

#include <string.h>
#include <strings.h>

static const struct term {
    const char *name, *also; /* also: NULL for none */
    const char *text;
} terms[] = {
    {"cell", "measurement", "one point of a probe's axes on one device, with one result"},
    {"trial", NULL,
     "one stay at a measurement: prepare, warm up, sample, check; a measurement has several, spread over the run"},
    {"sample", NULL, "one timed repetition inside a trial"},
    {"round", NULL, "one pass over the measurements, with one trial each, in a new random order"},
    {"sentinel", "reference measurement",
     "a small measurement repeated throughout the run, to detect slow episodes of the machine; it is no result"},
    {"reference loop", NULL,
     "a fixed amount of work before and after each sample on a host core: it gives the core's clock and detects "
     "contention"},
    {"gate", NULL, "a named check whether a number can be right; 'assay list gates' lists them"},
    {"fact", NULL, "a sentence about the machine, derived by a rule from measurements; 'assay facts' lists them"},
    {"precision", NULL, "requested width of the 95% interval, relative to the median"},
    {"ok", NULL, "status: the interval is as narrow as requested, and no gate failed"},
    {"wide", "imprecise",
     "status, '~' in tables: the number is valid, but its 95% interval is wider than requested. Causes are time, "
     "contention, "
     "clock, drift, placement and modes: 'assay explain CELL' names them for one measurement, 'assay doctor' for the "
     "machine"},
    {"rejected", NULL, "status: a gate failed, so the number is kept but not used"},
    {"unsupported", NULL, "status: this machine, device or driver cannot do it, for the reason given"},
    {"failed", NULL, "status: a call or a check failed in every trial"},
    {"crashed", NULL, "status: the process that measured ended by a signal; the run went on with another"},
    {"timeout", NULL, "status: a trial took longer than its limit, and its process was ended"},
    {"skipped", NULL, "status: planned, but left out by the budget or because its device was lost"},
    {"planned", NULL, "status: the run has not come to it, or was interrupted before"},
    {"inconclusive", "undecided", /* words: ok */
     "the 95% interval allows more than one answer; more trials or runs would decide"},
    {"unsteady", NULL, "the number lies outside the intervals of recent runs of the same build on this machine"},
    {"too noisy", NULL, "the ends of the 95% interval are more than a factor of ten apart"},
    {"another run", NULL, "where 95% of further runs of this machine lie, if they are as precise"},
};

static void term_add_line(struct as_buf *out, const char *name, const char *text, const struct as_table_style *style)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "%s: %s.", name, text);
    as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    out->failed |= line.failed;
    as_buf_finish(&line);
}

static bool explain_of_terms(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (strcasecmp(terms[i].name, name) == 0 || (terms[i].also && strcasecmp(terms[i].also, name) == 0)) {
            term_add_line(out, name, terms[i].text, style);
            return true;
        }
    return false;
}

/* By name, group, level, label, or group and label. */
static bool is_quantity_meant(const struct as_quantity *q, const char *name)
{
    return as_quantity_is_called(q, name) || strcasecmp(q->group, name) == 0 || strcasecmp(q->level, name) == 0;
}

/* The sides that read the number from there, as one of sources after it may too. */
static enum as_side side_of(const struct as_quantity_source *source)
{
    enum as_side side = source->side;
    for (const struct as_quantity_source *s = source + 1; s->from; s++)
        if (strcmp(s->from, source->from) == 0 && s->side != side)
            side = AS_SIDE_BOTH;
    return side;
}

static bool is_named_before(const struct as_quantity *q, const struct as_quantity_source *source)
{
    for (const struct as_quantity_source *s = q->sources; s != source; s++)
        if (strcmp(s->from, source->from) == 0)
            return true;
    return false;
}

/* "L2 latency (L2.latency), from 'onchip.L2.latency' on GPUs, or 'cache.L2.latency'" */
static void explain_sources(const struct as_quantity *q, struct as_buf *line)
{
    static const char *const sides[] = {[AS_SIDE_BOTH] = "", [AS_SIDE_CPU] = " on CPUs", [AS_SIDE_DEVICE] = " on GPUs"};
    const struct as_quantity_subject any = {.device = ""};
    char label[64];
    as_quantity_expand(&any, q->label, label, sizeof label);
    as_buf_printf(line, "%s %s (%s), from ", q->group, label, q->name);
    for (const struct as_quantity_source *s = q->sources; s->from; s++)
        if (!is_named_before(q, s))
            as_buf_printf(line, "%s'%s'%s", s == q->sources ? "" : ", or ", s->from, sides[side_of(s)]);
}

/* Those that are meant; of several, their names take the reader to their history. */
static bool explain_quantities(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_quantity *line = NULL;
    size_t n = 0, lines = 0;
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        struct as_buf text = AS_BUF_INIT;
        if (!is_quantity_meant(q, name))
            continue;
        explain_sources(q, &text);
        as_text_fill(out, as_buf_get(&text), style->width, 2, 0);
        out->failed |= text.failed;
        as_buf_finish(&text);
        n++;
        if (!q->beside) { /* history has lines of the data sheet only */
            lines++;
            line = q;
        }
    }
    if (lines == 1)
        as_buf_printf(out, "\nIts values over the runs of this machine: assay history %s\n", line->name);
    else if (lines)
        as_buf_str(out,
                   "\nTheir values over the runs of this machine: assay history NAME, with a name in parentheses\n");
    return n;
}

/* "triad: op of the probe 'bandwidth': assay explain bandwidth" */
static bool explain_value(const char *name, struct as_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; as_probes[i]; i++)
        for (const struct as_axis *a = as_probes[i]->axes; !as_probes[i]->hidden && a->name; a++)
            for (size_t w = 0; a->words && a->words[w]; w++)
                if (strcmp(a->words[w], name) == 0) {
                    as_buf_printf(out, "%s: %s of the probe '%s': assay explain %s\n", name, a->name,
                                  as_probes[i]->name, as_probes[i]->name);
                    n++;
                }
    return n;
}

bool as_explain_term(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    return explain_of_terms(name, style, out) || explain_quantities(name, style, out) || explain_value(name, out);
}

size_t as_explain_terms(const char **names, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms && n < most; i++)
        names[n++] = terms[i].name;
    for (const struct as_quantity *q = as_quantities; q->name && n + 3 <= most; q++) {
        names[n++] = q->name;
        names[n++] = q->group;
        names[n++] = q->level;
    }
    for (size_t i = 0; as_probes[i]; i++)
        for (const struct as_axis *a = as_probes[i]->axes; !as_probes[i]->hidden && a->name; a++)
            for (size_t w = 0; a->words && a->words[w] && n < most; w++)
                names[n++] = a->words[w];
    return n;
}
