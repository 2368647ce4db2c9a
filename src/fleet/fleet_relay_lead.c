/* Rank 0's relay: writes the states and stores of the other nodes into its own folder. */
#include "base/clock.h"
#include "base/text.h"
#include "fleet/fleet_relay.h"
#include "store/store.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A node that has died sends nothing more of a store that it began to send. */
static const double STORE_S = 60;
/* A node whose relay says nothing for so long, where one says something every ten seconds, is taken for dead. */
static const double SILENT_S = 300, ALIVE_S = 30;

struct peer {
    char name[280];
    enum as_relay_end end; /* what its results have come to; AS_RELAY_TOO_EARLY: more is expected of it */
    bool has_offer;        /* its last state is in `last` */
    bool has_store;
    uint64_t size, hash;
    double heard_at, told_at; /* told_at: that it waits was written */
    struct as_fleet_status last;
};
struct leader {
    struct peer *peers; /* owned; of each rank */
    const char *request;
    char *request_of_peer; /* owned */
    char why_not[400];
    char file[32];
    double alive_at;
};

static bool is_sound_name(const char *name)
{
    return name[0] && name[0] != '.' && !strchr(name, '/');
}

static void leader_greet(struct as_relay *c, struct leader *l, int rank, size_t payload)
{
    json_t *hello = json_loadb(c->piece, payload, 0, NULL);
    const char *name = json_string_value(json_object_get(hello, "name"));
    const char *request = json_string_value(json_object_get(hello, "request"));
    as_copy_text(l->peers[rank].name, sizeof l->peers->name, name ? name : "");
    if (!is_sound_name(l->peers[rank].name))
        snprintf(l->why_not, sizeof l->why_not, "rank %d has no name", rank);
    for (int i = 0; i < rank; i++)
        if (strcmp(l->peers[i].name, l->peers[rank].name) == 0)
            snprintf(l->why_not, sizeof l->why_not, "ranks %d and %d are both '%s'; give each node its own host name",
                     i, rank, l->peers[i].name);
    if (!l->request[0] && request && request[0] && (l->request_of_peer = as_strdup(request)))
        l->request = l->request_of_peer;
    json_decref(hello);
}

static void leader_welcome_text(const struct leader *l, struct as_buf *out)
{
    as_buf_str(out, "{\"request\":");
    as_buf_json_str(out, l->request);
    as_buf_printf(out, ",\"%s\":", l->why_not[0] ? "why_not" : "file");
    as_buf_json_str(out, l->why_not[0] ? l->why_not : l->file);
    as_buf_char(out, '}');
}

/* A file of a random name in rank 0's folder, which those that share the folder see. */
static void leader_make_file(struct as_relay *c, struct leader *l, struct as_buf *path)
{
    struct as_error err;
    as_hash_hex(as_rng_entropy(), l->file + 1);
    l->file[0] = '.';
    as_buf_printf(path, "%s/status/%s", c->folder, l->file);
    if (as_write_file(as_buf_get(path), "", 0, &err))
        as_copy_text(l->why_not, sizeof l->why_not, err.text);
}

/* That of an earlier launch: where launches have no number it would be taken for one of this. */
static void leader_forget_state(const struct as_relay *c, const char *name)
{
    struct as_buf path = AS_BUF_INIT;
    as_fleet_status_path(c->folder, name, &path);
    (void)unlink(as_buf_get(&path));
    as_buf_finish(&path);
}

static bool leader_meet(struct as_relay *c, struct leader *l)
{
    struct as_relay_head head;
    struct as_buf path = AS_BUF_INIT, text = AS_BUF_INIT;
    bool good = true;
    as_copy_text(l->peers[0].name, sizeof l->peers->name, c->name);
    for (int rank = 1; rank < c->mpi.size && good; rank++) {
        good = as_relay_read(c, rank, &head, as_relay_meet_s) && head.kind == AS_RELAY_HELLO;
        if (good)
            leader_greet(c, l, rank, head.payload);
    }
    leader_make_file(c, l, &path);
    leader_welcome_text(l, &text);
    for (int rank = 1; rank < c->mpi.size && good; rank++) {
        head = (struct as_relay_head){.kind = AS_RELAY_WELCOME, .payload = text.len};
        good = as_relay_send(c, rank, &head, as_buf_get(&text), as_relay_meet_s);
    }
    for (int rank = 1; rank < c->mpi.size && good && !l->why_not[0]; rank++) {
        good = as_relay_read(c, rank, &head, as_relay_meet_s) && head.kind == AS_RELAY_SEEN;
        l->peers[rank].end = good && head.flag ? AS_RELAY_ARRIVED : AS_RELAY_TOO_EARLY;
        l->peers[rank].heard_at = as_now();
        if (good && !head.flag)
            leader_forget_state(c, l->peers[rank].name);
    }
    (void)unlink(as_buf_get(&path));
    as_buf_finish(&path);
    as_buf_finish(&text);
    if (!good && !l->why_not[0])
        as_copy_text(l->why_not, sizeof l->why_not, "another rank cannot be reached");
    as_relay_tell(c, !l->why_not[0], l->why_not[0] ? l->why_not : l->request);
    return !l->why_not[0];
}

