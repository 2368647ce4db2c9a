/* AMD GPUs, through the kernel driver's files: hwmon, the PCI link, the counters of memory
 * errors and the gpu_metrics table. Found by PCI bus ID, whatever backend drives them. */
#include "sensor/amdgpu.h"

#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 320, LABELS_MAX = 8, VENDOR_AMD = 0x1002 };

struct amdgpu {
    char root[65], bus_id[16];
    char device[128];                /* folder of the PCI device */
    char hwmon[200];                 /* folder in it, "" if there is none */
    char temperature[32], power[32]; /* files of hwmon, "" if missing */
    char clock[32], memory_clock[32];
};

/* ---- files ---- */

/* Reads the first bytes of a file, and terminates them with 0. */
static size_t amdgpu_read_file(const char *folder, const char *name, char *out, size_t size)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    if (f)
        fclose(f);
    out[n] = 0;
    return n;
}

/* The number at the start of a text; NAN if there is none or it is negative. */
static double amdgpu_number_in(const char *text)
{
    char digits[32];
    double v = NAN;
    size_t n = strspn(text, "0123456789.");
    snprintf(digits, sizeof digits, "%.*s", (int)(n < sizeof digits ? n : 0), text);
    return as_parse_double(digits, &v, NULL) == AS_OK && isfinite(v) ? v : NAN;
}

static double amdgpu_number_of(const char *folder, const char *name)
{
    char text[48];
    return name[0] && amdgpu_read_file(folder, name, text, sizeof text) ? amdgpu_number_in(text) : NAN;
}

/* Plausible values of a device: drivers use others for "unknown". */
static double amdgpu_within(double v, double least, double most)
{
    return v >= least && v <= most ? v : NAN;
}

/* ---- one reading ---- */

/* PCIe generation from the transfer rate: "16.0 GT/s PCIe" is 4. */
static double amdgpu_generation_of(const struct amdgpu *a, const char *name)
{
    static const double speeds[] = {2.5, 5, 8, 16, 32, 64};
    double speed = amdgpu_number_of(a->device, name);
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (speed == speeds[i])
            return (double)(i + 1);
    return NAN;
}

static double amdgpu_width_of(const struct amdgpu *a, const char *name)
{
    return amdgpu_within(amdgpu_number_of(a->device, name), 1, 32);
}

/* Bits of the chip-independent throttle status, in groups of 16: power, current, temperature, other. */
static int throttle_bits(uint64_t status)
{
    static const struct {
        uint64_t mask;
        unsigned bit;
    } groups[] = {
        {UINT64_C(0x00000000000000ff), AS_THROTTLE_POWER_CAP},
        {UINT64_C(0x0000000000ff0000), AS_THROTTLE_HARDWARE}, /* current limit */
        {UINT64_C(0x00003fff00000000), AS_THROTTLE_THERMAL},
        {UINT64_C(0x0000c00000000000), AS_THROTTLE_HARDWARE}, /* PROCHOT: requested from outside the chip */
    };
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        bits |= status & groups[i].mask ? groups[i].bit : 0;
        status &= ~groups[i].mask;
    }
    return (int)(bits | (status ? AS_THROTTLE_OTHER : 0));
}

static size_t amdgpu_read_table(const struct amdgpu *a, unsigned char out[AMDGPU_TABLE_MAX + 1])
{
    return amdgpu_read_file(a->device, "gpu_metrics", (char *)out, AMDGPU_TABLE_MAX + 1);
}

/* Only version 1.3 of the table has chip-independent bits. */
static int amdgpu_throttle_now(const unsigned char *table, size_t n)
{
    enum { SIZE = 120, STATUS = 112 };
    if (!as_amdgpu_table_is(table, n, 1, 3, SIZE))
        return -1;
    const uint64_t status = as_amdgpu_table_number(table, STATUS, 8);
    return status == UINT64_MAX ? -1 : throttle_bits(status);
}

