/* Memory of the host. CPU drivers of OpenCL report memory that changes with use; the kernel's own numbers do not. */
#include "device/opencl/opencl.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* "MemTotal:  24518604 kB" in text: bytes, 0 when the line is not there. */
static uint64_t meminfo_field(const char *text, const char *field)
{
    unsigned long long kib;
    const char *at = strstr(text, field);
    return at && sscanf(at + strlen(field), ": %llu", &kib) == 1 ? (uint64_t)kib << 10 : 0;
}

/* A file that holds one number of bytes; 0 when there is none or it says "max". */
static uint64_t file_number(const char *path)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned long long v = 0;
    if (as_buf_read_file(&b, path, 64, NULL) || sscanf(as_buf_get(&b), "%llu", &v) != 1)
        v = 0;
    as_buf_finish(&b);
    return v;
}

/* The limit of the memory cgroup that this process is in (version 2), of the group itself and of those above it. */
static void apply_cgroup(struct as_cl_host_memory *m)
{
    struct as_buf b = AS_BUF_INIT, path = AS_BUF_INIT;
    char group[1024] = "";
    if (!as_buf_read_file(&b, "/proc/self/cgroup", 65536, NULL)) {
        const char *line = strstr(as_buf_get(&b), "0::/");
        if (line)
            as_copy_text(group, sizeof group, line + 3);
        group[strcspn(group, "\n")] = 0;
    }
    while (group[0]) {
        as_buf_clear(&path);
        as_buf_printf(&path, "/sys/fs/cgroup%s/memory.max", group);
        uint64_t max = file_number(as_buf_get(&path));
        as_buf_clear(&path);
        as_buf_printf(&path, "/sys/fs/cgroup%s/memory.current", group);
        uint64_t used = file_number(as_buf_get(&path));
        if (max && max < m->total)
            m->total = max;
        if (max && (max > used ? max - used : 0) < m->available)
            m->available = max > used ? max - used : 0;
        *strrchr(group, '/') = 0;
    }
    as_buf_finish(&path);
    as_buf_finish(&b);
}

void as_cl_host_memory(struct as_cl_host_memory *out)
{
    struct as_buf b = AS_BUF_INIT;
    *out = (struct as_cl_host_memory){0};
    if (!as_buf_read_file(&b, "/proc/meminfo", 65536, NULL)) {
        out->total = meminfo_field(as_buf_get(&b), "MemTotal");
        out->available = meminfo_field(as_buf_get(&b), "MemAvailable");
        apply_cgroup(out);
    }
    as_buf_finish(&b);
}
