/* The questions that a port to shared memory asks, and who answers each. */
#include "facts/advice.h"

#include "base/json.h"
#include "base/text.h"
#include "facts/advice_topics.h"

#include <stdlib.h>
#include <string.h>

#define TRIAD                                                                                                          \
    {                                                                                                                  \
        {"op", "triad"}, {"level", "memory"},                                                                          \
        {                                                                                                              \
            "store", "regular"                                                                                         \
        }                                                                                                              \
    }
#define TRIAD_ALL "bandwidth --set op=triad --set allocator=all"

static const struct as_advice_topic topics[] = {
    {.name = "device-heavy",
     .question = "Which allocator for memory used mostly by the device?",
     .of = OF_DEVICE,
     .advise = as_advise_allocator,
     .wanted = {"bandwidth", TRIAD, WHOLE_DEVICE, false, AS_ROLE_DEVICE},
     .does = "the device streams at",
     .lacks = "bandwidth of the device on two allocators",
     .run = TRIAD_ALL},
    {.name = "cpu-heavy",
     .question = "Which allocator for memory used mostly by the CPU?",
     .of = OF_CPU,
     .advise = as_advise_allocator,
     .wanted = {"bandwidth", TRIAD, THREADS, false, AS_ROLE_UNKNOWN},
     .does = "the CPU streams at",
     .lacks = "bandwidth of the CPU's threads on two allocators",
     .run = TRIAD_ALL},
    {.name = "cpu-heavy",
     .question = "Which device allocator for memory used mostly by the CPU?",
     .of = OF_DEVICE,
     .advise = as_advise_cpu_on_device,
     .does = "the CPU streams at",
     .lacks = "bandwidth of CPU threads in two allocators of the device",
     .run = "host_bandwidth host_latency --set op=triad --set allocator=all --set touch=all"},
    {.name = "shared",
     .question = "Which allocator for memory used by CPU and device?",
     .of = OF_DEVICE,
     .advise = as_advise_shared,
     .wanted = {"bandwidth", TRIAD, WHOLE_DEVICE, false, AS_ROLE_UNKNOWN},
     .lacks = "bandwidth of the device on memory that the host can use too",
     .run = TRIAD_ALL},
    {.name = "short-lived",
     .question = "Which allocator for memory that is soon freed?",
     .of = OF_BOTH,
     .advise = as_advise_short_lived,
     .lacks = "the time to allocate and to free the same size by two allocators",
     .run = "alloc --set op=alloc,free --set allocator=all"},
    {.name = "first-touch",
     .question = "Who should touch memory first?",
     .of = OF_DEVICE,
     .advise = as_advise_first_touch,
     .apart = true,
     .lacks = "bandwidth on one allocator after first touch by each side",
     .run = TRIAD_ALL " --set touch=all"},
    {.name = "pre-fault",
     .question = "How to touch fresh memory of the CPU?",
     .of = OF_CPU,
     .advise = as_advise_prefault_cpu,
     .lacks = "page faults of one thread and of all, or of two page sizes",
     .run = "fault --set scenario=cpu-one,cpu-all --set allocator=base_pages,huge_pages --set pages=10000"},
    {.name = "pre-fault",
     .question = "Does it pay to touch pages on the CPU before the device does?",
     .of = OF_DEVICE,
     .advise = as_advise_prefault_device,
     .apart = true,
     .lacks = "page faults of the device with and without a touch by the CPU before",
     .run = "fault --set scenario=all --set allocator=all --set pages=10000"},
    {.name = "copies",
     .question = "Are explicit copies to the device's own memory worth removing?",
     .of = OF_DEVICE,
     .advise = as_advise_copies,
     .apart = true,
     .lacks = "a copy into the device's memory, and the bandwidth of both memories",
     .run = "copy bandwidth --set copy.from=all --set copy.to=first --set copy.how=engine --set bandwidth.op=triad "
            "--set bandwidth.allocator=all"},
    {.name = "counter",
     .question = "May CPU and device update the same counter at once?",
     .of = OF_DEVICE,
     .advise = as_advise_counter,
     .lacks = "counts of concurrent updates by CPU and device",
     .run = "atomics_lost --set allocator=all"},
    {.name = "page-size",
     .question = "Which page size for memory of the CPU?",
     .of = OF_CPU,
     .advise = as_advise_page_size,
     .lacks = "latency of memory on base pages and on huge pages",
     .run = "latency --set size=DRAM1 --set allocator=base_pages,huge_pages"},
    {.name = "prefetch",
     .question = "Is the device's first pass over managed memory faster after a prefetch?",
     .of = OF_DEVICE,
     .advise = as_advise_prefetch,
     .apart = true,
     .role = AS_ROLE_MANAGED_PREFETCH,
     .lacks = "the device's first pass over managed memory with and without a prefetch",
     .run = "migration --set allocator=managed,managed_prefetch --set pass=1"},
    {.name = "applications",
     .question = "Is one allocation faster than copies in whole applications?",
     .of = OF_DEVICE,
     .advise = as_advise_applications,
     .lacks = "applications with copies and with one allocation",
     .run = "apps"},
    {.name = "strategies",
     .question = "What does each porting strategy gain?",
     .of = OF_DEVICE,
     .advise = as_advise_strategies,
     .lacks = "applications with and without each strategy",
     .run = "apps"},
    {.name = "runtime-state",
     .question = "With which settings of the runtime should the program start?",
     .of = OF_STATES,
     .advise = as_advise_states,
     .lacks = "one measurement in two process states",
     .run = "upm"},
};

