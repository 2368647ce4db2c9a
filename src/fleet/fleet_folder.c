/* Nodes from a folder: its stores, and the states that nodes have left beside them. */
#include "base/text.h"
#include "fleet/fleet.h"
#include "fleet/fleet_job.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char store_suffix[] = ".db";

static int is_store_name(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name), tail = sizeof store_suffix - 1;
    return entry->d_name[0] != '.' && len > tail && strcmp(entry->d_name + len - tail, store_suffix) == 0;
}

/* Why a node has no numbers, by what it said itself. */
static void folder_why(const struct as_fleet_status *s, char *out, size_t size)
{
    struct as_buf why = AS_BUF_INIT;
    const bool died = s->state < AS_FLEET_INTERRUPTED && s->locked && !s->lives;
    const bool has_measured = s->state == AS_FLEET_MEASURED || s->state == AS_FLEET_COMPLETE;
    as_buf_str(&why, died ? "its process has died" : as_fleet_state_word(s->state));
    if (has_measured)
        as_buf_str(&why, ", but its store is not here");
    else if (s->state != AS_FLEET_FAILED && s->share >= 0.01)
        as_buf_printf(&why, " at %.0f%%", floor(100 * s->share));
    if (s->state == AS_FLEET_FAILED)
        as_buf_printf(&why, ": %s", s->why);
    else if (s->state == AS_FLEET_INTERRUPTED || died)
        as_buf_str(&why, "; 'assay fleet resume' continues it");
    as_copy_text(out, size, as_buf_get(&why));
    as_buf_finish(&why);
}

static const struct as_fleet_status *status_of(const struct as_fleet_statuses *all, const char *name, size_t len)
{
    for (size_t i = 0; i < all->n; i++)
        if (strlen(all->v[i].name) == len && memcmp(all->v[i].name, name, len) == 0)
            return &all->v[i];
    return NULL;
}

/* Two nodes of one host are told apart by their files. */
static void folder_name(const struct as_fleet *f, const char *name, struct as_fleet_node *node)
{
    for (const struct as_fleet_node *other = f->nodes; other != node; other++)
        if (strcmp(other->name, name) == 0)
            return;
    as_copy_text(node->name, sizeof node->name, name);
}

static enum as_status folder_read_store(struct as_fleet *f, const char *folder, const char *file,
                                        const struct as_fleet_statuses *all, struct as_fleet_merged *merged,
                                        struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    const struct as_fleet_status *s = status_of(all, file, strlen(file) - (sizeof store_suffix - 1));
    as_buf_printf(&path, "%s/%s", folder, file);
    enum as_status st = as_fleet_read(f, as_buf_get(&path), merged, err);
    struct as_fleet_node *node = st ? NULL : &f->nodes[f->nodes_n - 1];
    if (node && s)
        folder_name(f, s->name, node);
    const bool has_failed = node && s && s->state == AS_FLEET_FAILED && !node->numbers;
    if (has_failed || (node && s && node->why[0] && s->state != AS_FLEET_COMPLETE))
        folder_why(s, node->why, sizeof node->why);
    as_buf_finish(&path);
    return st;
}

static bool folder_has_store(struct dirent *const *stores, int n, const char *name)
{
    const size_t len = strlen(name);
    for (int i = 0; i < n; i++)
        if (strncmp(stores[i]->d_name, name, len) == 0 && strcmp(stores[i]->d_name + len, store_suffix) == 0)
            return true;
    return false;
}

/* Nodes that have no store. */
static enum as_status folder_add_missing(struct as_fleet *f, const struct as_fleet_statuses *all,
                                         struct dirent *const *stores, int n, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < all->n && !st; i++) {
        char why[sizeof f->nodes->why];
        folder_why(&all->v[i], why, sizeof why);
        if (!folder_has_store(stores, n, all->v[i].name))
            st = as_fleet_add_missing(f, all->v[i].name, why, err);
    }
    for (size_t i = 0; i < all->unread_n && !st; i++)
        if (!folder_has_store(stores, n, all->unread[i].name))
            st = as_fleet_add_missing(f, all->unread[i].name, all->unread[i].why, err);
    return st;
}

enum as_status as_fleet_read_folder(struct as_fleet *f, const char *folder, struct as_fleet_merged *merged,
                                    struct as_error *err)
{
    struct as_fleet_statuses all = {0};
    struct dirent **stores = NULL;
    const size_t before = f->nodes_n;
    const int n = scandir(folder, &stores, is_store_name, alphasort);
    if (n < 0)
        return as_fleet_add_missing(f, folder, strerror(errno), err);
    enum as_status st = as_fleet_statuses_read(folder, &all, err);
    st = st == AS_NOMEM ? st : AS_OK;
    for (int i = 0; i < n && !st; i++)
        st = folder_read_store(f, folder, stores[i]->d_name, &all, merged, err);
    if (!st)
        st = folder_add_missing(f, &all, stores, n, err);
    if (!st && f->nodes_n == before)
        st = as_fleet_add_missing(f, folder, "a directory without stores of nodes", err);
    for (int i = 0; i < n; i++)
        free(stores[i]);
    free((void *)stores);
    as_fleet_statuses_finish(&all);
    return st;
}
