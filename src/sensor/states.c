#include "sensor/states.h"

#include "base/buf.h"
#include "base/text.h"
#include "sensor/iokit.h"
#include "sensor/rails.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tables ---- */

static uint32_t states_word_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Hz per count; 0 unknown. Core clocks are between 100 MHz and 10 GHz, and 32 bits of Hz hold at most 4.3 GHz. */
static double states_unit_of(const double *counts, size_t n)
{
    bool is_hz = true, is_khz = true;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 && counts[0] == 0)
            continue;
        is_hz &= counts[i] >= 1e8;
        is_khz &= counts[i] >= 1e5 && counts[i] <= 1e7;
    }
    return is_hz ? 1 : is_khz ? 1e3 : 0;
}

void as_clock_table_from(const unsigned char *bytes, size_t size, bool is_gpu, struct as_clock_table *out)
{
    enum { ENTRY = 8 };
    const size_t n = size / ENTRY;
    bool ascends = true;
    out->n = 0;
    out->why[0] = 0;
    if (!n || size % ENTRY || n > AS_CLOCKS_MAX) {
        snprintf(out->why, sizeof out->why, "'%s' has %zu bytes: not a clock table", out->key, size);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out->hz[i] = states_word_at(bytes + ENTRY * i);
        ascends &= i == 0 || (is_gpu && out->hz[0] == 0) || out->hz[i] > out->hz[i - 1];
    }
    const double unit = states_unit_of(out->hz, n);
    if (!ascends || unit == 0 || (n == 1 && out->hz[0] == 0))
        snprintf(out->why, sizeof out->why, "'%s' is not a clock table in Hz or kHz", out->key);
    else
        out->n = n;
    for (size_t i = 0; i < out->n; i++)
        out->hz[i] *= unit;
}

static bool read_tables(const struct as_iokit *io, uint32_t service, void *user)
{
    struct as_clock_table *tables = user;
    char name[AS_IOKIT_NAME] = "";
    if (io->name(service, name) != 0 || strncmp(name, "pmgr", sizeof name) != 0)
        return false;
    for (size_t i = 0; i < AS_STATES_TABLES; i++) {
        unsigned char bytes[8 * AS_CLOCKS_MAX];
        const size_t size = as_iokit_property(io, service, tables[i].key, bytes, sizeof bytes);
        if (size)
            as_clock_table_from(bytes, size, i == AS_STATES_GPU, &tables[i]);
        else
            snprintf(tables[i].why, sizeof tables[i].why, "the device tree has no usable '%s'", tables[i].key);
    }
    return true;
}

static void find_tables(struct as_clock_table *tables)
{
    static const char *const keys[AS_STATES_TABLES] = {"voltage-states1-sram", "voltage-states5-sram",
                                                       "voltage-states22-sram", "voltage-states23-sram",
                                                       "voltage-states9"};
    struct as_iokit io;
    struct as_error err = {0};
    const enum as_status st = as_iokit_load(&io, &err);
    for (size_t i = 0; i < AS_STATES_TABLES; i++) {
        tables[i] = (struct as_clock_table){.key = keys[i]};
        as_copy_text(tables[i].why, sizeof tables[i].why, st ? err.text : "the device tree has no 'pmgr'");
    }
    if (!st)
        as_iokit_each(&io, "AppleARMIODevice", read_tables, tables);
}

/* ---- states ---- */

static bool is_off(const char *name)
{
    return strcmp(name, "OFF") == 0 || strcmp(name, "IDLE") == 0 || strcmp(name, "DOWN") == 0;
}

/* Parses a number without sign or blanks, and sets the rest; false if there is none. */
static bool number_at(const char **at, size_t *out)
{
    const size_t digits = strspn(*at, "0123456789");
    *out = 0;
    for (size_t i = 0; i < digits && i < 4; i++)
        *out = 10 * *out + (size_t)((*at)[i] - '0');
    *at += digits;
    return digits > 0 && digits < 4;
}

/* The clock of a state in its table; NAN if missing. */
static double states_clock_of(const struct as_clock_table *t, bool is_cpu, const char *name)
{
    size_t entry, rest = 0;
    const char *at = name + 1;
    if (*name != (is_cpu ? 'V' : 'P') || !number_at(&at, &entry) || (is_cpu && *at++ != 'P'))
        return NAN;
    if (is_cpu && (!number_at(&at, &rest) || entry + rest + 1 != t->n))
        return NAN;
    return !*at && entry < t->n && t->hz[entry] > 0 ? t->hz[entry] : NAN;
}

/* Sums over a channel's states. */
struct times {
    double all, active, cycles; /* cycles: of the time with a clock */
    bool is_known;              /* every state has a name and a non-negative time */
};

