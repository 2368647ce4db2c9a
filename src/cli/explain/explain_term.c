/* Explains what the data sheet and the messages name: quantities, words of the documents, values of axes. */
#include "cli/explain/explain.h"

#include "base/text.h"
#include "device/backend.h"
#include "device/info.h"
#include "quantity/quantity.h"
#include "report/terminal/terminal.h"

#include <ctype.h>
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
    {"imprecise", "wide",
     "status ('wide' in exports), '~' in tables: the number is valid, but its 95% interval is wider than requested. "
     "Causes are time, "
     "contention, "
     "clock, drift, placement and modes: 'assay explain CELL' names them for one measurement, 'assay doctor' for the "
     "machine"},
    {"rejected", NULL, "status: a gate failed, so the number is kept but not used"},
    {"unsupported", NULL, "status: this machine, device or driver cannot do it, for the reason given"},
    {"failed", NULL, "status: a call or a check failed in every trial"},
    {"crashed", NULL, "status: the process that measured ended by a signal; the run went on with another"},
    {"timeout", NULL, "status: a trial took longer than its limit, and its process was ended"},
    {"skipped", NULL, "status: planned, but left out by the budget or because its device was lost"},
    {"planned", "not measured", "status: the run has not come to it, or was interrupted before"},
    {"inconclusive", "undecided", /* words: ok */
     "the 95% interval allows more than one answer; more trials or runs would decide"},
    {"contended", NULL,
     "others used the core, the device or the memory in all trials, so that the number is a one-sided bound: 'at "
     "least' or 'at most'"},
    {"over", "under",
     "beside a ratio: the end of its wide 95% interval that is nearer to 1; the other end is not useful"},
    {"about", NULL,
     "beside a number: its interval is too wide to print, and it rests on at most three usable trials; 'explain CELL' "
     "lists them"},
    {"of trials", "disturbed",
     "the number rests on the undisturbed trials only: 'N of M trials' says how many; in the others something else "
     "used the CPU or the device"},
    {"at least", "at most",
     "beside a number: it may be better, since others disturbed all its trials ('contended'); of a fact: the best "
     "variant "
     "measured, where variants that may be better have no number"},
    {"not yet known", NULL, "too few trials or runs to say where another run of the machine would lie"},
    {"not in this suite", NULL, "the suite does not measure this line; others may: 'assay list suites'"},
    {"specified", NULL, "the figure of the vendor's data sheet; not measured"},
    {"modes", "mode", "a number that has two typical values, with the share of samples or runs at each"},
    {"supported", NULL, "verdict of a fact: its measurements agree with the sentence"},
    {"refuted", "not as expected", "verdict of a fact: its measurements contradict what is reported or expected"},
    {"running", NULL, "state of a run: it is being measured"},
    {"complete", NULL, "state of a run: it finished, or used up its budget"},
    {"interrupted", NULL, "state of a run: it was stopped before its end; 'assay resume' continues it"},
    {"pass", NULL, "of a gate: the check holds"},
    {"fail", NULL, "of a gate: the check does not hold, and the number is rejected"},
    {"n/a", NULL, "of a gate: it does not apply to this measurement"},
    {"same", NULL, "verdict of 'compare' and 'check': the 95% interval of the ratio lies within the tolerance"},
    {"faster", "slower", "verdict of 'compare': the ratio lies beyond the tolerance, with its confidence"},
    {"better", "worse",
     "verdict of 'check': the ratio lies beyond the tolerance, with the confidence of the whole check"},
    {"looks worse", NULL, "verdict of 'check': worse in one run only, or only in disturbed repeats; it does not fail"},
    {"not confirmed", NULL, "verdict of 'check': it looked worse, and measuring again did not show it"},
    {"missing", NULL, "verdict of 'check': only the base has a number for the line"},
    {"new", NULL, "verdict of 'check': only the checked machine has a number for the line"},
    {"met", "not met",
     "verdict of 'check' against a policy: the whole interval is on the required side of the bound, or on the other"},
    {"not met in one run", NULL,
     "verdict of 'check' against a policy: beyond the bound in one run only; it does not fail"},
    {"steady", NULL, "of a run in 'history': the line is what it was in the run before"},
    {"changed", NULL, "of a run in 'history': the line is at a different level from this run on"},
    {"outlier", NULL, "of a run in 'history': the line was at another level in this run only"},
    {"ridge", "ridge point",
     "operations per byte at which the compute ceiling meets a memory ceiling: below it memory limits, above it "
     "compute"},
    {"THP", "transparent huge pages",
     "whether Linux backs memory with huge pages by itself: 'always', 'madvise' (where a program asks for it) or "
     "'never'; the allocator 'thp' asks for it"},
    {"governor", NULL, "the policy by which Linux sets the CPU's clock, such as 'performance' or 'powersave'"},
    {"turbo", "boost",
     "a clock above the nominal one, as power and temperature allow; the line 'Clock core' is the clock while "
     "measuring"},
    {"power limit", NULL, "watts above which the GPU lowers its clock"},
    {"driver", NULL, "version of the device's driver, and of the API that it offers"},
    {"UVM", NULL, "NVIDIA's driver module for managed memory, on Linux"},
    {"vCPU", "vCPUs", "logical CPU of a virtual machine; the host decides when it runs on a core"},
    {"guest", "virtual machine",
     "the system runs on a hypervisor, whose other guests may use the same cores and caches"},
    {"L3 may be shared with other guests", NULL,
     "the hypervisor shows an L3 cache of the host, so that its lines depend on what other guests do"},
    {"no cycle counter", NULL,
     "no hardware counter of the core's cycles can be read, so that the reference loop gives the clock"},
    {"SM", "SMs", "compute unit of an NVIDIA GPU"},
    {"CU", "CUs", "compute unit of an AMD GPU, and of any OpenCL device"},
    {"NUMA node", "NUMA nodes", "CPUs and the memory that is nearest to them"},
    {"measured", NULL, "of a line of the data sheet: the median, with its 95% interval"},
    {"another run", NULL, "where a further run of the machine lies with a probability of 95%"},
    {"published", NULL, "what others measured on this chip; the source is named below the table"},
    {"VNNI", "AVX-VNNI",
     "vector instructions of x86 CPUs for products of 8-bit and 16-bit integers with 32-bit sums; "
     "the probes matmul, matmul_peak and numerics use them where the CPU has them"},
    {"AMX", NULL,
     "matrix instructions of Intel CPUs, on tiles; the probes matmul, matmul_peak and numerics use them "
     "where the CPU has them"},
    {"bank conflict", "bank conflicts",
     "threads of a warp that use different words of one bank of shared memory take turns; the axis 'stride' of the "
     "probe 'onchip_bandwidth' shows the cost"},
    {"MLC", NULL,
     "Intel's Memory Latency Checker; the probes latency, bandwidth, loaded_latency and c2c answer its questions"},
    {"unsteady", NULL, "the number lies outside the intervals of recent runs of the same build on this machine"},
    {"too noisy", NULL,
     "four or more trials, and the upper end of the 95% interval is more than 10 times the lower one (100 times for "
     "sizes in bytes)"},
    {"±", "+-", "the farther end of the 95% interval, relative to the number"},
    {"~", NULL, "beside an interval: it is wider than requested; 'assay explain imprecise' says why that may be"},
    {"one trial", NULL,
     "only one trial was undisturbed, so its interval is the typical one for such measurements; with '1 of 5 trials' "
     "it also covers the middle half of all samples"},
    {"seen once", NULL, "a fact of a single run; further runs show whether it is reproduced"},
    {"withdrawn", NULL, "a number that the running sheet showed, but that further trials do not support"},
    {"left out", "left out by the budget", "not measured, or not often enough, since the run's time was used up"},
    {"reported", NULL, "what the driver or the operating system says, or what follows from that; not measured"},
    {"share", "of spec", "the measured number relative to what is reported or specified"},
    {"by the neighbours' load", NULL,
     "other guests of the same host use the same cache, so the number depends on what they do"},
    {"bus bandwidth", NULL,
     "of a collective, as in nccl-tests: algorithm bandwidth times a factor per operation, comparable with one-way "
     "link "
     "bandwidth for any number of devices; in-network reduction can exceed it"},
    {"algorithm bandwidth", NULL, "of a collective, as in nccl-tests: the size divided by the time"},
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