struct advice_list {
    struct as_advice *v;
    size_t n, cap;
    const struct as_fact *facts;
    size_t facts_n;
};

static void lacking(const struct as_advice_topic *t, struct as_advice *a)
{
    struct as_buf command = AS_BUF_INIT;
    a->numbers_n = a->of_one_trial = 0;
    a->sentence[0] = '\0';
    as_advice_say(a, "Unknown: needs more measurements (%s)", t->lacks);
    as_buf_printf(&command, "assay run %s --device %s", t->run, a->device);
    as_copy_text(a->command, sizeof a->command, as_buf_get(&command));
    as_buf_finish(&command);
}

/* A number that is the value of a quantity cites it. */
static void cite_quantities(const struct as_quantity_value *values, size_t n, struct as_advice *a)
{
    for (size_t i = 0; i < a->numbers_n; i++) {
        struct as_advice_number *number = &a->numbers[i];
        size_t k = 0;
        while (k < n && (values[k].cell != number->cell || strcmp(values[k].unit, number->unit) != 0))
            k++;
        if (k == n)
            continue;
        number->quantity = values[k].of->name;
        number->value = values[k].value;
        number->ci = values[k].ci;
    }
}

/* The quantities of a device that are numbers of one cell; *out is the caller's (free). */
static size_t quantities_of_cells(struct as_rule_context *c, struct as_quantity_value **out)
{
    const struct as_quantity_subject subject = as_rule_subject(c);
    size_t all = 0, n = 0;
    while (as_quantities[all].name)
        all++;
    if (!(*out = calloc(all + 1, sizeof **out))) {
        c->status = as_nomem(c->err, all * sizeof **out, "quantities");
        return 0;
    }
    for (size_t i = 0; i < all; i++)
        n += as_quantity_get(&subject, as_quantities[i].name, &(*out)[n]) && !(*out)[n].fact;
    return n;
}

static bool has_role(const struct as_device_info *info, enum as_role role)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (!info->allocators[i].why_not[0] && as_allocator_role(info->id, info->allocators[i].name) == role)
            return true;
    return role == AS_ROLE_UNKNOWN || info->allocators_n == 0;
}

/* Is it a question of this device? Else no measurement would answer it. */
static bool is_asked(const struct as_rule_context *c, const struct as_advice_topic *t)
{
    const bool cpu = strcmp(c->device, "cpu") == 0;
    if (t->of == (cpu ? OF_DEVICE : OF_CPU) || (t->of == OF_STATES && !c->in_states_n))
        return false;
    return !c->info || (!(t->apart && c->info->is_host_cpu) && has_role(c->info, t->role));
}

