/* A stand-in for IOReport, driven by lists of channels. */
#include "fake_parts.h"

#pragma GCC visibility push(default)

extern ref IOReportCopyChannelsInGroup(ref group, ref subgroup, uint64_t a, uint64_t b, uint64_t c);
extern ref IOReportCreateSubscription(void *a, ref desired, ref *subscribed, uint64_t b, ref c);
extern ref IOReportCreateSamples(ref subscription, ref subscribed, ref a);
extern ref IOReportCreateSamplesDelta(ref before, ref after, ref a);
extern ref IOReportChannelGetGroup(ref channel), IOReportChannelGetSubGroup(ref channel);
extern ref IOReportChannelGetChannelName(ref channel), IOReportChannelGetUnitLabel(ref channel);
extern int IOReportChannelGetFormat(ref channel), IOReportStateGetCount(ref channel);
extern int64_t IOReportSimpleGetIntegerValue(ref channel, void *a), IOReportStateGetResidency(ref channel, int i);
extern ref IOReportStateGetNameForIndex(ref channel, int i);

static int64_t value_of(const char *text)
{
    char *end;
    if (strcmp(text, "min") == 0)
        return INT64_MIN;
    const int64_t start = strtoll(text, &end, 10);
    return start + (*end == '+' ? strtoll(end + 1, NULL, 10) * fake_now : 0);
}

/* The i-th state of "OFF:5+10;P1:0+30": its name in text, its value behind. */
static const char *state_at(const struct line *l, int i, char name[FIELD])
{
    const char *at = l->field[5];
    while (at && i-- > 0)
        at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL;
    const char *colon = at ? strchr(at, ':') : NULL;
    snprintf(name, FIELD, "%.*s", colon ? (int)(colon - at) : 0, at ? at : "");
    return colon ? colon + 1 : NULL;
}

static void set_counts(struct object *channel)
{
    char name[FIELD];
    const char *value;
    if (channel->line->format != 2)
        channel->counts[0] = value_of(channel->line->field[5]);
    else
        for (int i = 0; i < STATES_MAX && (value = state_at(channel->line, i, name)); i++)
            channel->counts[i] = value_of(value);
}

static struct object *make_set(long n)
{
    struct object *set = fake_make(DICTIONARY), *list = fake_make(ARRAY);
    set->parts = calloc(1, sizeof *set->parts);
    list->parts = calloc((size_t)n + 1, sizeof *list->parts);
    if (!set->parts || !list->parts)
        abort();
    set->parts[0] = list;
    set->n = 1;
    return set;
}

static void add_channel(struct object *set, const struct line *line)
{
    struct object *list = set->parts[0], *channel = fake_make(DICTIONARY);
    channel->line = line;
    set_counts(channel);
    list->parts[list->n++] = channel;
}

ref IOReportCopyChannelsInGroup(ref group, ref subgroup, uint64_t a, uint64_t b, uint64_t c)
{
    const struct object *g = fake_object(group, STRING, "IOReportCopyChannelsInGroup"),
                        *s = subgroup ? fake_object(subgroup, STRING, "IOReportCopyChannelsInGroup") : NULL;
    long n = 0;
    if (!g || a || b || c || fake_fails())
        return NULL;
    for (size_t i = 0; i < fake_lines_n; i++)
        n += strcmp(fake_lines[i].field[0], g->text) == 0 ? fake_lines[i].copies : 0;
    if (n == 0)
        return NULL;
    struct object *set = make_set(n);
    for (size_t i = 0; i < fake_lines_n && !fake_asked("empty"); i++)
        for (int k = 0; k < fake_lines[i].copies; k++)
            if (strcmp(fake_lines[i].field[0], g->text) == 0 && (!s || strcmp(fake_lines[i].field[1], s->text) == 0))
                add_channel(set, &fake_lines[i]);
    return set;
}

static struct object *copy_of(const struct object *set)
{
    const struct object *list = set->parts[0];
    struct object *copy = make_set(list->n);
    for (long i = 0; i < list->n; i++)
        add_channel(copy, list->parts[i]->line);
    return copy;
}

ref IOReportCreateSubscription(void *a, ref desired, ref *subscribed, uint64_t b, ref c)
{
    const struct object *set = fake_object(desired, DICTIONARY, "IOReportCreateSubscription");
    if (!set || a || b || c || *subscribed || set->parts[0]->n == 0)
        fake_misuse("IOReportCreateSubscription");
    if (!set || fake_fails() ||
        (set->parts[0]->n && strcmp(set->parts[0]->parts[0]->line->field[0], fake_refused) == 0))
        return NULL;
    *subscribed = fake_asked("nosubscribed") ? NULL : copy_of(set);
    return fake_asked("nosubscription") ? NULL : fake_make(SUBSCRIPTION);
}

