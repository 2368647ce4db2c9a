#include "sensor/rails.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A chip of several dies has a channel per die, "DIE_1_CPU Energy"; a channel for all dies takes precedence. */
struct sum {
    double whole, dies;
    size_t whole_n, dies_n;
};

static const struct {
    const char *word, *name;
    bool is_numbered; /* numbered channels: "ANE0" */
} rails[AS_RAILS] = {
    [AS_RAIL_CPU] = {"CPU", "CPU Energy", false},
    [AS_RAIL_GPU] = {"GPU", "GPU Energy", false},
    [AS_RAIL_ANE] = {"ANE", "ANE", true},
    [AS_RAIL_DRAM] = {"DRAM", "DRAM", true},
};

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

const char *as_rail_past_die(const char *name)
{
    if (strncmp(name, "DIE", 3) != 0)
        return name;
    const char *number = name + 3 + (name[3] == '_'), *end = skip_digits(number);
    return end > number && (*end == '_' || *end == ' ') ? end + 1 : name;
}

static bool rails_is_of(enum as_rail rail, const char *name)
{
    const size_t n = strlen(rails[rail].name);
    return strncmp(name, rails[rail].name, n) == 0 && !*(rails[rail].is_numbered ? skip_digits(name + n) : name + n);
}

/* Joules per count. Units differ by channel and by chip. */
static double joule_of(const char *unit)
{
    static const struct {
        const char *label;
        double joule;
    } units[] = {{"mJ", 1e-3}, {"uJ", 1e-6}, {"\u00b5J", 1e-6}, {"nJ", 1e-9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].label, unit) == 0)
            return units[i].joule;
    return NAN;
}

static void rails_refuse(struct as_rails *out, enum as_rail rail, const struct as_ioreport_channel *c, const char *what)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "channel '");
    as_buf_terminal(&b, c->name);
    as_buf_printf(&b, "' %s", what);
    if (what[strlen(what) - 1] == ':') {
        as_buf_str(&b, " '");
        as_buf_terminal(&b, c->unit);
        as_buf_str(&b, "'");
    }
    if (!out->why[rail][0])
        as_copy_text(out->why[rail], sizeof out->why[rail], as_buf_get(&b));
    as_buf_finish(&b);
}

struct counted {
    struct sum sum[AS_RAILS];
    struct as_rails *out;
};

static void rails_add(const struct as_ioreport *r, const struct as_ioreport_channel *c, void *user)
{
    struct counted *all = user;
    struct sum *sum = all->sum;
    struct as_rails *out = all->out;
    const char *name = as_rail_past_die(c->name);
    size_t rail = 0;
    while (rail < AS_RAILS && !rails_is_of((enum as_rail)rail, name))
        rail++;
    if (rail == AS_RAILS || strcmp(c->group, "Energy Model") != 0)
        return;
    const double joule = joule_of(c->unit);
    const bool is_die = name != c->name;
    const int64_t count = c->format == AS_IOREPORT_SIMPLE ? r->api.number(c->ref, NULL) : 0;
    if (c->format != AS_IOREPORT_SIMPLE)
        rails_refuse(out, (enum as_rail)rail, c, "is not a simple counter");
    else if (!isfinite(joule))
        rails_refuse(out, (enum as_rail)rail, c, "counts in an unknown unit:");
    else if (count < 0)
        rails_refuse(out, (enum as_rail)rail, c, "has a negative difference");
    else if (!is_die && sum[rail].whole_n && !rails[rail].is_numbered)
        rails_refuse(out, (enum as_rail)rail, c, "occurs twice");
    *(is_die ? &sum[rail].dies : &sum[rail].whole) += joule * (double)count;
    *(is_die ? &sum[rail].dies_n : &sum[rail].whole_n) += 1;
}

enum as_status as_rails_open(struct as_ioreport *r, struct as_error *err)
{
    enum as_status st = as_ioreport_open(r, "Energy Model", NULL, err);
    if (!st && as_ioreport_begin(r, err)) {
        as_ioreport_close(r);
        st = AS_UNSUPPORTED;
    }
    return st;
}

enum as_status as_rails_since(struct as_ioreport *r, struct as_rails *out, double *seconds, struct as_error *err)
{
    struct counted all = {.out = out};
    const struct sum *sum = all.sum;
    *out = (struct as_rails){.joule = {NAN, NAN, NAN, NAN}};
    enum as_status st = as_ioreport_each(r, rails_add, &all, seconds, err);
    for (size_t i = 0; !st && i < AS_RAILS; i++)
        if (!sum[i].whole_n && !sum[i].dies_n)
            snprintf(out->why[i], sizeof out->why[i], "'Energy Model' has no %s channel", rails[i].word);
        else if (!out->why[i][0])
            out->joule[i] = sum[i].whole_n ? sum[i].whole : sum[i].dies;
    return st;
}
