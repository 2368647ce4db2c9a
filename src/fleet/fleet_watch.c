/* How far the nodes of a launch are. */
#include "base/clock.h"
#include "base/text.h"
#include "fleet/fleet_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 16 };
static const double LOOK_S = 0.5, LOOK_SHARE = 0.02, PRINT_S = 10;
/* Network file systems may show a new file this late. */
static const double APPEAR_S = 60;
/* Without an id of the launch, what ended before is told from what has just started by this time. */
static const double SETTLE_S = 10;
/* A state that is written just now, or a server that is restarted, is read again before anything is said. */
static const double UNREAD_S = 60;
/* Without locks, a process that has written nothing for so long is taken for dead. */
static const double SILENT_S = 900;

void as_fleet_watch_finish(struct as_fleet_watch *w)
{
    free(w->seen);
    w->seen = NULL;
    w->seen_n = w->seen_cap = 0;
}

static struct as_fleet_seen *watch_find(struct as_fleet_watch *w, const char *name, struct as_error *err)
{
    for (size_t i = 0; i < w->seen_n; i++)
        if (strcmp(w->seen[i].name, name) == 0)
            return &w->seen[i];
    if (as_grow((void **)&w->seen, &w->seen_cap, w->seen_n + 1, sizeof *w->seen, err))
        return NULL;
    struct as_fleet_seen *seen = &w->seen[w->seen_n++];
    *seen = (struct as_fleet_seen){.changed_at = as_now()};
    as_copy_text(seen->name, sizeof seen->name, name);
    return seen;
}

static bool watch_is_of_launch(const struct as_fleet_watch *w, const struct as_fleet_status *s)
{
    if (w->job->id[0] || s->job.id[0])
        return strcmp(w->job->id, s->job.id) == 0;
    return s->lives || as_now() - w->began > SETTLE_S;
}

static bool watch_is_dead(const struct as_fleet_status *s, const struct as_fleet_seen *seen)
{
    return s->locked ? !s->lives : as_now() - seen->changed_at > SILENT_S;
}

static void watch_print(const char *name, const char *words, const char *why, struct as_buf *out)
{
    as_buf_str(out, "assay: ");
    as_buf_terminal(out, name);
    as_buf_printf(out, ": %s%s", words, why[0] ? ": " : "");
    as_buf_terminal(out, why);
    as_buf_char(out, '\n');
}

static void watch_print_progress(const struct as_fleet_status *s, struct as_buf *out)
{
    struct as_buf words = AS_BUF_INIT;
    if (s->state != AS_FLEET_MEASURING || !isfinite(s->share))
        as_buf_str(&words, as_fleet_state_word(s->state));
    else
        as_buf_printf(&words, "%.0f%%", floor(100 * s->share));
    if (s->state == AS_FLEET_MEASURING && s->eta_s > 0) {
        as_buf_str(&words, ", ");
        as_format_duration(&words, ceil(s->eta_s));
        as_buf_str(&words, " left");
    }
    watch_print(s->name, as_buf_get(&words), s->now, out);
    as_buf_finish(&words);
}

/* Takes note of a state; a line where it is the last one. */
static void watch_update(struct as_fleet_seen *seen, const struct as_fleet_status *s, bool is_own, struct as_buf *out)
{
    if (seen->over)
        return;
    if (seen->beat != s->beat)
        seen->changed_at = as_now();
    seen->beat = s->beat;
    seen->state = s->state;
    seen->locked = s->locked;
    seen->told = false;
    const bool ended = s->state >= AS_FLEET_INTERRUPTED;
    seen->over = !is_own && (ended || watch_is_dead(s, seen));
    if (seen->over)
        watch_print(s->name, ended ? as_fleet_state_word(s->state) : "its process has died", ended ? s->why : "", out);
}

/* A node that was seen and whose state this look could not read, for the reason. It counts until its lock says that it
 * has died, or for as long as one that writes nothing. */