/* "1 of 3 trials", with any numbers */
static bool is_of_trials(const char *name)
{
    const size_t n = strspn(name, "0123456789");
    const char *rest = name + n + (strncmp(name + n, " of ", 4) == 0 ? 4 : 0);
    return n && rest > name + n && strcmp(rest + strspn(rest, "0123456789"), " trials") == 0;
}

static bool explain_of_terms(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    const char *meant = is_of_trials(name) ? "of trials" : name;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++)
        if (strcasecmp(terms[i].name, meant) == 0 || (terms[i].also && strcasecmp(terms[i].also, meant) == 0)) {
            term_add_line(out, name, terms[i].text, style);
            return true;
        }
    return false;
}

/* The probe that measures what a source reads: of a fact, by its id, where no cells are named. NULL: none is built in.
 */
static const struct as_probe *probe_of_source(const struct as_quantity_source *source)
{
    static const struct {
        const char *subject, *probe;
    } of_facts[] = {{"cache", "latency"},
                    {"memory", "latency"},
                    {"listed", "latency"},
                    {"arithmetic", "roofline"},
                    {"clock", "roofline"}};
    char name[32];
    const char *from = source->cells ? source->cells : source->from;
    const size_t length = strcspn(from, " .");
    as_copy_text(name, length < sizeof name ? length + 1 : sizeof name, from);
    const struct as_probe *probe = as_probe_find(name);
    for (size_t i = 0; i < sizeof of_facts / sizeof *of_facts && !probe; i++)
        if (strncmp(from, of_facts[i].subject, strlen(of_facts[i].subject)) == 0)
            probe = as_probe_find(of_facts[i].probe);
    return probe;
}

