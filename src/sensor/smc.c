#include "sensor/smc.h"

#include <math.h>
#include <string.h>

enum { SELECTOR = 2, READ_VALUE = 5, READ_KEY_AT = 8, READ_INFO = 9, KEYS_MAX = 16384 };
#define LETTERS(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

#define FLOAT LETTERS('f', 'l', 't', ' ')

/* The driver call's input and output. */
struct record {
    uint32_t key;
    uint8_t version[8], limits[16];
    uint32_t size, type;
    uint8_t attributes, pad[3];
    uint8_t result, status, command, pad_index;
    uint32_t index;
    uint8_t bytes[32];
};
_Static_assert(sizeof(struct record) == 80, "the driver checks the size");

static bool smc_ask(const struct as_smc *smc, const struct record *in, struct record *out)
{
    size_t size = sizeof *out;
    memset(out, 0, sizeof *out);
    return smc->io.call(smc->connection, SELECTOR, in, sizeof *in, out, &size) == 0 && size == sizeof *out &&
           out->result == 0;
}

static bool has_type(const struct as_smc *smc, uint32_t key, uint32_t type)
{
    struct record out;
    return smc_ask(smc, &(struct record){.key = key, .command = READ_INFO}, &out) && out.type == type && out.size == 4;
}

/* Reads a key whose value has four bytes. */
static bool read_value(const struct as_smc *smc, uint32_t key, uint8_t value[4])
{
    struct record out;
    if (!smc_ask(smc, &(struct record){.key = key, .size = 4, .command = READ_VALUE}, &out))
        return false;
    memcpy(value, out.bytes, 4);
    return true;
}

/* The number of the controller's keys; 0 unknown. */
static uint32_t count_keys(const struct as_smc *smc)
{
    const uint32_t key = LETTERS('#', 'K', 'E', 'Y');
    uint8_t v[4];
    return has_type(smc, key, LETTERS('u', 'i', '3', '2')) && read_value(smc, key, v) ? LETTERS(v[0], v[1], v[2], v[3])
                                                                                      : 0;
}

/* Several services have this class; only the right one reports its number of keys. */
static bool open_service(const struct as_iokit *io, uint32_t service, void *user)
{
    struct as_smc *smc = user;
    if (io->open(service, *io->task, 0, &smc->connection) != 0 || !smc->connection) {
        smc->connection = 0;
        return false;
    }
    if (count_keys(smc))
        return true;
    io->close(smc->connection);
    smc->connection = 0;
    return false;
}

/* Limits, set points and sensors beside the cores have other prefixes. */
static bool smc_is_core(uint32_t key, bool is_cpu)
{
    static const uint32_t cpu[] = {LETTERS('T', 'p', '0', 0), LETTERS('T', 'p', '1', 0), LETTERS('T', 'e', '0', 0),
                                   LETTERS('T', 'f', '0', 0), LETTERS('T', 'f', '4', 0)}; /* Tf: M3 */
    static const uint32_t gpu[] = {LETTERS('T', 'g', '0', 0), LETTERS('T', 'g', '1', 0), LETTERS('T', 'f', '1', 0),
                                   LETTERS('T', 'f', '2', 0)};
    const uint32_t *fronts = is_cpu ? cpu : gpu;
    const size_t n = is_cpu ? sizeof cpu / sizeof *cpu : sizeof gpu / sizeof *gpu;
    for (size_t i = 0; i < n; i++)
        if ((key & 0xffffff00) == fronts[i])
            return true;
    return false;
}

/* NAN: no reading. Sensors of powered-down cores read 0. */
static double temperature_of(const struct as_smc *smc, uint32_t key)
{
    uint8_t bytes[4];
    float celsius;
    if (!read_value(smc, key, bytes))
        return NAN;
    memcpy(&celsius, bytes, sizeof celsius);
    return celsius > 0 && celsius < 130 ? (double)celsius : NAN;
}

double as_smc_hottest(const struct as_smc *smc)
{
    double hottest = NAN;
    for (size_t i = 0; i < smc->n; i++)
        hottest = fmax(hottest, temperature_of(smc, smc->keys[i]));
    return hottest;
}

static enum as_status find_keys(struct as_smc *smc, bool is_cpu, struct as_error *err)
{
    const uint32_t count = count_keys(smc);
    if (count > KEYS_MAX)
        return as_fail(err, AS_UNSUPPORTED, "AppleSMC has %u keys, more than %d", count, KEYS_MAX);
    for (uint32_t i = 0; i < count && smc->n < AS_SMC_SENSORS_MAX; i++) {
        struct record out;
        if (smc_ask(smc, &(struct record){.command = READ_KEY_AT, .index = i}, &out) && smc_is_core(out.key, is_cpu) &&
            has_type(smc, out.key, FLOAT))
            smc->keys[smc->n++] = out.key;
    }
    if (!smc->n)
        return as_fail(err, AS_UNSUPPORTED, "AppleSMC has no temperature key of the %s's cores",
                       is_cpu ? "CPU" : "GPU");
    if (isnan(as_smc_hottest(smc)))
        return as_fail(err, AS_UNSUPPORTED,
                       "none of AppleSMC's %zu keys of the %s's cores reads between 0 and 130 \u00b0C", smc->n,
                       is_cpu ? "CPU" : "GPU");
    return AS_OK;
}

enum as_status as_smc_open(struct as_smc *smc, bool is_cpu, struct as_error *err)
{
    *smc = (struct as_smc){.n = 0};
    enum as_status st = as_iokit_load(&smc->io, err);
    if (!st && !as_iokit_each(&smc->io, "AppleSMC", open_service, smc))
        st = as_fail(err, AS_UNSUPPORTED, "no service of AppleSMC lets a user read its keys");
    if (!st)
        st = find_keys(smc, is_cpu, err);
    if (st)
        as_smc_close(smc);
    return st;
}

void as_smc_close(struct as_smc *smc)
{
    if (smc->connection)
        smc->io.close(smc->connection);
    *smc = (struct as_smc){.n = 0};
}
