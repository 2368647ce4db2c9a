#include "cli/memory/memory_processes.h"

#include "base/buf.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process {
    long id, parent;
    bool is_ours;
};
struct processes {
    struct process *v;
    size_t n, cap;
};

/* "12 (a name) S 1 ...": the parent, or -1 if the process has ended. The name may contain any character. */
static long parent_of(const char *root, const char *id)
{
    struct as_buf path = AS_BUF_INIT, text = AS_BUF_INIT;
    long parent = -1;
    as_buf_printf(&path, "%s/proc/%s/stat", root, id);
    const bool read = as_buf_read_file(&text, as_buf_get(&path), 4096, NULL) == AS_OK;
    const char *behind = read ? strrchr(as_buf_get(&text), ')') : NULL;
    if (behind && sscanf(behind, ") %*c %ld", &parent) != 1)
        parent = -1;
    as_buf_finish(&path);
    as_buf_finish(&text);
    return parent;
}

static enum as_status list_processes(const char *root, struct processes *all, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    as_buf_printf(&path, "%s/proc", root);
    DIR *folder = opendir(as_buf_get(&path));
    as_buf_finish(&path);
    const struct dirent *entry;
    enum as_status st = AS_OK;
    while (!st && folder && (entry = readdir(folder)) != NULL) {
        const long parent = isdigit((unsigned char)entry->d_name[0]) ? parent_of(root, entry->d_name) : -1;
        if (parent >= 0)
            st = as_grow((void **)&all->v, &all->cap, all->n + 1, sizeof *all->v, err);
        if (!st && parent >= 0)
            all->v[all->n++] = (struct process){.id = atol(entry->d_name), .parent = parent};
    }
    if (folder)
        closedir(folder);
    return st;
}

static int by_id(const void *a, const void *b)
{
    const long x = ((const struct process *)a)->id, y = ((const struct process *)b)->id;
    return (x > y) - (x < y);
}

static bool is_child_of_ours(const struct processes *all, long parent)
{
    const struct process key = {.id = parent};
    const struct process *found = bsearch(&key, all->v, all->n, sizeof key, by_id);
    return found && found->is_ours;
}

/* Marks the program and its descendants, generation by generation. */
static size_t mark_ours(struct processes *all, long program)
{
    size_t n = 0, before;
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_id);
    for (size_t i = 0; i < all->n; i++)
        n += all->v[i].is_ours = all->v[i].id == program;
    do {
        before = n;
        for (size_t i = 0; i < all->n; i++)
            if (!all->v[i].is_ours && is_child_of_ours(all, all->v[i].parent))
                n += all->v[i].is_ours = true;
    } while (n > before);
    return n;
}

enum as_status as_memory_processes(const char *root, long program, long **list, size_t *n, struct as_error *err)
{
    struct processes all = {0};
    enum as_status st = list_processes(root, &all, err);
    const size_t ours = st ? 0 : mark_ours(&all, program);
    *n = 0;
    *list = st ? NULL : malloc((ours + 1) * sizeof **list);
    if (!st && !*list)
        st = as_nomem(err, ours * sizeof **list, "process IDs");
    for (size_t i = 0; i < all.n && !st; i++)
        if (all.v[i].is_ours)
            (*list)[(*n)++] = all.v[i].id;
    free(all.v);
    return st;
}