/* "ue: 0" and "ce: 12", one per line. */
static double errors_of(const struct amdgpu *a, const char *file, const char *kind)
{
    char text[96];
    if (!amdgpu_read_file(a->device, file, text, sizeof text))
        return NAN;
    const char *at = strstr(text, kind);
    return at && (at == text || at[-1] == '\n') ? amdgpu_number_in(at + strlen(kind)) : NAN;
}

static const char memory_errors[] = "ras/umc_err_count", link_errors[] = "ras/xgmi_wafl_err_count";

static void amdgpu_read_now(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    const struct amdgpu *a = ctx;
    unsigned char table[AMDGPU_TABLE_MAX + 1];
    const size_t table_n = amdgpu_read_table(a, table);
    out->clock_hz = amdgpu_within(amdgpu_number_of(a->hwmon, a->clock), 1e6, 2e10);
    out->memory_clock_hz = amdgpu_within(amdgpu_number_of(a->hwmon, a->memory_clock), 1e6, 2e10);
    out->power_w = amdgpu_within(1e-6 * amdgpu_number_of(a->hwmon, a->power), 1e-3, 1e5);
    out->throttle = amdgpu_throttle_now(table, table_n);
    out->pcie_generation = amdgpu_generation_of(a, "current_link_speed");
    out->pcie_width = amdgpu_width_of(a, "current_link_width");
    out->utilisation = amdgpu_within(0.01 * amdgpu_number_of(a->device, "gpu_busy_percent"), 0, 1);
    if (part != AS_SENSOR_ALL)
        return;
    out->power_limit_w = amdgpu_within(1e-6 * amdgpu_number_of(a->hwmon, "power1_cap"), 1, 1e5);
    out->temperature = amdgpu_within(1e-3 * amdgpu_number_of(a->hwmon, a->temperature), 0, 200);
    out->pcie_generation_max = amdgpu_generation_of(a, "max_link_speed");
    out->pcie_width_max = amdgpu_width_of(a, "max_link_width");
    out->ecc_corrected = errors_of(a, memory_errors, "ce: ");
    out->ecc_uncorrected = errors_of(a, memory_errors, "ue: ");
    /* not xgmi_error: to read it clears it */
    out->link_errors = errors_of(a, link_errors, "ce: ") + errors_of(a, link_errors, "ue: ");
    const double replays = amdgpu_number_of(a->device, "pcie_replay_count");
    out->pcie_replays = isfinite(replays) ? replays : as_amdgpu_table_replays(table, table_n);
}

/* ---- opening ---- */

/* The file "<kind><n>_input" whose "<kind><n>_label" is the first label found. */
static void find_labelled(const struct amdgpu *a, const char *kind, const char *const labels[3], char *out, size_t size)
{
    out[0] = 0;
    for (size_t l = 0; l < 3 && labels[l]; l++)
        for (int i = 1; i <= LABELS_MAX; i++) {
            char name[32], text[32];
            snprintf(name, sizeof name, "%s%d_label", kind, i);
            size_t n = amdgpu_read_file(a->hwmon, name, text, sizeof text);
            text[strcspn(text, "\r\n")] = 0;
            if (n && strcmp(text, labels[l]) == 0) {
                snprintf(out, size, "%s%d_input", kind, i);
                return;
            }
        }
}

/* The kernel chooses the number of the hwmon folder. */
static void find_hwmon(struct amdgpu *a)
{
    char folder[160], name[16];
    snprintf(folder, sizeof folder, "%s/hwmon", a->device);
    DIR *dir = opendir(folder);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e && !a->hwmon[0]; e = readdir(dir)) {
        if (strncmp(e->d_name, "hwmon", 5) != 0 || strlen(e->d_name) > 16)
            continue;
        snprintf(a->hwmon, sizeof a->hwmon, "%s/%.16s", folder, e->d_name);
        amdgpu_read_file(a->hwmon, "name", name, sizeof name);
        if (strcmp(name, "amdgpu\n") != 0)
            a->hwmon[0] = 0;
    }
    if (dir)
        closedir(dir);
}