static void leader_write_state(const struct as_relay *c, struct as_fleet_status *s)
{
    struct as_error err;
    if (as_fleet_status_write(c->folder, s, &err))
        fprintf(stderr, "assay: %s: %s\n", s->name, err.text);
}

static void leader_take_state(struct as_relay *c, struct peer *p, const struct as_relay_head *head)
{
    struct as_fleet_status s;
    if (as_fleet_status_from_text(c->piece, head->payload, p->name, &s, NULL))
        return;
    /* here nobody holds its lock: with locks it would count as dead */
    s.locked = head->flag & AS_RELAY_DIED;
    if (!(head->flag & AS_RELAY_LAST))
        leader_write_state(c, &s);
    as_fleet_status_finish(&p->last);
    p->last = s;
}

static bool store_has_run(struct as_store *store, const char *uuid)
{
    struct as_run run = {0};
    const bool has = as_store_run(store, uuid, &run, NULL) == AS_OK;
    as_run_finish(&run);
    return has;
}

/* Is each run of the store at `path` in the store that has arrived? */
static bool leader_has_all_runs(const char *path, struct as_store *arrived)
{
    struct as_store *here = NULL;
    struct as_run *runs = NULL;
    size_t n = 0;
    if (access(path, F_OK) != 0)
        return true;
    bool all =
        as_store_open(path, AS_STORE_READ, &here, NULL) == AS_OK && as_store_runs(here, &runs, &n, NULL) == AS_OK;
    for (size_t i = 0; i < n && all; i++)
        all = store_has_run(arrived, runs[i].uuid);
    as_runs_free(runs, n);
    as_store_close(here);
    return all;
}

/* A node whose disk is new has lost runs that are still here: they stay beside it. */
static enum as_status leader_keep_old(const char *path, struct as_error *err)
{
    struct as_buf old = AS_BUF_INIT;
    int k = 0;
    do {
        as_buf_clear(&old);
        as_buf_printf(&old, "%s.%d", path, ++k);
    } while (access(as_buf_get(&old), F_OK) == 0);
    const bool good = rename(path, as_buf_get(&old)) == 0;
    if (good)
        fprintf(stderr, "assay: kept earlier runs that the node no longer has: %s\n", as_buf_get(&old));
    as_buf_finish(&old);
    return good ? AS_OK : as_fail(err, AS_IO, "cannot rename \"%s\"", path);
}

static enum as_status leader_install(const char *part, const char *path, struct as_error *err)
{
    struct as_store *arrived = NULL;
    enum as_status st = as_store_open(part, AS_STORE_READ, &arrived, err);
    if (!st && !leader_has_all_runs(path, arrived))
        st = leader_keep_old(path, err);
    as_store_close(arrived);
    if (!st && rename(part, path))
        st = as_fail(err, AS_IO, "cannot rename \"%s\"", part);
    return st;
}

static void leader_send_all(struct as_relay *c, const struct leader *l, enum as_relay_kind kind)
{
    for (int rank = 1; rank < c->mpi.size; rank++) {
        const struct as_relay_head head = {.kind = kind, .flag = (int32_t)l->peers[rank].end};
        (void)as_relay_send(c, rank, &head, NULL, 1);
    }
}

static void leader_say_alive(struct as_relay *c, struct leader *l)
{
    if (as_now() < l->alive_at)
        return;
    leader_send_all(c, l, AS_RELAY_ALIVE);
    l->alive_at = as_now() + ALIVE_S;
}

/* Takes all pieces, also those that cannot be written. */
static enum as_status leader_receive(struct as_relay *c, struct leader *l, int rank, const char *part,
                                     struct as_error *err)
{
    const struct peer *p = &l->peers[rank];
    struct as_relay_head want = {.kind = AS_RELAY_WANT, .size = p->size};
    struct as_writer file;
    uint64_t hash = 0;
    bool comes = as_relay_send(c, rank, &want, NULL, STORE_S);
    const enum as_status opened = as_writer_open(&file, part, err);
    enum as_status st = opened;
    for (uint64_t at = 0; at < p->size && comes; at += AS_RELAY_PIECE) {
        const uint64_t n = p->size - at < AS_RELAY_PIECE ? p->size - at : AS_RELAY_PIECE;
        leader_say_alive(c, l);
        comes = as_relay_receive(c, rank, c->piece, n, STORE_S);
        hash = comes ? as_relay_hash_more(hash, c->piece, n) : 0;
        if (comes && !st)
            st = as_writer_add(&file, c->piece, n, err);
    }
    if (!st && !comes)
        st = as_fail(err, AS_FAILED, "the node's process ended during the transfer");
    if (!st && hash != p->hash)
        st = as_fail(err, AS_FAILED, "the store changed during the transfer");
    return opened ? opened : as_writer_close(&file, st, err);
}