static enum as_status advise_device(struct as_rule_context *c, void *user)
{
    struct advice_list *list = user;
    struct as_fact_list facts = {(struct as_fact *)list->facts, list->facts_n, list->facts_n}; /* read only here */
    struct as_quantity_value *values;
    c->facts = &facts;
    const size_t values_n = quantities_of_cells(c, &values);
    for (size_t i = 0; i < sizeof topics / sizeof *topics && !c->status; i++) {
        const struct as_advice_topic *t = &topics[i];
        if (!is_asked(c, t))
            continue;
        void *grown = list->v;
        if ((c->status = as_grow(&grown, &list->cap, list->n + 1, sizeof *list->v, c->err)))
            break;
        list->v = grown;
        struct as_advice *a = &list->v[list->n++];
        *a = (struct as_advice){.topic = t->name, .question = t->question, .effect = 1};
        as_copy_text(a->device, sizeof a->device, c->device);
        a->known = t->advise(c, t, a);
        if (!a->known)
            lacking(t, a);
        else if (a->of_one_trial && a->effect > 1)
            as_advice_say(a, ". %zu of %zu numbers rest%s on one trial", a->of_one_trial, a->numbers_n,
                          a->of_one_trial == 1 ? "s" : "");
        cite_quantities(values, values_n, a);
    }
    free(values);
    return c->status;
}

static bool comes_before(const struct as_advice *a, const struct as_advice *b)
{
    const bool warns = a->known && a->warning, other = b->known && b->warning;
    if (a->known != b->known)
        return a->known;
    return warns != other ? warns : a->known && a->effect > b->effect;
}

/* By insertion: equals stay in order. */
static void rank_advice(struct as_advice *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && comes_before(&v[k], &v[k - 1]); k--) {
            const struct as_advice swap = v[k];
            v[k] = v[k - 1];
            v[k - 1] = swap;
        }
}

enum as_status as_advice_derive(const struct as_fact_input *in, const struct as_fact *facts, size_t facts_n,
                                struct as_advice **advice, size_t *n, struct as_error *err)
{
    struct advice_list list = {.facts = facts, .facts_n = facts_n};
    enum as_status st = as_facts_each_device(in, advise_device, &list, err);
    *advice = NULL;
    *n = 0;
    if (st) {
        free(list.v);
        return st;
    }
    rank_advice(list.v, list.n);
    *advice = list.v;
    *n = list.n;
    return AS_OK;
}

static void numbers_to_json(const struct as_advice *a, struct as_buf *out)
{
    as_json_add_name(out, "numbers");
    as_buf_char(out, '[');
    for (size_t k = 0; k < a->numbers_n; k++) {
        const struct as_advice_number *number = &a->numbers[k];
        as_buf_str(out, k ? ",{" : "{");
        as_json_add_text(out, "what", number->what);
        const struct as_number n = {.value = number->value, .ci = number->ci, .unit = number->unit};
        as_json_add_number(out, "value", as_number_point(&n));
        as_json_add_number(out, "ci_low", number->ci.lo);
        as_json_add_number(out, "ci_high", number->ci.hi);
        as_json_add_text(out, "unit", number->unit);
        as_json_add_int(out, "cell", number->cell);
        as_json_add_text(out, "quantity", number->quantity ? number->quantity : "");
        as_buf_char(out, '}');
    }
    as_buf_char(out, ']');
}

enum { ADVICE_SHORT = 160 };

/* Ends before "; " or after "." outside parentheses and quotes; shorter sentences are not cut. */
size_t as_advice_first_statement(const struct as_advice *a)
{
    const char *text = a->sentence;
    const size_t len = strlen(text);
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < len && len > ADVICE_SHORT; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        quoted ^= text[i] == '\'' && (quoted || i == 0 || text[i - 1] == ' ' || text[i - 1] == '(');
        if (depth || quoted || i + 1 == len || text[i + 1] != ' ')
            continue;
        if (text[i] == ';' || text[i] == '.')
            return i + (text[i] == '.');
    }
    return len;
}

void as_advice_to_json(const struct as_advice *advice, size_t n, struct as_buf *out)
{
    as_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct as_advice *a = &advice[i];
        as_buf_str(out, i ? ",{" : "{");
        as_json_add_text(out, "device", a->device);
        as_json_add_text(out, "topic", a->topic);
        as_json_add_text(out, "question", a->question);
        as_json_add_bool(out, "known", a->known);
        as_json_add_bool(out, "warning", a->warning);
        as_json_add_number(out, "effect", a->effect);
        as_json_add_text(out, "sentence", a->sentence);
        as_json_add_text(out, "command", a->command);
        numbers_to_json(a, out);
        as_buf_char(out, '}');
    }
    as_buf_char(out, ']');
}
