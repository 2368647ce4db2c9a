/* A stand-in for IOReport, CoreFoundation and notify(3): what a list of channels says, with every reference counted. */
#include "fake.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

enum kind { SUBSCRIPTION = 1, STRING, ARRAY, DICTIONARY };
enum { LINES_MAX = 64, STATES_MAX = 8, FIELD = 320, FIELDS = 6, MAGIC = 0x0b1ec7 };

struct line {
    char field[FIELDS][FIELD];
    int copies, format;
};
struct object {
    uint32_t magic;
    struct object *next; /* all, also released ones, so that their use is seen */
    enum kind kind;
    int references;
    char text[FIELD];
    struct object **parts; /* of an array; owned with it. A set's only one is its array. */
    long n;
    const struct line *line; /* of a channel */
    struct object *texts[4 + STATES_MAX];
    int64_t counts[STATES_MAX];
};

static struct line lines[LINES_MAX];
static size_t lines_n;
static struct object *objects;
static char behaviour[128], broken[128], refused[FIELD];
static int64_t now;
static bool is_moving;
static uint64_t pressure;
static int calls, failing, tokens;

typedef const void *ref;
extern ref CFStringCreateWithCString(ref allocator, const char *text, uint32_t encoding);
extern unsigned char CFStringGetCString(ref string, char *out, long size, uint32_t encoding);
extern ref CFDictionaryGetValue(ref dictionary, const void *key);
extern long CFArrayGetCount(ref array);
extern ref CFArrayGetValueAtIndex(ref array, long index);
extern unsigned long CFGetTypeID(ref object), CFStringGetTypeID(void), CFArrayGetTypeID(void),
    CFDictionaryGetTypeID(void);
extern void CFRelease(ref object);
extern ref IOReportCopyChannelsInGroup(ref group, ref subgroup, uint64_t a, uint64_t b, uint64_t c);
extern ref IOReportCreateSubscription(void *a, ref desired, ref *subscribed, uint64_t b, ref c);
extern ref IOReportCreateSamples(ref subscription, ref subscribed, ref a);
extern ref IOReportCreateSamplesDelta(ref before, ref after, ref a);
extern ref IOReportChannelGetGroup(ref channel), IOReportChannelGetSubGroup(ref channel);
extern ref IOReportChannelGetChannelName(ref channel), IOReportChannelGetUnitLabel(ref channel);
extern int IOReportChannelGetFormat(ref channel), IOReportStateGetCount(ref channel);
extern int64_t IOReportSimpleGetIntegerValue(ref channel, void *a), IOReportStateGetResidency(ref channel, int i);
extern ref IOReportStateGetNameForIndex(ref channel, int i);
extern uint32_t notify_register_check(const char *name, int *token), notify_get_state(int token, uint64_t *state);
extern uint32_t notify_cancel(int token);

/* ---- the test's side ---- */

static bool asked(const char *word)
{
    return strstr(behaviour, word) != NULL;
}

static void misuse(const char *what)
{
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
}

static bool fails(void)
{
    return ++calls == failing;
}

static void unescape(const char *from, char to[FIELD])
{
    size_t n = 0;
    for (; *from && *from != '\n' && n + 1 < FIELD; from++) {
        unsigned byte;
        if (from[0] == '\\' && from[1] == 'x' && sscanf(from + 2, "%2x", &byte) == 1) {
            to[n++] = (char)byte;
            from += 3;
        } else
            to[n++] = *from;
    }
    to[n] = 0;
}

static void read_line(char *text)
{
    struct line *l = &lines[lines_n];
    *l = (struct line){.copies = 1};
    if (text[0] == '*')
        l->copies = (int)strtol(text + 1, &text, 10), text++;
    for (int i = 0; i < FIELDS; i++) {
        char *end = strchr(text, '|');
        if (end)
            *end = 0;
        unescape(text, l->field[i]);
        text = end ? end + 1 : text + strlen(text);
    }
    l->format = atoi(l->field[3]);
    if (strcmp(l->field[0], "refuse") == 0)
        strcpy(refused, l->field[1]);
    else
        lines_n++;
}

void fake_use(const char *list, const char *words)
{
    char text[1024];
    FILE *f = list ? fopen(list, "r") : NULL;
    while (objects) {
        struct object *o = objects;
        objects = o->next;
        free(o->parts);
        free(o);
    }
    lines_n = 0;
    broken[0] = refused[0] = 0;
    pressure = 0;
    now = tokens = calls = failing = 0;
    snprintf(behaviour, sizeof behaviour, "%s", words);
    is_moving = asked("moving");
    while (f && lines_n < LINES_MAX && fgets(text, sizeof text, f))
        if (text[0] != '#' && text[0] != '\n')
            read_line(text);
    if (f)
        fclose(f);
    else if (list)
        misuse("no list of channels");
}

void fake_time(int64_t time)
{
    now = time;
    is_moving = false;
}

void fake_pressure(uint64_t level)
{
    pressure = level;
}

