#include "run/system_files.h"

#include "base/text.h"
#include "device/host.h"
#include "os/cpus.h"
#include "os/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int as_machine_line(const char *path, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    out[0] = 0;
    if (!as_buf_read_file(&b, path, 64 * 1024, NULL)) {
        as_copy_text(out, size, as_buf_get(&b));
        out[strcspn(out, "\n")] = 0;
    }
    as_buf_finish(&b);
    return out[0] != 0;
}

static const char *system_files_value_of(const char *line, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0)
        return NULL;
    const char *p = line + n;
    while (*p == ' ' || *p == '\t')
        p++;
    if (*p != ':' && *p != '=')
        return NULL;
    p++;
    while (*p == ' ' || *p == '\t' || *p == '"')
        p++;
    return p;
}

int as_machine_value(const char *path, const char *name, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    out[0] = 0;
    /* On machines with many cores /proc/cpuinfo is long; the first core's lines are enough. */
    as_buf_read_file(&b, path, 4 * 1024 * 1024, NULL);
    for (const char *line = as_buf_get(&b); line && *line && !out[0];) {
        const char *end = strchr(line, '\n'), *v = system_files_value_of(line, name);
        if (v) {
            size_t n = end ? (size_t)(end - v) : strlen(v);
            while (n && (v[n - 1] == '"' || isspace((unsigned char)v[n - 1])))
                n--;
            struct as_buf text = AS_BUF_INIT;
            as_buf_add(&text, v, n);
            as_copy_text(out, size, as_buf_get(&text));
            as_buf_finish(&text);
        }
        line = end ? end + 1 : NULL;
    }
    as_buf_finish(&b);
    return out[0] != 0;
}

uint64_t as_machine_meminfo(const char *name)
{
    char text[64];
    struct as_system_memory memory;
    if (as_machine_value("/proc/meminfo", name, text, sizeof text))
        return strtoull(text, NULL, 10) * 1024;
    if (!as_system_memory(&memory))
        return 0;
    return strcmp(name, "MemTotal") == 0       ? memory.total
           : strcmp(name, "MemFree") == 0      ? memory.free
           : strcmp(name, "MemAvailable") == 0 ? memory.available
                                               : 0;
}

int as_machine_cpus(void)
{
    struct as_cpus set;
    return as_thread_cpus(&set) ? as_cpus_count(&set) : as_online_cpus();
}

int as_machine_virtualization(char *out, size_t size)
{
    char product[128] = "";
    const bool container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0,
               machine = as_host_is_virtual();
    if (machine)
        as_machine_line("/sys/class/dmi/id/product_name", product, sizeof product);
    snprintf(out, size, "%s%s%s%s%s%s", container ? "container" : "", container && machine ? " in a " : "",
             machine ? "virtual machine" : "", product[0] ? " (" : "", product, product[0] ? ")" : "");
    return container || machine;
}
