/* A stand-in for CoreFoundation and notify(3) with interfaces for tests; it counts every reference. */
#include "fake_parts.h"

#pragma GCC visibility push(default)

struct line fake_lines[LINES_MAX];
size_t fake_lines_n;
char fake_refused[FIELD];
int64_t fake_now;
bool fake_is_moving;
int fake_ports;
static struct object *objects;
static char behaviour[128], broken[128];
static uint64_t pressure;
static int calls, failing, tokens;

extern ref CFStringCreateWithCString(ref allocator, const char *text, uint32_t encoding);
extern unsigned char CFStringGetCString(ref string, char *out, long size, uint32_t encoding);
extern ref CFDictionaryGetValue(ref dictionary, const void *key);
extern long CFArrayGetCount(ref array);
extern ref CFArrayGetValueAtIndex(ref array, long index);
extern unsigned long CFGetTypeID(ref object), CFStringGetTypeID(void), CFArrayGetTypeID(void),
    CFDictionaryGetTypeID(void);
extern unsigned long CFDataGetTypeID(void);
extern long CFDataGetLength(ref data);
extern const unsigned char *CFDataGetBytePtr(ref data);
extern uint32_t notify_register_check(const char *name, int *token), notify_get_state(int token, uint64_t *state);
extern uint32_t notify_cancel(int token);

/* ---- the test's side ---- */

bool fake_asked(const char *word)
{
    return strstr(behaviour, word) != NULL;
}

void fake_misuse(const char *what)
{
    if (!broken[0])
        snprintf(broken, sizeof broken, "%s", what);
}

bool fake_fails(void)
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
    struct line *l = &fake_lines[fake_lines_n];
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
        snprintf(fake_refused, sizeof fake_refused, "%s", l->field[1]);
    else
        fake_lines_n++;
}

void fake_use(const char *list, const char *words)
{
    char text[2048];
    FILE *f = list ? fopen(list, "r") : NULL;
    while (objects) {
        struct object *o = objects;
        objects = o->next;
        free(o->parts);
        free(o);
    }
    fake_lines_n = 0;
    broken[0] = fake_refused[0] = 0;
    pressure = 0;
    fake_iokit_use();
    fake_now = tokens = calls = failing = 0;
    snprintf(behaviour, sizeof behaviour, "%s", words);
    fake_is_moving = fake_asked("moving");
    while (f && fake_lines_n < LINES_MAX && fgets(text, sizeof text, f))
        if (text[0] != '#' && text[0] != '\n')
            read_line(text);
    if (f)
        fclose(f);
    else if (list)
        fake_misuse("no list of channels");
}

void fake_time(int64_t time)
{
    fake_now = time;
    fake_is_moving = false;
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
    int n = tokens + fake_ports;
    for (const struct object *o = objects; o; o = o->next)
        n += o->references > 0;
    return n;
}

const char *fake_broken(void)
{
    return broken[0] ? broken : NULL;
}

/* ---- CoreFoundation ---- */

struct object *fake_make(enum kind kind)
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

struct object *fake_object(ref at, enum kind kind, const char *where)
{
    struct object *o = (struct object *)(uintptr_t)at;
    if (!o || o->magic != MAGIC || o->references < 1 || (kind && o->kind != kind)) {
        fake_misuse(where);
        return NULL;
    }
    return o;
}

ref CFStringCreateWithCString(ref allocator, const char *text, uint32_t encoding)
{
    if (allocator || encoding != 0x08000100)
        fake_misuse("CFStringCreateWithCString");
    if (fake_fails())
        return NULL;
    struct object *o = fake_make(STRING);
    snprintf(o->text, sizeof o->text, "%s", text);
    return o;
}

unsigned char CFStringGetCString(ref string, char *out, long size, uint32_t encoding)
{
    const struct object *o = fake_object(string, STRING, "CFStringGetCString");
    if (encoding != 0x08000100)
        fake_misuse("CFStringGetCString");
    if (!o || fake_fails() || (long)strlen(o->text) >= size) {
        snprintf(out, (size_t)size, "DRAM7"); /* it need not leave alone what it does not fill */
        return 0;
    }
    snprintf(out, (size_t)size, "%s", o->text);
    return 1;
}

ref CFDictionaryGetValue(ref dictionary, const void *key)
{
    const struct object *o = fake_object(dictionary, DICTIONARY, "CFDictionaryGetValue"),
                        *k = fake_object(key, STRING, "CFDictionaryGetValue");
    if (!o || !k || o->line || strcmp(k->text, "IOReportChannels") != 0 || fake_asked("nolist"))
        return NULL;
    return fake_asked("wronglist") ? key : o->parts[0];
}

long CFArrayGetCount(ref array)
{
    const struct object *o = fake_object(array, ARRAY, "CFArrayGetCount");
    return o ? o->n : 0;
}

ref CFArrayGetValueAtIndex(ref array, long index)
{
    const struct object *o = fake_object(array, ARRAY, "CFArrayGetValueAtIndex");
    if (!o || index < 0 || index >= o->n) {
        fake_misuse("CFArrayGetValueAtIndex");
        return NULL;
    }
    return fake_asked("wrongchannel") ? array : o->parts[index];
}

unsigned long CFGetTypeID(ref object)
{
    const struct object *o = fake_object(object, 0, "CFGetTypeID");
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
TYPE(CFDataGetTypeID, DATA)

long CFDataGetLength(ref data)
{
    const struct object *o = fake_object(data, DATA, "CFDataGetLength");
    return o ? o->length : 0;
}

const unsigned char *CFDataGetBytePtr(ref data)
{
    const struct object *o = fake_object(data, DATA, "CFDataGetBytePtr");
    return o && !fake_fails() ? o->data : NULL;
}

void CFRelease(ref object)
{
    struct object *o = fake_object(object, 0, "CFRelease of what is gone");
    if (!o || --o->references)
        return;
    for (long i = 0; i < o->n; i++)
        CFRelease(o->parts[i]);
    for (size_t i = 0; i < sizeof o->texts / sizeof *o->texts; i++)
        if (o->texts[i])
            CFRelease(o->texts[i]);
}

/* ---- notify(3) ---- */

uint32_t notify_register_check(const char *name, int *token)
{
    if (fake_fails() || strcmp(name, "com.apple.system.thermalpressurelevel") != 0)
        return 1;
    *token = 40 + tokens++;
    return 0;
}

uint32_t notify_get_state(int token, uint64_t *state)
{
    if (token < 40 || token >= 40 + tokens)
        fake_misuse("notify_get_state");
    if (fake_fails())
        return 2;
    *state = pressure;
    return 0;
}

uint32_t notify_cancel(int token)
{
    if (token < 40 || tokens == 0)
        fake_misuse("notify_cancel");
    tokens--;
    return 0;
}
