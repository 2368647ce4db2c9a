/* Memory and CPU time that this process may use. A control group may allow much less than the machine has; exceeding
 * its memory limit kills the process, so the limits of all ancestor groups count, in both versions. */
#include "device/host_limits.h"

#include "base/buf.h"
#include "base/host.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum group_kind { MEMORY_V1, CPU_V1, BOTH_V2 };
enum { GROUPS_MAX = 64, PROC_MAX = 1 << 20 };

struct group {
    enum group_kind kind;
    char *dir;
};
struct as_host_groups {
    char *proc_dir;
    size_t n;
    struct group groups[GROUPS_MAX];
    bool failed;
};

/* Reads dir/file into b; false if it does not exist. */
static bool host_limits_read_text(struct as_buf *b, const char *dir, const char *file)
{
    struct as_buf path = AS_BUF_INIT;
    as_buf_clear(b);
    as_buf_printf(&path, "%s/%s", dir, file);
    bool good = !path.failed && as_buf_read_file(b, as_buf_get(&path), PROC_MAX, NULL) == AS_OK;
    as_buf_finish(&path);
    return good;
}

/* The number after "key" at the start of a line of text; false if there is none. */
static bool number_after(const char *text, const char *key, uint64_t *out)
{
    size_t n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        unsigned long long v;
        if (strncmp(line, key, n) == 0 && sscanf(line + n, "%llu", &v) == 1) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* dir/file as a number; `none` for "max" and for a missing or damaged file. */
static uint64_t file_number(const char *dir, const char *file, uint64_t none)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned long long v;
    uint64_t out = host_limits_read_text(&b, dir, file) && sscanf(as_buf_get(&b), "%llu", &v) == 1 ? v : none;
    as_buf_finish(&b);
    return out;
}

static void host_limits_add_group(struct as_host_groups *g, enum group_kind kind, const char *root, const char *path)
{
    struct as_buf dir = AS_BUF_INIT;
    if (g->n == GROUPS_MAX)
        return;
    as_buf_printf(&dir, "%s%s", root, path);
    char *text = as_buf_take(&dir);
    if (!text)
        g->failed = true;
    else if (access(text, F_OK) == 0)
        g->groups[g->n++] = (struct group){kind, text};
    else
        free(text);
}

/* The group and its ancestors. In a container the path may lie outside the mount: then only the root counts. */
static void add_path(struct as_host_groups *g, enum group_kind kind, const char *root, const char *path)
{
    char part[1024];
    if (strlen(path) < sizeof part && !strstr(path, "/.."))
        as_copy_text(part, sizeof part, path);
    else
        part[0] = 0;
    while (strlen(part) > 1) {
        host_limits_add_group(g, kind, root, part);
        *strrchr(part, '/') = 0;
    }
    host_limits_add_group(g, kind, root, "");
}

static bool names_controller(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
        if (strcspn(p, ",") == n && strncmp(p, name, n) == 0)
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "4:memory:/path" in version 1, "0::/path" in version 2. */
static void host_limits_add_line(struct as_host_groups *g, const char *sys_dir, char *line)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/')
        return;
    *path++ = 0;
    controllers++;
    struct as_buf root = AS_BUF_INIT;
    as_buf_printf(&root, "%s/cgroup.controllers", sys_dir);
    bool pure = access(as_buf_get(&root), F_OK) == 0;
    as_buf_clear(&root);
    bool memory = names_controller(controllers, "memory"), cpu = names_controller(controllers, "cpu");
    if (!*controllers) {
        as_buf_printf(&root, "%s%s", sys_dir, pure ? "" : "/unified");
        add_path(g, BOTH_V2, as_buf_get(&root), path);
    } else if (memory || cpu) {
        as_buf_printf(&root, "%s/%s", sys_dir, memory ? "memory" : "cpu");
        add_path(g, memory ? MEMORY_V1 : CPU_V1, as_buf_get(&root), path);
    }
    g->failed |= root.failed;
    as_buf_finish(&root);
}

