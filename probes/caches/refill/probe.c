/* refill: bytes fetched per miss, and addresses that conflict. See method.md. */
#include "alias.h"
#include "conflict.h"
#include "device/shared_host.h"
#include "lib/checks/checks.h"
#include "lib/pages/events.h"
#include "pairs.h"
#include "stats/stats.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 64, WORD = 8, DISTANCE_MAX = 2 << 20 };
enum what { SECTOR, ALIAS, CONFLICT };

static const char *const what_words[] = {"sector", "alias", "conflict", NULL}; /* in the order of enum what */
static const char *const level_words[] = {"L1", "L2", "LLC", NULL};            /* in the order of enum pairs_cold */
static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "what", what_words, "sector",
        "sector: a load `distance` above a cold load; alias: a load `distance` above a recent store; conflict: a "
        "pointer chase over `lines` lines that are `distance` apart"),
    AS_WORD_AXIS("level", level_words, "L1", "sector: the last cache that is cold; LLC: all of them"),
    AS_SIZE_AXIS("distance", WORD, DISTANCE_MAX, "64", "bytes"),
    AS_SIZE_AXIS("start", 0, PAIRS_START_MAX, "0", "sector: bytes of the first load above a multiple of 128"),
    AS_COUNT_AXIS("lines", 0, CONFLICT_LINES_MAX, "0", "conflict: lines of the chase"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    {0},
};
static const char *const quick[] = {"what=sector level=L1,LLC distance=8,32,64,128 allocator=largest_pages",
                                    "what=sector level=LLC distance=64 start=64 allocator=largest_pages",
                                    "what=alias distance=64,2048,4096,4160 allocator=largest_pages",
                                    "what=conflict distance=16KiB lines=2,4,5,8,9,12,13,16,17 allocator=largest_pages",
                                    NULL};
static const char *const full[] = {
    "what=sector level=all distance=8,16,24,32,48,64,96,128,192,256,384,512,768,1024 allocator=largest_pages",
    "what=sector level=L2,LLC distance=8,32,64,96,128,192,256 start=64 allocator=largest_pages",
    "what=alias distance=8,64,128,256,512,1024,2048,3072,3584,3840,3968,4032,4088,4096,4104,4160,4224,6144,8192,8256,"
    "65536,1048576 allocator=largest_pages",
    "what=conflict distance=1KiB,2KiB,4KiB,8KiB,16KiB,64KiB,128KiB,2MiB lines=2,4,5,8,9,12,13,16,17,24,25,32 "
    "allocator=largest_pages",
    NULL};

/* ---- which cells ---- */

static enum what refill_what_of(const struct as_axes *a)
{
    return (enum what)as_word_index(a, "what", what_words);
}

static const char *why_not(const struct as_device_info *info, const struct as_axes *a)
{
    if (!as_info_shares_host(info))
        return "the device's times are simulated";
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return "measured by native kernels of the CPU; probe 'onchip_lines' has lines and ways of other devices";
    return refill_what_of(a) == SECTOR
               ? as_refill_pairs_why_not(info, (enum pairs_cold)as_word_index(a, "level", level_words))
               : NULL;
}

static enum as_applies refill_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const enum what what = refill_what_of(a);
    const double distance = as_axes_number(a, "distance"), start = as_axes_number(a, "start"),
                 lines = as_axes_number(a, "lines");
    const char *why = why_not(info, a);
    if (why)
        return as_inapplicable(err, "%s", why);
    if (what != SECTOR && (start > 0 || !as_word_is(a, "level", level_words[0])))
        return AS_PRUNED;
    if (what == CONFLICT ? lines < 2 : lines > 0)
        return AS_PRUNED;
    if (what == SECTOR ? distance > PAIRS_DISTANCE_MAX : what == ALIAS && distance > ALIAS_DISTANCE_MAX)
        return AS_PRUNED;
    if (what == CONFLICT && distance < LINE)
        return AS_PRUNED;
    if (fmod(distance, WORD) != 0 || fmod(start, WORD) != 0)
        as_fail(err, AS_UNSUPPORTED, "distance and start must be multiples of %d bytes", WORD);
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* ---- one trial ---- */

struct state {
    struct as_trial_context *tc;
    enum what what;
    struct pairs pairs;
    struct alias alias;
    struct conflict conflict;
    struct as_events events; /* conflict: L1D load misses, where they can be counted */
    bool counts;
};

static enum as_status prepare_sector(struct state *s, struct as_error *err)
{
    const struct as_axes *a = s->tc->axes;
    const struct pairs_desc desc = {.allocator = as_axes_text(a, "allocator"),
                                    .cold = (enum pairs_cold)as_word_index(a, "level", level_words),
                                    .start = as_axes_u64(a, "start"),
                                    .distance = as_axes_u64(a, "distance"),
                                    .seed = s->tc->seed};
    enum as_status st = as_refill_pairs_prepare(&s->pairs, s->tc->dev, &desc, err);
    as_note_number(s->tc, "pairs", (double)s->pairs.n);
    /* Flushed lines come from memory although they would fit a cache, so no footprint describes how their latency
     * scales with the clock. */
    s->tc->footprint = desc.cold == PAIRS_COLD_ALL ? 0 : as_refill_pairs_footprint(&s->pairs);
    s->tc->sample_s = 4e-3;
    s->tc->max_reps = 1 << 20;
    return st;
}