static void watch_unread(struct as_fleet_seen *seen, const struct as_fleet_unread *unread, struct as_buf *out)
{
    const char *const why = unread ? unread->why : "the file is gone";
    const double silent_s = as_now() - seen->changed_at;
    const bool died = seen->locked && unread && !unread->lives;
    seen->over = died || silent_s > SILENT_S;
    if (seen->over)
        watch_print(seen->name, died ? "its process has died, cannot read its state" : "silent, cannot read its state",
                    why, out);
    else if (!seen->told && silent_s >= UNREAD_S)
        watch_print(seen->name, "cannot read its state", why, out);
    seen->told |= silent_s >= UNREAD_S;
}

static const struct as_fleet_unread *unread_of(const struct as_fleet_statuses *all, const char *name)
{
    for (size_t i = 0; i < all->unread_n; i++)
        if (strcmp(all->unread[i].name, name) == 0)
            return &all->unread[i];
    return NULL;
}

/* Nodes that could be read before, and processes that live. How many of them into *others. */
static enum as_status watch_all_unread(struct as_fleet_watch *w, const struct as_fleet_statuses *all, size_t *others,
                                       size_t *pending, struct as_buf *out, struct as_error *err)
{
    for (size_t i = 0; i < all->unread_n; i++) {
        struct as_fleet_seen *seen = all->unread[i].lives ? watch_find(w, all->unread[i].name, err) : NULL;
        if (all->unread[i].lives && !seen)
            return AS_NOMEM;
        if (seen)
            seen->locked = true;
    }
    for (size_t i = 0; i < w->seen_n; i++) {
        struct as_fleet_seen *seen = &w->seen[i];
        if (seen->look == w->looks || strcmp(seen->name, w->own) == 0)
            continue;
        if (!seen->over)
            watch_unread(seen, unread_of(all, seen->name), out);
        ++*others;
        *pending += !seen->over;
    }
    return AS_OK;
}

/* Nodes without any state are waited for while their files may yet appear. */
static size_t watch_missing(struct as_fleet_watch *w, size_t missing, struct as_buf *out)
{
    if (as_now() - w->began < APPEAR_S)
        return missing;
    if (missing && !w->told_missing)
        as_buf_printf(out, "assay: %zu of %d ranks left no state in the folder within a minute: not waiting for %s\n",
                      missing, w->job->size, missing == 1 ? "it" : "them");
    w->told_missing |= missing > 0;
    return 0;
}

static void watch_print_all(struct as_fleet_watch *w, const struct as_fleet_statuses *all, size_t missing,
                            struct as_buf *out)
{
    size_t said = 0, more = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct as_fleet_status *s = &all->v[i];
        if (!watch_is_of_launch(w, s) || s->state >= AS_FLEET_INTERRUPTED || (s->locked && !s->lives))
            continue;
        if (said++ < LINES_MAX)
            watch_print_progress(s, out);
        else
            more++;
    }
    if (more || missing)
        as_buf_printf(out, "assay: and %zu more measuring, %zu not seen yet\n", more, missing);
    w->printed_at = as_now();
}

enum as_status as_fleet_watch_look(struct as_fleet_watch *w, size_t *pending, struct as_buf *out, struct as_error *err)
{
    struct as_fleet_statuses all = {0};
    const double start = as_now();
    size_t others = 0;
    if (start < w->next_at)
        return AS_OK;
    enum as_status st = as_fleet_statuses_read(w->folder, &all, err);
    if (!st)
        *pending = 0; /* what one look cannot read is not over */
    w->looks++;
    for (size_t i = 0; i < all.n && !st; i++) {
        const bool is_own = strcmp(all.v[i].name, w->own) == 0;
        struct as_fleet_seen *seen = watch_is_of_launch(w, &all.v[i]) ? watch_find(w, all.v[i].name, err) : NULL;
        if (!seen)
            continue;
        seen->look = w->looks;
        watch_update(seen, &all.v[i], is_own, out);
        others += !is_own;
        *pending += !is_own && !seen->over;
    }
    if (!st)
        st = watch_all_unread(w, &all, &others, pending, out, err);
    const size_t expected = (size_t)w->job->size - 1, missing = expected > others ? expected - others : 0;
    if (!st)
        *pending += watch_missing(w, missing, out);
    if (!st && start - w->printed_at >= PRINT_S)
        watch_print_all(w, &all, missing, out);
    as_fleet_statuses_finish(&all);
    w->next_at = as_now() + fmax(LOOK_S, (as_now() - start) / LOOK_SHARE);
    return st;
}