int fake_fail(int n)
{
    const int before = calls;
    calls = 0;
    failing = n;
    return before;
}

int fake_live(void)
{
    int n = tokens;
    for (const struct object *o = objects; o; o = o->next)
        n += o->references > 0;
    return n;
}

const char *fake_broken(void)
{
    return broken[0] ? broken : NULL;
}

/* ---- CoreFoundation ---- */

static struct object *make(enum kind kind)
{
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        abort();
    o->magic = MAGIC;
    o->kind = kind;
    o->references = 1;
    o->next = objects;
    objects = o;
    return o;
}

static struct object *use(ref at, enum kind kind, const char *where)
{
    struct object *o = (struct object *)(uintptr_t)at;
    if (!o || o->magic != MAGIC || o->references < 1 || (kind && o->kind != kind)) {
        misuse(where);
        return NULL;
    }
    return o;
}

ref CFStringCreateWithCString(ref allocator, const char *text, uint32_t encoding)
{
    if (allocator || encoding != 0x08000100)
        misuse("CFStringCreateWithCString");
    if (fails())
        return NULL;
    struct object *o = make(STRING);
    snprintf(o->text, sizeof o->text, "%s", text);
    return o;
}

unsigned char CFStringGetCString(ref string, char *out, long size, uint32_t encoding)
{
    const struct object *o = use(string, STRING, "CFStringGetCString");
    if (encoding != 0x08000100)
        misuse("CFStringGetCString");
    if (!o || fails() || (long)strlen(o->text) >= size) {
        strcpy(out, "DRAM7"); /* it need not leave alone what it does not fill */
        return 0;
    }
    strcpy(out, o->text);
    return 1;
}

ref CFDictionaryGetValue(ref dictionary, const void *key)
{
    const struct object *o = use(dictionary, DICTIONARY, "CFDictionaryGetValue"),
                        *k = use(key, STRING, "CFDictionaryGetValue");
    if (!o || !k || o->line || strcmp(k->text, "IOReportChannels") != 0 || asked("nolist"))
        return NULL;
    return asked("wronglist") ? key : o->parts[0];
}

long CFArrayGetCount(ref array)
{
    const struct object *o = use(array, ARRAY, "CFArrayGetCount");
    return o ? o->n : 0;
}

ref CFArrayGetValueAtIndex(ref array, long index)
{
    const struct object *o = use(array, ARRAY, "CFArrayGetValueAtIndex");
    if (!o || index < 0 || index >= o->n) {
        misuse("CFArrayGetValueAtIndex");
        return NULL;
    }
    return asked("wrongchannel") ? array : o->parts[index];
}

unsigned long CFGetTypeID(ref object)
{
    const struct object *o = use(object, 0, "CFGetTypeID");
    return o ? o->kind : 0;
}

#define TYPE(name, kind)                                                                                               \
    unsigned long name(void)                                                                                           \
    {                                                                                                                  \
        return kind;                                                                                                   \
    }
TYPE(CFStringGetTypeID, STRING)
TYPE(CFArrayGetTypeID, ARRAY)
TYPE(CFDictionaryGetTypeID, DICTIONARY)

void CFRelease(ref object)
{
    struct object *o = use(object, 0, "CFRelease of what is gone");
    if (!o || --o->references)
        return;
    for (long i = 0; i < o->n; i++)
        CFRelease(o->parts[i]);
    for (size_t i = 0; i < sizeof o->texts / sizeof *o->texts; i++)
        if (o->texts[i])
            CFRelease(o->texts[i]);
}

/* ---- IOReport ---- */

static int64_t value_of(const char *text)
{
    char *end;
    if (strcmp(text, "min") == 0)
        return INT64_MIN;
    const int64_t start = strtoll(text, &end, 10);
    return start + (*end == '+' ? strtoll(end + 1, NULL, 10) * now : 0);
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
    struct object *set = make(DICTIONARY), *list = make(ARRAY);
    set->parts = calloc(1, sizeof *set->parts);
    list->parts = calloc((size_t)n + 1, sizeof *list->parts);
    if (!set->parts || !list->parts)
        abort();
    set->parts[0] = list;
    set->n = 1;
    return set;
}

static void add(struct object *set, const struct line *line)
{
    struct object *list = set->parts[0], *channel = make(DICTIONARY);
    channel->line = line;
    set_counts(channel);
    list->parts[list->n++] = channel;
}

ref IOReportCopyChannelsInGroup(ref group, ref subgroup, uint64_t a, uint64_t b, uint64_t c)
{
    const struct object *g = use(group, STRING, "IOReportCopyChannelsInGroup"),
                        *s = subgroup ? use(subgroup, STRING, "IOReportCopyChannelsInGroup") : NULL;
    long n = 0;
    if (!g || a || b || c || fails())
        return NULL;
    for (size_t i = 0; i < lines_n; i++)
        n += strcmp(lines[i].field[0], g->text) == 0 ? lines[i].copies : 0;
    if (n == 0)
        return NULL;
    struct object *set = make_set(n);
    for (size_t i = 0; i < lines_n && !asked("empty"); i++)
        for (int k = 0; k < lines[i].copies; k++)
            if (strcmp(lines[i].field[0], g->text) == 0 && (!s || strcmp(lines[i].field[1], s->text) == 0))
                add(set, &lines[i]);
    return set;
}

