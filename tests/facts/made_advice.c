#include "made_advice.h"
#include "first_sentence.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made m = {.share = 0.01};
struct as_device_info infos[2];
static struct as_advice *all;
static size_t all_n;

int advice_start(void **unused)
{
    (void)unused;
    infos[0] = (struct as_device_info){.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS};
    infos[1] = (struct as_device_info){.id = "hip:0",
                                       .backend = "hip",
                                       .allocators_n = 4,
                                       .allocators = {{.name = "own"},
                                                      {.name = "pinned", .host_access = true},
                                                      {.name = "managed", .host_access = true},
                                                      {.name = "shared", .host_access = true}}};
    return 0;
}

void forget_advice(void)
{
    free(all);
    all = NULL;
}

int advice_end(void **unused)
{
    (void)unused;
    made_end(&m);
    forget_advice();
    return 0;
}

struct as_cell *add(const char *device, const char *probe, const char *unit, double median, const char *axes)
{
    struct as_cell *c = made_add(&m, probe, unit, median, axes);
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->metric, sizeof c->metric, probe);
    return c;
}

struct as_cell *triad(const char *device, double value, const char *allocator, int threads, const char *touch)
{
    char axes[200];
    snprintf(axes, sizeof axes, "op=triad;level=memory;size=1000;threads=%d;store=regular;allocator=%s;touch=%s",
             threads, allocator, touch);
    return add(device, "bandwidth", "GB/s", value, axes);
}

void fault(const char *device, double ns, const char *scenario, const char *allocator)
{
    char axes[200];
    snprintf(axes, sizeof axes, "scenario=%s;what=fault;allocator=%s;pages=10000;access=store", scenario, allocator);
    add(device, "fault", "ns", ns, axes);
}

const struct as_advice *find_advice(const char *device, const char *topic)
{
    if (!all) {
        struct as_run run = {.id = 1};
        struct as_fact_input in = {&run, m.cells, m.n, infos, 2};
        struct as_fact *facts;
        size_t facts_n;
        assert_int_equal(as_facts_derive(&in, &facts, &facts_n, NULL), AS_OK);
        assert_int_equal(as_advice_derive(&in, facts, facts_n, &all, &all_n, NULL), AS_OK);
        free(facts);
    }
    for (size_t i = 0; i < all_n; i++)
        if (strcmp(all[i].device, device) == 0 && strcmp(all[i].topic, topic) == 0)
            return &all[i];
    return NULL;
}

const struct as_advice *all_advice(size_t *n)
{
    (void)find_advice("", "");
    *n = all_n;
    return all;
}

const struct as_advice *get_advice(const char *device, const char *topic)
{
    const struct as_advice *a = find_advice(device, topic);
    if (!a)
        fail_msg("no advice on '%s' for %s", topic, device);
    return a;
}

/* Few numbers are printed: what the sentence names first is among them. */
static void check_numbers(const struct as_advice *a)
{
    enum { PRINTED = 4 };
    char name[64];
    const char *quote = strstr(a->sentence, " '"), *end = quote ? strchr(quote + 2, '\'') : NULL;
    size_t i = 0;
    if (!end)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(end - quote), quote + 1);
    while (i < a->numbers_n && i < PRINTED && !strstr(a->numbers[i].what, name))
        i++;
    if (i == PRINTED || i == a->numbers_n)
        fail_msg("%s is not among the first numbers of '%s'", name, a->sentence);
}

void says(const struct as_advice *a, const char *what)
{
    check_numbers(a);
    if (first_sentence(a->sentence) > FIRST_SENTENCE_MAX)
        fail_msg("'%s' begins with too long a sentence", a->sentence);
    if (!strstr(a->sentence, what))
        fail_msg("'%s' does not say '%s'", a->sentence, what);
    assert_true(a->known);
    assert_string_equal(a->command, "");
    assert_true(a->numbers_n > 0);
}
