/* A stand-in for IOKit: the device tree's "pmgr" and the system management controller, by the lines of a list. */
#include "fake_parts.h"

#pragma GCC visibility push(default)

enum { PORTS_MAX = 256, FIRST_PORT = 1000, TASK = 77, CLASS_TREE = 1, CLASS_SMC = 2 };
/* What the driver is asked for and answers: 80 bytes. */
enum { AT_SIZE = 28, AT_TYPE = 32, AT_RESULT = 40, AT_COMMAND = 42, AT_INDEX = 44, AT_BYTES = 48, RECORD = 80 };

struct port {
    enum { FREE, ITERATOR, SERVICE, CONNECTION } kind;
    int class, index; /* of an iterator the next one */
};
static struct port ports[PORTS_MAX];
uint32_t mach_task_self_ = TASK;

extern ref IOServiceMatching(const char *name);
extern int IOServiceGetMatchingServices(uint32_t main_port, ref matching, uint32_t *found);
extern uint32_t IOIteratorNext(uint32_t iterator);
extern int IORegistryEntryGetName(uint32_t entry, char out[128]);
extern ref IORegistryEntryCreateCFProperty(uint32_t entry, ref key, ref allocator, uint32_t options);
extern int IOObjectRelease(uint32_t port), IOServiceClose(uint32_t connection);
extern int IOServiceOpen(uint32_t service, uint32_t task, uint32_t type, uint32_t *connection);
extern int IOConnectCallStructMethod(uint32_t connection, uint32_t selector, const void *in, size_t in_size, void *out,
                                     size_t *out_size);

void fake_iokit_use(void)
{
    memset(ports, 0, sizeof ports);
    fake_ports = 0;
}

static uint32_t new_port(int kind, int class, int index)
{
    uint32_t i = 0;
    while (i < PORTS_MAX && ports[i].kind != FREE)
        i++;
    if (i == PORTS_MAX)
        abort();
    ports[i].kind = kind;
    ports[i].class = class;
    ports[i].index = index;
    fake_ports++;
    return FIRST_PORT + i;
}

static struct port *port_of(uint32_t number, int kind, const char *where)
{
    struct port *p = number >= FIRST_PORT && number < FIRST_PORT + PORTS_MAX ? &ports[number - FIRST_PORT] : NULL;
    if (p && p->kind != FREE && (!kind || (int)p->kind == kind))
        return p;
    fake_misuse(where);
    return NULL;
}

static size_t lines_of(const char *group)
{
    size_t n = 0;
    for (size_t i = 0; i < fake_lines_n; i++)
        n += strcmp(fake_lines[i].field[0], group) == 0;
    return n;
}

static const struct line *line_at(const char *group, size_t index)
{
    for (size_t i = 0; i < fake_lines_n; i++)
        if (strcmp(fake_lines[i].field[0], group) == 0 && index-- == 0)
            return &fake_lines[i];
    return NULL;
}

/* ---- the registry ---- */

ref IOServiceMatching(const char *name)
{
    if (fake_fails())
        return NULL;
    struct object *o = fake_make(DICTIONARY);
    snprintf(o->text, sizeof o->text, "%s", name);
    return o;
}

int IOServiceGetMatchingServices(uint32_t main_port, ref matching, uint32_t *found)
{
    const struct object *o = fake_object(matching, DICTIONARY, "IOServiceGetMatchingServices");
    const int class = !o                                         ? 0
                      : strcmp(o->text, "AppleARMIODevice") == 0 ? CLASS_TREE
                      : strcmp(o->text, "AppleSMC") == 0         ? CLASS_SMC
                                                                 : 0;
    if (main_port || !class)
        fake_misuse("IOServiceGetMatchingServices");
    CFRelease(matching);
    if (fake_fails())
        return -1;
    *found = new_port(ITERATOR, class, 0);
    return 0;
}

/* Others are beside the one that is looked for. */
static const char *name_at(int class, int index)
{
    static const char *const tree[] = {"aic", "pmgr", "dart"}, *const smc[] = {"AppleSMC", "AppleSMCKeysEndpoint",
                                                                               "AppleSMCClient"};
    if (class == CLASS_TREE)
        return index < 3 && lines_of("pmgr") ? tree[index] : NULL;
    return index < 3 && lines_of("smc") ? smc[index] : NULL;
}

uint32_t IOIteratorNext(uint32_t iterator)
{
    struct port *p = port_of(iterator, ITERATOR, "IOIteratorNext");
    if (!p || fake_fails() || !name_at(p->class, p->index))
        return 0;
    return new_port(SERVICE, p->class, p->index++);
}

int IORegistryEntryGetName(uint32_t entry, char out[128])
{
    const struct port *p = port_of(entry, SERVICE, "IORegistryEntryGetName");
    if (!p || fake_fails())
        return -1;
    snprintf(out, 128, "%s", name_at(p->class, p->index));
    return 0;
}

/* "600000000 972000000" as words, each with one for the voltage behind it, and some bytes more. */
static void fill(struct object *data, const struct line *l)
{
    const char *at = l->field[2];
    char *end;
    for (unsigned long word = strtoul(at, &end, 10); end != at && data->length + 8 < DATA_MAX;
         word = strtoul(at, &end, 10)) {
        const unsigned long words[2] = {word, 790};
        for (int i = 0; i < 8; i++)
            data->data[data->length++] = (unsigned char)(words[i / 4] >> 8 * (i % 4));
        at = end;
    }
    data->length += l->format;
    if (fake_asked("longdata"))
        data->length = 1L << 40;
}

