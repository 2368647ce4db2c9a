/* Apple chips on macOS, by IOReport: power of the chip's components, and bytes at the memory controllers if the chip
 * permits users to count them.
 *
 * Group "AMC Stats", sub-group "Perf Counters": channels "DCS RD" and "DCS WR" count the bytes of all requesters;
 * further dies have their own, "DIE1 DCS RD" (NeoAsitop; SiliconScope, docs/ioreport-channels.md). M4 Max and M5 Max
 * list the group but refuse a subscription; an M3 Max with macOS 27 returns INT64_MIN (SiliconScope). Their histograms
 * in group "PMP" are not read: the last bin is open and starts below the bandwidth of one GPU, so they give no mean. */
#include "base/buf.h"
#include "base/text.h"
#include "sensor/demand.h"
#include "sensor/rails.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void demand_apple_begin(void *ctx)
{
    (void)as_ioreport_begin(ctx, NULL);
}

static void close_report(void *ctx)
{
    as_ioreport_close(ctx);
    free(ctx);
}

static enum as_status new_report(struct as_ioreport **out, struct as_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? AS_OK : as_nomem(err, sizeof **out, "a source of memory traffic");
}

/* ---- power ---- */

static enum as_status open_rails(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    struct as_ioreport *r;
    struct as_rails used;
    double seconds;
    (void)root, (void)info;
    enum as_status st = new_report(&r, err);
    if (st)
        return st;
    st = as_rails_open(r, err);
    if (!st)
        st = as_rails_since(r, &used, &seconds, err);
    for (size_t i = 0, unknown = 0; !st && i < AS_RAILS; i++)
        if (!isfinite(used.joule[i]) && ++unknown == AS_RAILS)
            st = as_fail(err, AS_UNSUPPORTED, "%s", used.why[0]);
    if (st) {
        close_report(r);
        return st;
    }
    *ctx = r;
    return AS_OK;
}

/* A counter that did not move may be one that never moves. */
static void end_rails(void *ctx, double seconds, struct as_demand_seen *out)
{
    struct as_rails used;
    double *const powers[AS_RAILS] = {&out->cpu_power, &out->gpu_power, &out->ane_power, &out->dram_power};
    if (as_rails_since(ctx, &used, &seconds, NULL) || !(seconds > 0))
        return;
    for (size_t i = 0; i < AS_RAILS; i++)
        if (used.joule[i] > 0 && !isfinite(*powers[i]))
            *powers[i] = used.joule[i] / seconds;
}

/* ---- memory controllers ---- */

struct traffic {
    double bytes[2]; /* read, written */
    size_t n[2];
    char why[120]; /* "" if all is known */
};

/* 0 read, 1 written, -1 neither; "DCS RD" and "DIE1 DCS RD". */
static int demand_apple_direction(const char *name)
{
    if (strncmp(name, "DIE", 3) == 0 && isdigit((unsigned char)name[3])) {
        name += 3 + strspn(name + 3, "0123456789");
        name += *name == ' ';
    }
    return strcmp(name, "DCS RD") == 0 ? 0 : strcmp(name, "DCS WR") == 0 ? 1 : -1;
}

static void demand_apple_refuse(struct traffic *t, const struct as_ioreport_channel *c, const char *what)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "channel '");
    as_buf_terminal(&b, c->name);
    as_buf_printf(&b, "' %s, its unit is '", what);
    as_buf_terminal(&b, c->unit);
    as_buf_str(&b, "'");
    as_copy_text(t->why, sizeof t->why, as_buf_get(&b));
    as_buf_finish(&b);
}

static void demand_apple_add(const struct as_ioreport *r, const struct as_ioreport_channel *c, void *user)
{
    struct traffic *t = user;
    const int way = demand_apple_direction(c->name);
    if (way < 0 || strcmp(c->subgroup, "Perf Counters") != 0)
        return;
    const bool is_count = c->format == AS_IOREPORT_SIMPLE && (!strcmp(c->unit, "B") || !strcasecmp(c->unit, "bytes"));
    const int64_t bytes = is_count ? r->api.number(c->ref, NULL) : 0;
    if (!is_count)
        demand_apple_refuse(t, c, "counts no bytes");
    else if (bytes < 0) /* INT64_MIN on an M3 Max with macOS 27 */
        demand_apple_refuse(t, c, "has a negative difference");
    t->bytes[way] += (double)bytes;
    t->n[way]++;
}

static enum as_status demand_apple_count(struct as_ioreport *r, struct traffic *t, double *seconds,
                                         struct as_error *err)
{
    *t = (struct traffic){.why = ""};
    enum as_status st = as_ioreport_each(r, demand_apple_add, t, seconds, err);
    if (!st && t->why[0])
        st = as_fail(err, AS_UNSUPPORTED, "%s", t->why);
    return st || (t->n[0] && t->n[1])
               ? st
               : as_fail(err, AS_UNSUPPORTED, "'AMC Stats' has no channels 'DCS RD' and 'DCS WR'");
}

static enum as_status open_amc(const char *root, const struct as_device_info *info, void **ctx, struct as_error *err)
{
    struct as_ioreport *r;
    struct traffic t;
    double seconds;
    (void)root, (void)info;
    enum as_status st = new_report(&r, err);
    if (st)
        return st;
    st = as_ioreport_open(r, "AMC Stats", "Perf Counters", err);
    if (!st)
        st = as_ioreport_begin(r, err);
    if (!st)
        st = demand_apple_count(r, &t, &seconds, err);
    if (st) {
        close_report(r);
        return st;
    }
    *ctx = r;
    return AS_OK;
}

static void end_amc(void *ctx, double seconds, struct as_demand_seen *out)
{
    struct traffic t;
    if (demand_apple_count(ctx, &t, &seconds, NULL) || !(seconds > 0))
        return;
    out->memory_read = isfinite(out->memory_read) ? out->memory_read : t.bytes[0] / seconds;
    out->memory_written = isfinite(out->memory_written) ? out->memory_written : t.bytes[1] / seconds;
}

extern const struct as_demand_source as_demand_amc, as_demand_rails;
const struct as_demand_source as_demand_amc = {.name = "AMC Stats",
                                               .title = "memory controllers of Apple's chip",
                                               .serves = as_ioreport_serves,
                                               .open = open_amc,
                                               .begin = demand_apple_begin,
                                               .end = end_amc,
                                               .close = close_report};
const struct as_demand_source as_demand_rails = {.name = "Energy Model",
                                                 .title = "energy of Apple's chip",
                                                 .serves = as_ioreport_serves,
                                                 .open = open_rails,
                                                 .begin = demand_apple_begin,
                                                 .end = end_rails,
                                                 .close = close_report};