/* Keeps the first reason. state NULL: a state has no name or a negative time. */
static void states_why(char why[120], const struct as_ioreport_channel *c, const char *state, const char *key)
{
    struct as_buf b = AS_BUF_INIT;
    if (why[0])
        return;
    as_buf_str(&b, state ? "state '" : "the states");
    as_buf_terminal(&b, state ? state : "");
    as_buf_str(&b, state ? "' of '" : " of '");
    as_buf_terminal(&b, c->name);
    as_buf_printf(&b, state ? "' has no entry in '%s'" : "' cannot be read%s", key);
    as_copy_text(why, 120, as_buf_get(&b));
    as_buf_finish(&b);
}

/* With a table, it must contain each state; for a GPU only the states used, since its channel always names 15. */
static struct times states_add_up(const struct as_ioreport *r, const struct as_ioreport_channel *c, bool is_cpu,
                                  const struct as_clock_table *table, char why[120])
{
    struct times t = {.all = 0};
    const int n = r->api.states(c->ref);
    t.is_known = n > 0 && n <= AS_IOREPORT_STATES_MAX;
    for (int i = 0; t.is_known && i < n; i++) {
        char name[32];
        const double time = (double)r->api.residency(c->ref, i);
        as_ioreport_state(r, c->ref, i, name, sizeof name);
        t.is_known = time >= 0 && name[0];
        t.all += time;
        if (is_off(name))
            continue;
        const double hz = table && table->n ? states_clock_of(table, is_cpu, name) : NAN;
        if (t.is_known && table && table->n && isnan(hz) && (is_cpu || time > 0))
            states_why(why, c, name, table->key);
        t.active += time;
        t.cycles += time > 0 ? hz * time : 0;
    }
    if (!t.is_known)
        states_why(why, c, NULL, "");
    return t;
}

/* ---- GPU ---- */

struct gpu {
    const struct as_states *states;
    struct as_states_seen *seen;
    size_t n;
};

static void look_at_gpu(const struct as_ioreport *r, const struct as_ioreport_channel *c, void *user)
{
    struct gpu *gpu = user;
    struct as_states_seen *seen = gpu->seen;
    const struct as_clock_table *table = &gpu->states->tables[AS_STATES_GPU];
    if (strcmp(c->name, "GPUPH") != 0 || c->format != AS_IOREPORT_STATE)
        return;
    const struct times t = states_add_up(r, c, false, table, seen->why);
    const bool good = gpu->n++ == 0 && t.is_known && t.all > 0;
    seen->busy = good ? t.active / t.all : NAN;
    if (!table->n)
        as_copy_text(seen->why, sizeof seen->why, table->why);
    else if (table->hz[0] > 0)
        snprintf(seen->why, sizeof seen->why, "entry 0 of '%s' is not off", table->key);
    else if (gpu->n > 1)
        as_copy_text(seen->why, sizeof seen->why, "channel 'GPUPH' occurs twice");
    seen->hz = good && t.active > 0 && !seen->why[0] ? t.cycles / t.active : NAN;
}

/* ---- CPU ---- */

enum { CLUSTERS_MAX = 16 };

struct cluster {
    char name[32]; /* "P1", "DIE_1_P0" */
    char kind;
    const struct as_clock_table *table; /* NULL: unknown */
    struct times requested, actual;
    size_t requested_n, actual_n;
    char why[120];
};
struct cpu {
    const struct as_states *states;
    struct cluster clusters[CLUSTERS_MAX];
    size_t n;
};

static const struct as_clock_table *table_of(const struct as_states *s, char kind, size_t number)
{
    switch (kind) {
    case 'E':
        return &s->tables[AS_STATES_E];
    case 'P':
        return &s->tables[AS_STATES_P];
    case 'M':
        return number < 2 ? &s->tables[AS_STATES_M0 + number] : NULL;
    default:
        return NULL;
    }
}

/* Parses "PCPU", "MCPM1", "DIE_1_PCPU0": the cluster, and whether these are its actual states. */
static struct cluster *cluster_of(struct cpu *cpu, const char *name, bool *is_actual)
{
    const char *unit = as_rail_past_die(name), *at = unit + 4;
    size_t number = 0, i = 0;
    char key[32];
    if (strlen(unit) < 4 || *unit < 'A' || *unit > 'Z' || strncmp(unit + 1, "CP", 2) != 0 ||
        (unit[3] != 'U' && unit[3] != 'M') || (*at && (!number_at(&at, &number) || *at)))
        return NULL;
    *is_actual = unit[3] == 'M';
    snprintf(key, sizeof key, "%.*s%c%zu", (int)(unit - name), name, *unit, number);
    while (i < cpu->n && strcmp(cpu->clusters[i].name, key) != 0)
        i++;
    if (i == CLUSTERS_MAX)
        return NULL;
    if (i == cpu->n) {
        cpu->clusters[cpu->n++] = (struct cluster){.kind = *unit, .table = table_of(cpu->states, *unit, number)};
        as_copy_text(cpu->clusters[i].name, sizeof cpu->clusters[i].name, key);
    }
    return &cpu->clusters[i];
}