/* The junction (hottest point) decides when clocks are lowered. */
static void find_files(struct amdgpu *a)
{
    static const char *const places[3] = {"junction", "edge"};
    static const char *const core[3] = {"sclk"}, *const memory[3] = {"mclk"};
    find_hwmon(a);
    if (!a->hwmon[0])
        return;
    find_labelled(a, "temp", places, a->temperature, sizeof a->temperature);
    find_labelled(a, "freq", core, a->clock, sizeof a->clock);
    find_labelled(a, "freq", memory, a->memory_clock, sizeof a->memory_clock);
    const char *power = isfinite(amdgpu_number_of(a->hwmon, "power1_input")) ? "power1_input" : "power1_average";
    as_copy_text(a->power, sizeof a->power, power);
}

static void amdgpu_list_unknown(struct amdgpu *a, struct as_buf *why_not)
{
    struct as_sensor_reading r;
    as_sensor_reading_clear(&r);
    amdgpu_read_now(a, AS_SENSOR_ALL, &r);
    as_sensor_list_unknown(&r, why_not);
}

/* "0000:c1:00.0": it becomes part of a path. */
static bool is_bus_id(const char *text)
{
    static const char form[] = "xxxx:xx:xx.x";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return true;
}

enum as_status as_amdgpu_open_at(const char *root, const char *bus_id, void **ctx, struct as_buf *why_not,
                                 struct as_error *err)
{
    char vendor[16];
    if (!is_bus_id(bus_id))
        return as_fail(err, AS_UNSUPPORTED, "no PCI bus ID reported");
    struct amdgpu *a = calloc(1, sizeof *a);
    if (!a)
        return as_nomem(err, sizeof *a, "a sensor");
    as_copy_text(a->root, sizeof a->root, root);
    as_copy_text(a->bus_id, sizeof a->bus_id, bus_id);
    snprintf(a->device, sizeof a->device, "%.64s/sys/bus/pci/devices/%s", root, bus_id);
    enum as_status st = AS_OK;
    if (!amdgpu_read_file(a->device, "vendor", vendor, sizeof vendor))
        st = as_fail(err, AS_UNSUPPORTED, "'%s' cannot be read; is /sys mounted?", a->device);
    else if (strtoul(vendor, NULL, 16) != VENDOR_AMD)
        st = as_fail(err, AS_UNSUPPORTED, "%s is not an AMD device", bus_id);
    if (st) {
        free(a);
        return st;
    }
    find_files(a);
    amdgpu_list_unknown(a, why_not);
    *ctx = a;
    return AS_OK;
}

static enum as_status amdgpu_open(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                                  struct as_error *err)
{
    return as_amdgpu_open_at("", info->bus_id, ctx, why_not, err);
}

static void amdgpu_describe(void *ctx, struct as_device_info *info)
{
    const struct amdgpu *a = ctx;
    unsigned char table[AMDGPU_TABLE_MAX + 1];
    const size_t n = amdgpu_read_table(a, table);
    as_amdgpu_describe_links(a->root, a->bus_id, table, n, info);
}

/* The vendor "AuthenticAMD" is a CPU. */
static bool amdgpu_serves(const struct as_device_info *info)
{
    return strcmp(info->backend, "hip") == 0 ||
           (info->bus_id[0] && strcasestr(info->vendor, "advanced micro devices") != NULL);
}

const struct as_sensor as_sensor_amdgpu = {
    .name = "amdgpu",
    .title = "AMD GPUs, by the driver's files in /sys",
    .background = true,
    .lag_s = 0.1, /* not measured yet: NVIDIA's value */
    .serves = amdgpu_serves,
    .open = amdgpu_open,
    .read = amdgpu_read_now,
    .describe = amdgpu_describe,
    .close = free,
};