struct as_host_groups *as_host_groups_create(const char *proc_dir, const char *sys_dir)
{
    struct as_host_groups *g = calloc(1, sizeof *g);
    struct as_buf b = AS_BUF_INIT;
    if (!g)
        return NULL;
    g->proc_dir = as_strdup(proc_dir);
    g->failed = !g->proc_dir;
    if (host_limits_read_text(&b, proc_dir, "self/cgroup") && b.data) {
        char *rest = NULL;
        for (char *line = strtok_r(b.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            host_limits_add_line(g, sys_dir, line);
    }
    as_buf_finish(&b);
    if (g->failed) {
        as_host_groups_destroy(g);
        return NULL;
    }
    return g;
}

void as_host_groups_destroy(struct as_host_groups *groups)
{
    if (!groups)
        return;
    for (size_t i = 0; i < groups->n; i++)
        free(groups->groups[i].dir);
    free(groups->proc_dir);
    free(groups);
}

struct memory_files {
    const char *limit, *soft, *usage, *reclaimable, *kills;
};
static const struct memory_files memory_files[] = {
    [MEMORY_V1] = {"memory.limit_in_bytes", NULL, "memory.usage_in_bytes", "total_inactive_file ",
                   "memory.oom_control"},
    [BOTH_V2] = {"memory.max", "memory.high", "memory.current", "inactive_file ", "memory.events"},
};

static void apply_memory(const struct group *group, struct as_host_limits *out)
{
    const struct memory_files *f = &memory_files[group->kind];
    uint64_t limit = file_number(group->dir, f->limit, UINT64_MAX), cached = 0;
    uint64_t soft = f->soft ? file_number(group->dir, f->soft, UINT64_MAX) : UINT64_MAX;
    const char *file = soft < limit ? f->soft : f->limit;
    limit = soft < limit ? soft : limit;
    if (limit == UINT64_MAX)
        return;
    /* A parent's larger limit still counts, since other groups share it. */
    if (limit < out->total) {
        out->total = limit;
        snprintf(out->memory_by, sizeof out->memory_by, "'%.120s/%s'", group->dir, file);
    }
    uint64_t used = file_number(group->dir, f->usage, 0);
    struct as_buf b = AS_BUF_INIT;
    /* Cached files count as used, but can be evicted. */
    if (host_limits_read_text(&b, group->dir, "memory.stat"))
        number_after(as_buf_get(&b), f->reclaimable, &cached);
    as_buf_finish(&b);
    used -= cached < used ? cached : used;
    uint64_t left = used < limit ? limit - used : 0;
    out->free = left < out->free ? left : out->free;
}

static void apply_quota(const struct group *group, struct as_host_limits *out)
{
    struct as_buf b = AS_BUF_INIT;
    long long quota = -1, period = 0;
    if (group->kind == BOTH_V2) {
        if (!host_limits_read_text(&b, group->dir, "cpu.max") ||
            sscanf(as_buf_get(&b), "%lld %lld", &quota, &period) != 2)
            quota = -1;
    } else if (host_limits_read_text(&b, group->dir, "cpu.cfs_quota_us") &&
               sscanf(as_buf_get(&b), "%lld", &quota) == 1) {
        period = (long long)file_number(group->dir, "cpu.cfs_period_us", 0);
    }
    as_buf_finish(&b);
    if (quota <= 0 || period <= 0)
        return;
    double cpus = (double)quota / (double)period;
    if (out->quota == 0 || cpus < out->quota) {
        out->quota = cpus;
        snprintf(out->quota_by, sizeof out->quota_by, "'%.120s/%s'", group->dir,
                 group->kind == BOTH_V2 ? "cpu.max" : "cpu.cfs_quota_us");
    }
}

/* RLIMIT_AS counts all mappings, touched or not. */
static void apply_resources(const char *proc_dir, struct as_host_limits *out)
{
    static const struct {
        int resource;
        unsigned column; /* of statm, in pages */
        const char *name;
    } limits[] = {{RLIMIT_AS, 0, "RLIMIT_AS (ulimit -v)"}, {RLIMIT_DATA, 5, "RLIMIT_DATA (ulimit -d)"}};
    unsigned long long mapped[6] = {0};
    struct as_buf b = AS_BUF_INIT;
    if (host_limits_read_text(&b, proc_dir, "self/statm"))
        (void)sscanf(as_buf_get(&b), "%llu %llu %llu %llu %llu %llu", &mapped[0], &mapped[1], &mapped[2], &mapped[3],
                     &mapped[4], &mapped[5]);
    as_buf_finish(&b);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit r;
        if (getrlimit(limits[i].resource, &r) || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= out->total)
            continue;
        const uint64_t used = mapped[limits[i].column] * as_host_page(), limit = r.rlim_cur;
        const uint64_t left = used < limit ? limit - used : 0;
        out->total = limit;
        out->free = left < out->free ? left : out->free;
        as_copy_text(out->memory_by, sizeof out->memory_by, limits[i].name);
    }
}

enum as_status as_host_limits_read(const struct as_host_groups *groups, struct as_host_limits *out,
                                   struct as_error *err)
{
    struct as_buf b = AS_BUF_INIT;
    uint64_t total = 0, available = 0;
    bool good = host_limits_read_text(&b, groups->proc_dir, "meminfo") &&
                number_after(as_buf_get(&b), "MemTotal:", &total) &&
                number_after(as_buf_get(&b), "MemAvailable:", &available);
    as_buf_finish(&b);
    if (!good || total > UINT64_MAX >> 10 || available > UINT64_MAX >> 10)
        return as_fail(err, AS_IO, "\"%s/meminfo\" does not tell the size of memory; is %s mounted?", groups->proc_dir,
                       groups->proc_dir);
    *out = (struct as_host_limits){.total = total << 10, .free = available << 10};
    for (size_t i = 0; i < groups->n; i++) {
        if (groups->groups[i].kind != CPU_V1)
            apply_memory(&groups->groups[i], out);
        if (groups->groups[i].kind != MEMORY_V1)
            apply_quota(&groups->groups[i], out);
    }
    apply_resources(groups->proc_dir, out);
    return AS_OK;
}

void as_host_limits_memory_text(const struct as_host_limits *limits, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    if (limits->memory_by[0]) {
        as_buf_str(&b, "this process may use ");
        as_format_size(&b, limits->total);
        as_buf_printf(&b, " by %s; raise that limit", limits->memory_by);
    }
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

enum as_status as_host_limits_now(struct as_host_limits *out, struct as_error *err)
{
    struct as_host_groups *groups = as_host_groups_create("/proc", "/sys/fs/cgroup");
    enum as_status st = groups ? as_host_limits_read(groups, out, err) : as_nomem(err, 0, "the control groups");
    as_host_groups_destroy(groups);
    return st;
}

uint64_t as_host_groups_oom_kills(const struct as_host_groups *groups)
{
    struct as_buf b = AS_BUF_INIT;
    uint64_t kills = 0;
    bool known = false;
    for (size_t i = 0; i < groups->n && !known; i++)
        if (groups->groups[i].kind != CPU_V1 &&
            host_limits_read_text(&b, groups->groups[i].dir, memory_files[groups->groups[i].kind].kills))
            known = number_after(as_buf_get(&b), "oom_kill ", &kills);
    if (!known && host_limits_read_text(&b, groups->proc_dir, "vmstat"))
        number_after(as_buf_get(&b), "oom_kill ", &kills);
    as_buf_finish(&b);
    return kills;
}

uint64_t as_host_oom_kills(void)
{
    struct as_host_groups *groups = as_host_groups_create("/proc", "/sys/fs/cgroup");
    const uint64_t kills = groups ? as_host_groups_oom_kills(groups) : 0;
    as_host_groups_destroy(groups);
    return kills;
}

uint64_t as_host_resident(void)
{
    struct as_buf b = AS_BUF_INIT;
    unsigned long long size, resident;
    bool good =
        host_limits_read_text(&b, "/proc/self", "statm") && sscanf(as_buf_get(&b), "%llu %llu", &size, &resident) == 2;
    as_buf_finish(&b);
    return good ? resident * as_host_page() : 0;
}