ref IORegistryEntryCreateCFProperty(uint32_t entry, ref key, ref allocator, uint32_t options)
{
    const struct port *p = port_of(entry, SERVICE, "IORegistryEntryCreateCFProperty");
    const struct object *name = fake_object(key, STRING, "IORegistryEntryCreateCFProperty");
    if (allocator || options)
        fake_misuse("IORegistryEntryCreateCFProperty");
    if (!p || !name || fake_fails() || strcmp(name_at(p->class, p->index), "pmgr") != 0)
        return NULL;
    for (size_t i = 0; i < lines_of("pmgr"); i++) {
        const struct line *l = line_at("pmgr", i);
        if (strcmp(l->field[1], name->text) != 0)
            continue;
        struct object *data = fake_make(fake_asked("wrongdata") ? STRING : DATA);
        fill(data, l);
        return data;
    }
    return NULL;
}

static void drop_port(struct port *p)
{
    if (!p)
        return;
    p->kind = FREE;
    fake_ports--;
}

int IOObjectRelease(uint32_t port)
{
    struct port *p = port_of(port, 0, "IOObjectRelease of what is gone");
    if (p && p->kind == CONNECTION)
        fake_misuse("IOObjectRelease of a connection");
    drop_port(p);
    return 0;
}

/* ---- the controller ---- */

int IOServiceOpen(uint32_t service, uint32_t task, uint32_t type, uint32_t *connection)
{
    const struct port *p = port_of(service, SERVICE, "IOServiceOpen");
    if (task != TASK || type || (p && p->class != CLASS_SMC))
        fake_misuse("IOServiceOpen");
    if (!p || fake_fails() || fake_asked("noopen"))
        return -1;
    *connection = fake_asked("noconnection") ? 0 : new_port(CONNECTION, p->class, p->index);
    return 0;
}

int IOServiceClose(uint32_t connection)
{
    drop_port(port_of(connection, CONNECTION, "IOServiceClose"));
    return 0;
}

static uint32_t word_of(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static void store_word(unsigned char *at, uint32_t word)
{
    memcpy(at, &word, sizeof word);
}

static uint32_t letters(const char *text)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++)
        word = word << 8 | (unsigned char)text[i];
    return word;
}

/* The key at an index, or with a name: 0 is the number of keys, in network byte order. */
static const struct line *key_line(uint32_t key)
{
    for (size_t i = 0; i < lines_of("smc"); i++)
        if (letters(line_at("smc", i)->field[1]) == key)
            return line_at("smc", i);
    return NULL;
}

static int answer(const unsigned char *in, unsigned char *out)
{
    const uint32_t key = word_of(in), count = fake_asked("manykeys") ? 1u << 20 : (uint32_t)lines_of("smc") + 1;
    const bool is_count = key == letters("#KEY");
    const struct line *l = is_count ? NULL : key_line(key);
    if (in[AT_COMMAND] == 8) { /* the key at an index */
        l = word_of(in + AT_INDEX) ? line_at("smc", word_of(in + AT_INDEX) - 1) : NULL;
        store_word(out, l ? letters(l->field[1]) : letters("#KEY"));
        return l || !word_of(in + AT_INDEX) ? 0 : 0x84;
    }
    if (!l && !is_count)
        return 0x84; /* no such key */
    if (in[AT_COMMAND] == 9) {
        store_word(out + AT_SIZE, is_count ? 4 : (uint32_t)l->format);
        store_word(out + AT_TYPE, letters(is_count ? "ui32" : l->field[2]));
        return 0;
    }
    if (in[AT_COMMAND] != 5 || word_of(in + AT_SIZE) != 4)
        fake_misuse("the record of IOConnectCallStructMethod");
    const float value = is_count ? 0 : strtof(l->field[4], NULL);
    memcpy(out + AT_BYTES, &value, sizeof value);
    for (int i = 0; is_count && i < 4; i++)
        out[AT_BYTES + i] = (unsigned char)(count >> 8 * (3 - i));
    return 0;
}

/* What is in a record that was refused means nothing. */
static int refuse(unsigned char *out)
{
    store_word(out + AT_SIZE, 4);
    store_word(out + AT_TYPE, letters("ui32"));
    out[AT_BYTES + 3] = 9;
    return 0x85;
}

/* Only the second of the services has keys. */
int IOConnectCallStructMethod(uint32_t connection, uint32_t selector, const void *in, size_t in_size, void *out,
                              size_t *out_size)
{
    const struct port *p = port_of(connection, CONNECTION, "IOConnectCallStructMethod");
    if (selector != 2 || in_size != RECORD || *out_size != RECORD)
        fake_misuse("IOConnectCallStructMethod");
    if (!p || fake_fails())
        return -1;
    unsigned char *record = out;
    memset(record, 0, RECORD);
    record[AT_RESULT] = (unsigned char)(p->index == 1 ? answer(in, record) : refuse(record));
    *out_size = fake_asked("shortreply") ? RECORD - 1 : RECORD;
    return 0;
}