static enum as_status prepare_alias(struct state *s, struct as_error *err)
{
    s->tc->footprint = 2 * LINE;
    s->tc->max_reps = UINT32_MAX;
    return as_refill_alias_prepare(&s->alias, s->tc->dev, as_axes_text(s->tc->axes, "allocator"),
                                   as_axes_u64(s->tc->axes, "distance"), err);
}

static void open_counter(struct state *s)
{
    struct as_error why = {0};
    s->counts = as_events_open(&s->events, AS_EVENT_L1D_MISSES, &why) == AS_OK;
    if (!s->counts)
        as_note(s->tc, "refills_why_not", why.text);
}

static enum as_status prepare_conflict(struct state *s, struct as_error *err)
{
    const struct as_axes *a = s->tc->axes;
    const uint64_t distance = as_axes_u64(a, "distance"), lines = as_axes_u64(a, "lines");
    double ns, seconds;
    enum as_status st = as_check_room(s->tc->dev, lines * distance, lines * distance, err);
    if (!st)
        st = as_refill_conflict_prepare(&s->conflict, s->tc->dev, as_axes_text(a, "allocator"), lines, distance,
                                        s->tc->seed, err);
    if (!st)
        st = as_refill_conflict_run(&s->conflict, lines, &ns, &seconds, err); /* starts the counted thread */
    if (!st)
        st = s->tc->dev->memory->map(s->tc->dev, s->conflict.memory, err); /* known once memory is allocated */
    if (st)
        return st;
    s->tc->footprint = lines * LINE;
    s->tc->max_reps = UINT32_MAX;
    if (s->conflict.memory->page_size)
        as_note_number(s->tc, "page_size", (double)s->conflict.memory->page_size);
    as_limit_own_cycle(s->tc);
    open_counter(s);
    return AS_OK;
}

static enum as_status refill_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    s->what = refill_what_of(tc->axes);
    return s->what == SECTOR  ? prepare_sector(s, err)
           : s->what == ALIAS ? prepare_alias(s, err)
                              : prepare_conflict(s, err);
}

static enum as_status refill_chase(struct state *s, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct as_error why = {0};
    uint64_t before = 0, after = 0;
    bool counted = s->counts && !as_events_read(&s->events, &before, &why);
    enum as_status st = as_refill_conflict_run(&s->conflict, reps, &out->value, &out->seconds, err);
    counted = counted && !as_events_read(&s->events, &after, &why);
    if (s->counts && !counted)
        as_note(s->tc, "refills_why_not", why.text);
    s->counts = counted;
    if (counted)
        out->further[0] =
            (struct as_sample_number){"refills", (double)(after - before) / ((double)reps * CONFLICT_LOADS)};
    return st;
}

static enum as_status refill_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    double ns[PAIRS_LOADS] = {NAN, NAN, NAN};
    enum as_status st = AS_OK;
    out->clock_hz = NAN;
    if (s->what == ALIAS)
        return as_refill_alias_run(&s->alias, reps, &out->value, &out->seconds, err);
    if (s->what == CONFLICT)
        return refill_chase(s, reps, out, err);
    st = as_refill_pairs_run(&s->pairs, reps, ns, &out->seconds, err);
    out->value = ns[PAIRS_SECOND];
    out->further[0] = (struct as_sample_number){"first", ns[PAIRS_FIRST]};
    out->further[1] = (struct as_sample_number){"again", ns[PAIRS_AGAIN]};
    return st;
}

static bool refill_check_pairs(struct state *s, char *why, size_t why_size)
{
    struct pairs *p = &s->pairs;
    snprintf(why, why_size, p->lost ? "a load returned a wrong word" : "every load returned its word");
    return !p->lost;
}

static bool refill_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    if (s->what == SECTOR)
        return refill_check_pairs(s, why, why_size);
    if (s->what == CONFLICT) {
        snprintf(why, why_size,
                 s->conflict.lost ? "a chase ended at an unexpected line" : "every chase ended at the expected line");
        return !s->conflict.lost;
    }
    snprintf(why, why_size,
             s->alias.lost ? "a load or store went to a wrong address"
                           : "every load returned the address it came from");
    return !s->alias.lost;
}

static void refill_finish(void *state)
{
    struct state *s = state;
    as_events_close(&s->events);
    as_refill_pairs_finish(&s->pairs);
    as_refill_alias_finish(&s->alias);
    as_refill_conflict_finish(&s->conflict);
}

static const struct as_metric further[] = {
    {"first", "ns", true, "sector: time of the first load, which is cold", NULL},
    {"again", "ns", true, "sector: time of the second load repeated, which must be a hit", NULL},
    {"refills", "misses", true, "conflict: L1D load misses per load, by the CPU's counter", NULL},
    {0}};

const struct as_probe as_probe_refill = {
    .name = "refill",
    .title = "Cache refills and conflicts",
    .question = "How many bytes does a cache miss bring in, and which addresses conflict?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "time of the second load (sector), of a store and a load (alias), of one load of the chase (conflict)",
    .further = further,
    AS_CELLS(axes, quick, full, refill_applies),
    AS_TRIAL(struct state, refill_prepare, refill_sample, refill_check, refill_finish),
};