/* The sides on which the probe measures the quantity. */
static enum as_side side_of(const struct as_quantity *q, const struct as_probe *probe)
{
    const struct as_quantity_source *first = NULL;
    for (const struct as_quantity_source *s = q->sources; s->from; s++) {
        if (probe_of_source(s) != probe)
            continue;
        if (first && s->side != first->side)
            return AS_SIDE_BOTH;
        first = first ? first : s;
    }
    return first ? first->side : AS_SIDE_BOTH;
}

static bool is_named_before(const struct as_quantity *q, const struct as_quantity_source *source)
{
    for (const struct as_quantity_source *s = q->sources; s != source; s++)
        if (probe_of_source(s) == probe_of_source(source))
            return true;
    return false;
}

/* "L2 latency (L2.latency), measured by the probes onchip on GPUs, and latency" */
static void explain_sources(const struct as_quantity *q, struct as_buf *line)
{
    static const char *const sides[] = {[AS_SIDE_BOTH] = "", [AS_SIDE_CPU] = " on CPUs", [AS_SIDE_DEVICE] = " on GPUs"};
    const struct as_quantity_subject any = {.device = ""};
    char label[64];
    bool first = true;
    as_quantity_expand(&any, q->label, label, sizeof label);
    as_buf_printf(line, "%s %s (%s)", q->group, label, q->name);
    for (const struct as_quantity_source *s = q->sources; s->from; s++) {
        const struct as_probe *probe = probe_of_source(s);
        if (!probe || is_named_before(q, s))
            continue;
        as_buf_printf(line, "%s%s%s", first ? ": probe " : ", or ", probe->name, sides[side_of(q, probe)]);
        first = false;
    }
}

static bool is_probe_of(const struct as_probe *probe, const char *name)
{
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *s = q->sources; s->from && as_quantity_is_meant(q, name); s++)
            if (probe_of_source(s) == probe)
                return true;
    return false;
}

/* What the probes of the quantities ask, each once. */
static void explain_methods(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    as_text_title(out, "How it is measured", style);
    for (size_t i = 0; as_probes[i]; i++) {
        if (!is_probe_of(as_probes[i], name))
            continue;
        struct as_buf line = AS_BUF_INIT;
        as_buf_printf(&line, "%s: %s Measures: %s. Method: assay explain %s", as_probes[i]->name,
                      as_probes[i]->question, as_probes[i]->counts, as_probes[i]->name);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
        out->failed |= line.failed;
        as_buf_finish(&line);
    }
}