static struct object *copy_of(const struct object *set)
{
    const struct object *list = set->parts[0];
    struct object *copy = make_set(list->n);
    for (long i = 0; i < list->n; i++)
        add(copy, list->parts[i]->line);
    return copy;
}

ref IOReportCreateSubscription(void *a, ref desired, ref *subscribed, uint64_t b, ref c)
{
    const struct object *set = use(desired, DICTIONARY, "IOReportCreateSubscription");
    if (!set || a || b || c || *subscribed || set->parts[0]->n == 0)
        misuse("IOReportCreateSubscription");
    if (!set || fails() || (set->parts[0]->n && strcmp(set->parts[0]->parts[0]->line->field[0], refused) == 0))
        return NULL;
    *subscribed = asked("nosubscribed") ? NULL : copy_of(set);
    return asked("nosubscription") ? NULL : make(SUBSCRIPTION);
}

ref IOReportCreateSamples(ref subscription, ref subscribed, ref a)
{
    const struct object *set = use(subscribed, DICTIONARY, "IOReportCreateSamples");
    if (!use(subscription, SUBSCRIPTION, "IOReportCreateSamples") || !set || a || fails() || asked("nosample"))
        return NULL;
    now += is_moving;
    return copy_of(set);
}

ref IOReportCreateSamplesDelta(ref before, ref after, ref a)
{
    const struct object *from = use(before, DICTIONARY, "IOReportCreateSamplesDelta"),
                        *to = use(after, DICTIONARY, "IOReportCreateSamplesDelta");
    if (!from || !to || a || fails() || asked("nodelta"))
        return NULL;
    struct object *delta = copy_of(to), *list = delta->parts[0];
    for (long i = 0; i < list->n; i++)
        for (int k = 0; k < STATES_MAX; k++) {
            const int64_t then = from->parts[0]->parts[i]->counts[k], here = to->parts[0]->parts[i]->counts[k];
            list->parts[i]->counts[k] = here == INT64_MIN ? here : here - then;
        }
    return delta;
}

/* Not owned by who asks: it lives with the channel. */
static ref text_of(ref channel, int i, const char *text, const char *where)
{
    struct object *o = use(channel, DICTIONARY, where);
    if (!o || !o->line || !text[0])
        return NULL;
    if (!o->texts[i]) {
        o->texts[i] = make(STRING);
        snprintf(o->texts[i]->text, FIELD, "%s", text);
    }
    return asked("wrongtext") ? channel : o->texts[i];
}

static const struct line *line_of(ref channel, const char *where)
{
    static const struct line none;
    const struct object *o = use(channel, DICTIONARY, where);
    if (!o || !o->line)
        misuse(where);
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

/* Of another format it is no number. */
int64_t IOReportSimpleGetIntegerValue(ref channel, void *a)
{
    const struct object *o = use(channel, DICTIONARY, "IOReportSimpleGetIntegerValue");
    if (!o || a || line_of(channel, "IOReportSimpleGetIntegerValue")->format != 1)
        misuse("IOReportSimpleGetIntegerValue");
    return o ? o->counts[0] : 0;
}

int IOReportStateGetCount(ref channel)
{
    char name[FIELD];
    int n = 0;
    if (asked("manystates"))
        return 1 << 30;
    while (state_at(line_of(channel, "IOReportStateGetCount"), n, name))
        n++;
    return n;
}

ref IOReportStateGetNameForIndex(ref channel, int i)
{
    char name[FIELD];
    if (i < 0 || i >= STATES_MAX || !state_at(line_of(channel, "IOReportStateGetNameForIndex"), i, name)) {
        misuse("IOReportStateGetNameForIndex");
        return NULL;
    }
    return text_of(channel, 4 + i, name, "IOReportStateGetNameForIndex");
}

int64_t IOReportStateGetResidency(ref channel, int i)
{
    const struct object *o = use(channel, DICTIONARY, "IOReportStateGetResidency");
    if (!o || i < 0 || i >= STATES_MAX) {
        misuse("IOReportStateGetResidency");
        return 0;
    }
    return o->counts[i];
}

/* ---- notify(3) ---- */

uint32_t notify_register_check(const char *name, int *token)
{
    if (fails() || strcmp(name, "com.apple.system.thermalpressurelevel") != 0)
        return 1;
    *token = 40 + tokens++;
    return 0;
}

uint32_t notify_get_state(int token, uint64_t *state)
{
    if (token < 40 || token >= 40 + tokens)
        misuse("notify_get_state");
    if (fails())
        return 2;
    *state = pressure;
    return 0;
}

uint32_t notify_cancel(int token)
{
    if (token < 40 || tokens == 0)
        misuse("notify_cancel");
    tokens--;
    return 0;
}