ref IOReportCreateSamples(ref subscription, ref subscribed, ref a)
{
    const struct object *set = fake_object(subscribed, DICTIONARY, "IOReportCreateSamples");
    if (!fake_object(subscription, SUBSCRIPTION, "IOReportCreateSamples") || !set || a || fake_fails() ||
        fake_asked("nosample"))
        return NULL;
    fake_now += fake_is_moving;
    return copy_of(set);
}

ref IOReportCreateSamplesDelta(ref before, ref after, ref a)
{
    const struct object *from = fake_object(before, DICTIONARY, "IOReportCreateSamplesDelta"),
                        *to = fake_object(after, DICTIONARY, "IOReportCreateSamplesDelta");
    if (!from || !to || a || fake_fails() || fake_asked("nodelta"))
        return NULL;
    struct object *delta = copy_of(to), *list = delta->parts[0];
    for (long i = 0; i < list->n && list->parts[i]; i++)
        for (int k = 0; k < STATES_MAX; k++) {
            const int64_t then = from->parts[0]->parts[i]->counts[k], here = to->parts[0]->parts[i]->counts[k];
            list->parts[i]->counts[k] = here == INT64_MIN ? here : here - then;
        }
    return delta;
}

/* Not owned by the caller: it lives as long as the channel. */
static ref text_of(ref channel, int i, const char *text, const char *where)
{
    struct object *o = fake_object(channel, DICTIONARY, where);
    if (!o || !o->line || !text[0])
        return NULL;
    if (!o->texts[i]) {
        o->texts[i] = fake_make(STRING);
        snprintf(o->texts[i]->text, FIELD, "%s", text);
    }
    return fake_asked("wrongtext") ? channel : o->texts[i];
}

static const struct line *line_of(ref channel, const char *where)
{
    static const struct line none;
    const struct object *o = fake_object(channel, DICTIONARY, where);
    if (!o || !o->line)
        fake_misuse(where);
    return o && o->line ? o->line : &none;
}

ref IOReportChannelGetGroup(ref channel)
{
    return text_of(channel, 0, line_of(channel, "IOReportChannelGetGroup")->field[0], "IOReportChannelGetGroup");
}

ref IOReportChannelGetSubGroup(ref channel)
{
    return text_of(channel, 1, line_of(channel, "IOReportChannelGetSubGroup")->field[1], "IOReportChannelGetSubGroup");
}

ref IOReportChannelGetChannelName(ref channel)
{
    return text_of(channel, 2, line_of(channel, "IOReportChannelGetChannelName")->field[2], "the channel's name");
}

ref IOReportChannelGetUnitLabel(ref channel)
{
    return text_of(channel, 3, line_of(channel, "IOReportChannelGetUnitLabel")->field[4], "the channel's unit");
}

int IOReportChannelGetFormat(ref channel)
{
    return line_of(channel, "IOReportChannelGetFormat")->format;
}

/* Another format is not a number. */
int64_t IOReportSimpleGetIntegerValue(ref channel, void *a)
{
    const struct object *o = fake_object(channel, DICTIONARY, "IOReportSimpleGetIntegerValue");
    if (!o || a || line_of(channel, "IOReportSimpleGetIntegerValue")->format != 1)
        fake_misuse("IOReportSimpleGetIntegerValue");
    return o ? o->counts[0] : 0;
}

int IOReportStateGetCount(ref channel)
{
    char name[FIELD];
    int n = 0;
    if (fake_asked("manystates"))
        return 1 << 30;
    while (state_at(line_of(channel, "IOReportStateGetCount"), n, name))
        n++;
    return n;
}

ref IOReportStateGetNameForIndex(ref channel, int i)
{
    char name[FIELD];
    if (i < 0 || i >= STATES_MAX || !state_at(line_of(channel, "IOReportStateGetNameForIndex"), i, name)) {
        fake_misuse("IOReportStateGetNameForIndex");
        return NULL;
    }
    return text_of(channel, 4 + i, name, "IOReportStateGetNameForIndex");
}

int64_t IOReportStateGetResidency(ref channel, int i)
{
    const struct object *o = fake_object(channel, DICTIONARY, "IOReportStateGetResidency");
    if (!o || i < 0 || i >= STATES_MAX) {
        fake_misuse("IOReportStateGetResidency");
        return 0;
    }
    return o->counts[i];
}