/* Those that are meant; of several, their names take the reader to their history. */
static bool explain_quantities(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    const struct as_quantity *line = NULL;
    size_t n = 0, lines = 0;
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        struct as_buf text = AS_BUF_INIT;
        if (!as_quantity_is_meant(q, name))
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
    if (n)
        explain_methods(name, style, out);
    if (lines == 1)
        as_buf_printf(out, "\nIts values over the runs of this machine: assay history %s\n", line->name);
    else if (lines)
        as_buf_char(out, '\n');
    if (lines > 1)
        as_text_fill(out, "Values over the runs of this machine: assay history NAME (NAME as in parentheses above)",
                     style->width, 0, 0);
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

/* "thp: allocator of the backend cpu: memory of the process with transparent huge pages requested" */
static bool explain_memory(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    size_t n = 0;
    struct as_buf text = AS_BUF_INIT;
    if (as_role_find(name) != AS_ROLE_UNKNOWN) {
        as_buf_printf(&text, "kind of memory: %s; 'assay list roles' names the allocators",
                      as_role_help(as_role_find(name)));
        term_add_line(out, name, as_buf_get(&text), style);
        n++;
    }
    for (size_t b = 0; as_backends[b]; b++) {
        const enum as_role role = as_role_in(as_backends[b]->roles, name);
        if (role == AS_ROLE_UNKNOWN || as_backends[b]->on_request)
            continue;
        as_buf_clear(&text);
        as_buf_printf(&text, "allocator of the backend %s: %s", as_backends[b]->name, as_role_help(role));
        term_add_line(out, name, as_buf_get(&text), style);
        n++;
    }
    as_buf_finish(&text);
    return n;
}

/* ---- words of users ---- */

#define SYNONYM(word, meant) {word, meant},
static const struct {
    const char *word, *meant;
} synonyms[] = {
#include "report/page/synonyms.js"
};

/* Does text have a word that begins with the word's first letters, in any case? */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; *at; at++)
        if (strncasecmp(at, word, n) == 0 && (at == text || !isalnum((unsigned char)at[-1])))
            return true;
    return false;
}

static const char *other_name(const char *word)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcasecmp(synonyms[i].word, word) == 0)
            return synonyms[i].meant;
    return NULL;
}

static bool is_in(const char *const *texts, const char *word)
{
    const char *also = other_name(word);
    for (; *texts; texts++)
        if (has_word(*texts, word) || (also && has_word(*texts, also)))
            return true;
    return false;
}

/* How many of the words one of the texts has; words of no content do not count. */
static size_t count_words(const char *name, const char *const *texts, size_t *all)
{
    static const char *const void_words[] = {"of", "the", "a", "in", "per", "and", "for", "to", "core", "cores"};
    char copy[128], *rest = copy;
    size_t found = 0;
    *all = 0;
    as_copy_text(copy, sizeof copy, name);
    for (const char *word; (word = strsep(&rest, " ,;-"));) {
        bool counts = word[0];
        for (size_t i = 0; i < sizeof void_words / sizeof *void_words; i++)
            counts &= strcasecmp(void_words[i], word) != 0;
        *all += counts;
        found += counts && is_in(texts, word);
    }
    return found;
}

static size_t words_of_probe(const char *name, const struct as_probe *p, size_t *all)
{
    const char *const texts[] = {p->name, p->title, p->question, p->metric, p->unit, p->counts, NULL};
    return p->hidden ? 0 : count_words(name, texts, all);
}

static size_t words_of_quantity(const char *name, const struct as_quantity *q, size_t *all)
{
    const char *const texts[] = {q->name, q->group, q->label, q->level, q->unit, NULL};
    return count_words(name, texts, all);
}

/* Probes and quantities that have most of the words, under any of their names. */
bool as_explain_nearest(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    enum { SHOWN = 6 };
    size_t best = 0, all = 0, shown = 0;
    for (size_t i = 0; as_probes[i]; i++) {
        const size_t n = words_of_probe(name, as_probes[i], &all);
        best = n > best ? n : best;
    }
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        const size_t n = words_of_quantity(name, q, &all);
        best = n > best ? n : best;
    }
    if (best == 0 || 2 * best < all)
        return false;
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "No entry named '%s'; closest matches:", name);
    as_text_fill(out, as_buf_get(&line), style->width, 2, 0);
    for (size_t i = 0; as_probes[i] && shown < SHOWN; i++) {
        if (words_of_probe(name, as_probes[i], &all) < best)
            continue;
        as_buf_clear(&line);
        as_buf_printf(&line, "probe %s: %s", as_probes[i]->name, as_probes[i]->question);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
        shown++;
    }
    shown = 0;
    for (const struct as_quantity *q = as_quantities; q->name && shown < SHOWN; q++) {
        if (words_of_quantity(name, q, &all) < best)
            continue;
        as_buf_clear(&line);
        explain_sources(q, &line);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
        shown++;
    }
    as_buf_str(out, "\nMore about one: assay explain NAME\n");
    out->failed |= line.failed;
    as_buf_finish(&line);
    return true;
}

bool as_explain_term(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    return explain_of_terms(name, style, out) || explain_quantities(name, style, out) ||
           explain_memory(name, style, out) || explain_value(name, out);
}

size_t as_explain_terms(const char **names, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms && n < most; i++)
        names[n++] = terms[i].name;
    for (size_t b = 0; as_backends[b]; b++)
        for (const struct as_role_name *r = as_backends[b]->roles; r && r->allocator && n < most; r++)
            names[n++] = r->allocator;
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