static enum as_status leader_fetch_store(struct as_relay *c, struct leader *l, int rank, struct as_error *err)
{
    const struct peer *p = &l->peers[rank];
    struct as_buf path = AS_BUF_INIT, part = AS_BUF_INIT;
    uint64_t size, hash;
    as_fleet_store_path(c->folder, p->name, &path);
    as_buf_printf(&part, "%s/status/.%s.part", c->folder, p->name);
    enum as_status st = AS_OK;
    if (as_relay_hash_file(c, as_buf_get(&path), &size, &hash, NULL) || size != p->size || hash != p->hash) {
        (void)unlink(as_buf_get(&part));
        st = leader_receive(c, l, rank, as_buf_get(&part), err);
        if (!st)
            st = leader_install(as_buf_get(&part), as_buf_get(&path), err);
        (void)unlink(as_buf_get(&part));
    }
    as_buf_finish(&path);
    as_buf_finish(&part);
    return st;
}

/* The store first: the last state says that it is there. */
static void leader_conclude(struct as_relay *c, struct leader *l, int rank)
{
    struct peer *p = &l->peers[rank];
    struct as_error err = {0};
    const enum as_status st = p->has_store ? leader_fetch_store(c, l, rank, &err) : AS_OK;
    p->end = st ? AS_RELAY_NOT_TAKEN : AS_RELAY_ARRIVED;
    if (!p->last.request)
        return;
    p->last.locked |= p->last.state < AS_FLEET_INTERRUPTED; /* the last one could not be read */
    if (st) {
        p->last.state = AS_FLEET_FAILED;
        snprintf(p->last.why, sizeof p->last.why, "measured, but not gathered: %.200s", err.text);
    }
    leader_write_state(c, &p->last);
}

static void leader_give_up(const struct as_relay *c, struct peer *p)
{
    p->end = AS_RELAY_GIVEN_UP;
    p->last.locked = true;
    if (p->last.request)
        leader_write_state(c, &p->last);
}

/* Whoever looks at the folder takes a node whose state does not change for dead. */
static void leader_tell_offer(const struct as_relay *c, struct peer *p)
{
    struct as_fleet_status s = p->last;
    if (!s.request || (p->told_at > 0 && as_now() < p->told_at + ALIVE_S))
        return;
    s.state = AS_FLEET_MEASURED;
    s.locked = false;
    as_copy_text(s.now, sizeof s.now, "waiting for rank 0 to finish measuring");
    leader_write_state(c, &s);
    p->last.beat = s.beat;
    p->told_at = as_now();
}

static void leader_hear(struct as_relay *c, struct leader *l, int rank)
{
    struct as_relay_head head;
    struct peer *p = &l->peers[rank];
    while (p->end == AS_RELAY_TOO_EARLY && as_mpi_has_message(&c->mpi, rank)) {
        p->heard_at = as_now();
        if (!as_relay_read(c, rank, &head, STORE_S))
            leader_give_up(c, p);
        else if (head.kind == AS_RELAY_STATE)
            leader_take_state(c, p, &head);
        else if (head.kind == AS_RELAY_OFFER) {
            p->has_offer = true;
            p->has_store = head.flag;
            p->size = head.size;
            p->hash = head.hash;
        }
    }
}

/* Stores wait until this node has measured, which they would disturb. A node that has offered its store says nothing
 * more. */
static void leader_serve(struct as_relay *c, struct leader *l)
{
    for (int rank = 1; rank < c->mpi.size; rank++) {
        struct peer *p = &l->peers[rank];
        leader_hear(c, l, rank);
        leader_say_alive(c, l);
        if (p->end != AS_RELAY_TOO_EARLY)
            continue;
        if (p->has_offer && (c->has_ended || !p->has_store))
            leader_conclude(c, l, rank);
        else if (p->has_offer)
            leader_tell_offer(c, p);
        else if (as_now() - p->heard_at > SILENT_S)
            leader_give_up(c, p);
    }
}

enum as_relay_end as_relay_lead(struct as_relay *c)
{
    struct leader l = {.peers = calloc((size_t)c->mpi.size, sizeof *l.peers), .request = c->request};
    enum as_relay_end end = AS_RELAY_FAILED;
    if (!l.peers)
        as_relay_tell(c, false, "out of memory");
    else if (leader_meet(c, &l)) {
        while (as_relay_listen(c), !c->has_lost_parent) {
            leader_serve(c, &l);
            as_sleep(as_relay_poll_s);
        }
        leader_send_all(c, &l, AS_RELAY_END);
        end = AS_RELAY_ARRIVED;
    }
    for (int rank = 0; l.peers && rank < c->mpi.size; rank++)
        as_fleet_status_finish(&l.peers[rank].last);
    free(l.peers);
    free(l.request_of_peer);
    return end;
}
