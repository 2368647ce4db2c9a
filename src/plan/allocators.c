/* Checks that requested allocators, by name or role, exist on some device. */
#include "plan/plan.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 128 };

/* Names allowed in an expression; terminated by NULL. */
static void list_names(const struct as_axis *axis, const struct as_device_info *infos, size_t infos_n,
                       const char *names[NAMES_MAX])
{
    size_t n = 0;
    names[n++] = "all";
    names[n++] = "first";
    names[n++] = "largest_pages";
    for (size_t i = 0; axis->words && axis->words[i] && n < NAMES_MAX - 1; i++)
        names[n++] = axis->words[i];
    for (int role = AS_ROLE_UNKNOWN + 1; role < AS_ROLES_N && n < NAMES_MAX - 1; role++)
        names[n++] = as_role_word((enum as_role)role);
    for (size_t i = 0; i < infos_n; i++)
        for (size_t j = 0; j < infos[i].allocators_n && n < NAMES_MAX - 1; j++)
            names[n++] = infos[i].allocators[j].name;
    names[n] = NULL;
}

/* Whether word is a role, and not an allocator's own name, for which no device has an allocator. */
static bool is_absent_role(const char *word, const struct as_device_info *infos, size_t infos_n)
{
    const enum as_role role = as_role_find(word);
    bool has = role == AS_ROLE_UNKNOWN;
    for (size_t i = 0; i < infos_n && !has; i++)
        for (size_t j = 0; j < infos[i].allocators_n && !has; j++)
            has = infos[i].allocators[j].role == role || strcmp(infos[i].allocators[j].name, word) == 0;
    return !has;
}

static enum as_status fail_absent(const char *expr, const struct as_device_info *infos, size_t infos_n,
                                  struct as_error *err)
{
    struct as_buf there = AS_BUF_INIT;
    for (int role = AS_ROLE_UNKNOWN + 1; role < AS_ROLES_N; role++) {
        const char *word = as_role_word((enum as_role)role);
        if (!is_absent_role(word, infos, infos_n))
            as_buf_printf(&there, "%s%s", there.len ? ", " : "; there are: ", word);
    }
    enum as_status st = as_fail(err, AS_USAGE, "no device has an allocator of role '%s'%s", expr, as_buf_get(&there));
    as_buf_finish(&there);
    return st;
}

/* "no device has an allocator 'foo'; there are malloc, mmap, thp, hugetlb" */
static enum as_status allocators_fail_unknown(const char *word, const char *const *names,
                                              const struct as_device_info *infos, size_t infos_n, struct as_error *err)
{
    const char *near = as_nearest(word, names);
    if (near)
        return as_fail(err, AS_USAGE, "no device has an allocator '%s'; did you mean '%s'?", word, near);
    if (infos_n == 1)
        return as_info_no_allocator(&infos[0], word, err);
    struct as_buf there = AS_BUF_INIT;
    for (size_t i = 0; i < infos_n; i++)
        for (size_t j = 0; j < infos[i].allocators_n; j++)
            as_buf_printf(&there, "%s%s", there.len ? ", " : "; there are ", infos[i].allocators[j].name);
    enum as_status st = as_fail(err, AS_USAGE, "no device has an allocator '%s'%s", word, as_buf_get(&there));
    as_buf_finish(&there);
    return st;
}

enum as_status as_plan_check_allocators(const struct as_axis *axis, const char *expr,
                                        const struct as_device_info *infos, size_t infos_n, struct as_error *err)
{
    const char *names[NAMES_MAX], *const whole = expr;
    bool any = false;
    list_names(axis, infos, infos_n, names);
    while (*expr) {
        char word[64];
        size_t len = strcspn(expr, ","), i = 0;
        snprintf(word, sizeof word, "%.*s", (int)len, expr);
        while (names[i] && (strlen(names[i]) != len || strncmp(names[i], expr, len) != 0))
            i++;
        if (!names[i]) {
            return allocators_fail_unknown(word, names, infos, infos_n, err);
        }
        any |= !is_absent_role(word, infos, infos_n);
        expr += len;
        expr += *expr == ',';
    }
    return any ? AS_OK : fail_absent(whole, infos, infos_n, err);
}