static void look_at_cpu(const struct as_ioreport *r, const struct as_ioreport_channel *c, void *user)
{
    struct cpu *cpu = user;
    bool is_actual = false;
    struct cluster *k = c->format == AS_IOREPORT_STATE ? cluster_of(cpu, c->name, &is_actual) : NULL;
    if (!k)
        return;
    *(is_actual ? &k->actual : &k->requested) = states_add_up(r, c, true, is_actual ? k->table : NULL, k->why);
    *(is_actual ? &k->actual_n : &k->requested_n) += 1;
}

/* Why a cluster's clock cannot be known; "" if it can. */
static void check_cluster(struct cluster *k)
{
    if (!k->table)
        snprintf(k->why, sizeof k->why, "no clock table is known for cluster '%s'", k->name);
    else if (!k->table->n)
        as_copy_text(k->why, sizeof k->why, k->table->why);
    else if (!k->why[0] && (k->requested_n != 1 || k->actual_n != 1))
        snprintf(k->why, sizeof k->why,
                 "cluster '%s': %zu channels with requested states, %zu with actual states; expected one each", k->name,
                 k->requested_n, k->actual_n);
}

/* The clock of the fastest busy kind of core: a mostly idle cluster did not run the work, and its states
 * include idle states. */
static void states_weigh(struct cpu *cpu, struct as_states_seen *out)
{
    static const double busy_share = 0.75;
    double fastest = 0, active = 0, cycles = 0;
    for (size_t i = 0; i < cpu->n; i++) {
        struct cluster *k = &cpu->clusters[i];
        check_cluster(k);
        if (k->why[0] && !out->why[0])
            as_copy_text(out->why, sizeof out->why, k->why);
        if (k->why[0] || !(k->requested.all > 0 && k->requested.active >= busy_share * k->requested.all))
            continue;
        const double top = k->table->hz[k->table->n - 1];
        if (top > fastest) {
            fastest = top;
            active = cycles = 0;
        }
        if (top < fastest)
            continue;
        active += k->actual.active;
        cycles += k->actual.cycles;
    }
    if (active > 0 && !out->why[0])
        out->hz = cycles / active;
}

/* ---- the source ---- */

static enum as_status states_look(struct as_states *s, struct as_states_seen *out, struct as_error *err)
{
    double seconds;
    struct gpu gpu = {.states = s, .seen = out};
    struct cpu cpu = {.states = s};
    *out = (struct as_states_seen){.hz = NAN, .busy = NAN};
    enum as_status st = s->is_cpu ? as_ioreport_each(&s->report, look_at_cpu, &cpu, &seconds, err)
                                  : as_ioreport_each(&s->report, look_at_gpu, &gpu, &seconds, err);
    if (!st && s->is_cpu && !cpu.n)
        return as_fail(err, AS_UNSUPPORTED, "'CPU Stats' has no states of a cluster");
    if (!st && !s->is_cpu && !gpu.n)
        return as_fail(err, AS_UNSUPPORTED, "'GPU Stats' has no states of 'GPUPH'");
    if (!st && s->is_cpu)
        states_weigh(&cpu, out);
    return st;
}

enum as_status as_states_since(struct as_states *s, struct as_states_seen *out, struct as_error *err)
{
    const enum as_status st = states_look(s, out, err);
    (void)as_ioreport_begin(&s->report, NULL);
    return st;
}

enum as_status as_states_open(struct as_states *s, bool is_cpu, struct as_error *err)
{
    *s = (struct as_states){.is_cpu = is_cpu};
    enum as_status st = is_cpu ? as_ioreport_open(&s->report, "CPU Stats", "CPU Complex Performance States", err)
                               : as_ioreport_open(&s->report, "GPU Stats", "GPU Performance States", err);
    if (!st)
        st = as_ioreport_begin(&s->report, err);
    if (!st)
        find_tables(s->tables);
    else
        as_states_close(s);
    return st;
}

void as_states_close(struct as_states *s)
{
    as_ioreport_close(&s->report);
    *s = (struct as_states){.is_cpu = false};
}
