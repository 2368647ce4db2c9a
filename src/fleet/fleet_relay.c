/* Messages between relays, and a relay of another rank than 0. */
#include "fleet/fleet_relay.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const double as_relay_poll_s = 0.1, as_relay_meet_s = 300;
static const double STEP_S = 0.001, STATE_S = 10;
/* Rank 0 says every half minute that it lives, or later where it waits for a node that has died. */
static const double SILENT_S = 180;

void as_relay_listen(struct as_relay *c)
{
    char byte;
    ssize_t n;
    while ((n = read(c->in, &byte, 1)) == 1) {
        c->has_ended = true;
        c->is_interrupted |= byte == 'I';
    }
    c->has_lost_parent |= n == 0;
}

void as_relay_tell(struct as_relay *c, bool good, const char *text)
{
    struct as_buf all = AS_BUF_INIT;
    as_buf_printf(&all, "%c%s", good ? '+' : '-', text);
    (void)!write(c->out, as_buf_get(&all), all.len);
    as_buf_finish(&all);
    close(c->out);
}

/* A message that its peer has not taken or sent in time stays MPI's, which cannot cancel every request: so each has
 * memory of its own, which then lasts as long as the process. */
struct as_relay_pending_message {
    struct as_relay_pending_message *next;
    struct as_mpi_requests requests;
    struct as_relay_head head;
    char data[];
};

static struct as_relay_pending_message *pending_message_make(const char *data, size_t n)
{
    struct as_relay_pending_message *p = calloc(1, sizeof *p + n);
    if (p && data)
        memcpy(p->data, data, n);
    return p;
}

static bool pending_message_arrives(struct as_relay *c, struct as_relay_pending_message *p, double patience)
{
    const double end = as_now() + patience;
    while (!as_mpi_is_done(&c->mpi, &p->requests)) {
        if (as_now() > end) {
            p->next = c->left;
            c->left = p;
            return false;
        }
        as_sleep(STEP_S);
    }
    return true;
}

/* A head (optional), and bytes. */
static bool relay_send(struct as_relay *c, int to, const struct as_relay_head *head, const char *data, size_t n,
                       double patience)
{
    struct as_relay_pending_message *p = pending_message_make(data, n);
    if (!p)
        return false;
    if (head) {
        p->head = *head;
        as_mpi_start_send(&c->mpi, &p->head, (int)sizeof p->head, to, &p->requests);
    }
    if (n)
        as_mpi_start_send(&c->mpi, p->data, (int)n, to, &p->requests);
    const bool arrives = pending_message_arrives(c, p, patience);
    if (arrives)
        free(p);
    return arrives;
}

bool as_relay_send(struct as_relay *c, int to, const struct as_relay_head *head, const char *payload, double patience)
{
    return relay_send(c, to, head, payload, head->payload, patience);
}

bool as_relay_receive(struct as_relay *c, int from, void *to, size_t n, double patience)
{
    struct as_relay_pending_message *p = pending_message_make(NULL, n);
    if (!p)
        return false;
    as_mpi_start_recv(&c->mpi, p->data, (int)n, from, &p->requests);
    const bool arrives = pending_message_arrives(c, p, patience);
    if (arrives) {
        memcpy(to, p->data, n);
        free(p);
    }
    return arrives;
}

bool as_relay_read(struct as_relay *c, int from, struct as_relay_head *head, double patience)
{
    return as_relay_receive(c, from, head, sizeof *head, patience) && head->payload < AS_RELAY_PIECE &&
           (!head->payload || as_relay_receive(c, from, c->piece, head->payload, patience));
}

uint64_t as_relay_hash_more(uint64_t hash, const char *piece, size_t n)
{
    const uint64_t both[] = {hash, as_hash(piece, n)};
    return as_hash(both, sizeof both);
}

/* The next piece of a file; 0: its end, -1: errno. */
static ssize_t relay_read_piece(const struct as_relay *c, int fd)
{
    size_t n = 0;
    ssize_t got = 1;
    while (n < AS_RELAY_PIECE && got) {
        got = read(fd, c->piece + n, AS_RELAY_PIECE - n);
        if (got < 0 && errno != EINTR)
            return -1;
        n += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)n;
}

enum as_status as_relay_hash_file(const struct as_relay *c, const char *path, uint64_t *size, uint64_t *hash,
                                  struct as_error *err)
{
    const int fd = as_open(path, O_RDONLY, 0);
    ssize_t n;
    *size = *hash = 0;
    if (fd < 0)
        return as_fail(err, errno == ENOENT ? AS_NOTFOUND : AS_IO, "cannot open \"%s\": %s", path, strerror(errno));
    while ((n = relay_read_piece(c, fd)) > 0) {
        *size += (uint64_t)n;
        *hash = as_relay_hash_more(*hash, c->piece, (size_t)n);
    }
    const enum as_status st = n < 0 ? as_fail(err, AS_IO, "cannot read \"%s\": %s", path, strerror(errno)) : AS_OK;
    close(fd);
    return st;
}

/* Of another rank. */
struct follower {
    double told_at, heard_at;
    bool is_shared, has_told_last;
};

static bool follower_tell_state(struct as_relay *c, struct follower *f)
{
    struct as_relay_head head = {.kind = AS_RELAY_STATE};
    struct as_fleet_status s = {0};
    struct as_buf path = AS_BUF_INIT, text = AS_BUF_INIT;
    const bool is_last = c->has_ended || c->has_lost_parent;
    as_fleet_status_path(c->folder, c->name, &path);
    bool good = as_buf_read_file(&text, as_buf_get(&path), AS_FLEET_STATUS_BYTES_MAX, NULL) == AS_OK &&
                as_fleet_status_from_text(as_buf_get(&text), text.len, c->name, &s, NULL) == AS_OK;
    /* an earlier launch has left the state, until the process writes its first */
    good = good && strcmp(s.job.id, c->job->id) == 0 && (is_last || s.state < AS_FLEET_INTERRUPTED);
    f->told_at = as_now() - (good ? 0 : STATE_S - 1);
    if (is_last)
        head.flag = AS_RELAY_LAST | (c->has_ended ? 0 : AS_RELAY_DIED);
    head.payload = text.len;
    const bool sent = !good || as_relay_send(c, 0, &head, as_buf_get(&text), SILENT_S);
    as_fleet_status_finish(&s);
    as_buf_finish(&path);
    as_buf_finish(&text);
    return sent;
}

/* Has a process that was killed before it could tell closed its store? It writes its last state after that. An earlier
 * launch's state is told by the launch's id alone. */
static bool follower_has_closed(const struct as_relay *c)
{
    struct as_fleet_status s = {0};
    const bool closed = c->job->id[0] && as_fleet_status_read(c->folder, c->name, &s, NULL) == AS_OK &&
                        strcmp(s.job.id, c->job->id) == 0 && s.state > AS_FLEET_INTERRUPTED;
    as_fleet_status_finish(&s);
    return closed;
}

/* A store that was not closed is not sent: 'resume' continues it here. */
static bool follower_offer(struct as_relay *c, struct follower *f)
{
    struct as_relay_head head = {.kind = AS_RELAY_OFFER};
    struct as_buf path = AS_BUF_INIT;
    f->has_told_last = true;
    c->has_ended |= follower_has_closed(c);
    as_fleet_store_path(c->folder, c->name, &path);
    head.flag = c->has_ended && !c->is_interrupted &&
                as_relay_hash_file(c, as_buf_get(&path), &head.size, &head.hash, NULL) == AS_OK;
    as_buf_finish(&path);
    return follower_tell_state(c, f) && as_relay_send(c, 0, &head, NULL, SILENT_S);
}

/* As many bytes as were offered, whatever has become of the file: rank 0 checks their hash. */
static bool follower_send_store(struct as_relay *c, uint64_t size)
{
    struct as_buf path = AS_BUF_INIT;
    as_fleet_store_path(c->folder, c->name, &path);
    const int fd = as_open(as_buf_get(&path), O_RDONLY, 0);
    bool good = true;
    memset(c->piece, 0, AS_RELAY_PIECE);
    for (uint64_t at = 0; at < size && good; at += AS_RELAY_PIECE) {
        const uint64_t n = size - at < AS_RELAY_PIECE ? size - at : AS_RELAY_PIECE;
        (void)relay_read_piece(c, fd);
        good = relay_send(c, 0, NULL, c->piece, n, SILENT_S);
    }
    if (fd >= 0)
        close(fd);
    as_buf_finish(&path);
    return good;
}

/* False: rank 0 said the end, into *end, or cannot be reached. */
static bool follower_serve(struct as_relay *c, struct follower *f, enum as_relay_end *end)
{
    struct as_relay_head head;
    while (as_mpi_has_message(&c->mpi, 0)) {
        *end = AS_RELAY_FAILED;
        if (!as_relay_read(c, 0, &head, SILENT_S))
            return false;
        f->heard_at = as_now();
        if (head.kind == AS_RELAY_WANT && !follower_send_store(c, head.size))
            return false;
        if (head.kind != AS_RELAY_END)
            continue;
        *end = head.flag >= 0 && head.flag < AS_RELAY_ENDS_N ? (enum as_relay_end)head.flag : AS_RELAY_FAILED;
        return false;
    }
    return true;
}

/* True: all ranks have met. */
static bool follower_meet(struct as_relay *c, struct follower *f)
{
    struct as_relay_head head = {.kind = AS_RELAY_HELLO};
    struct as_buf hello = AS_BUF_INIT, path = AS_BUF_INIT;
    as_buf_str(&hello, "{\"name\":");
    as_buf_json_str(&hello, c->name);
    as_buf_str(&hello, ",\"request\":");
    as_buf_json_str(&hello, c->request);
    as_buf_char(&hello, '}');
    head.payload = hello.len;
    bool good = as_relay_send(c, 0, &head, as_buf_get(&hello), as_relay_meet_s) &&
                as_relay_read(c, 0, &head, as_relay_meet_s) && head.kind == AS_RELAY_WELCOME;
    json_t *welcome = good ? json_loadb(c->piece, head.payload, 0, NULL) : NULL;
    const char *file = json_string_value(json_object_get(welcome, "file"));
    const char *why_not = json_string_value(json_object_get(welcome, "why_not"));
    const char *request = json_string_value(json_object_get(welcome, "request"));
    good = file && request;
    if (good) {
        as_buf_printf(&path, "%s/status/%s", c->folder, file);
        f->is_shared = access(as_buf_get(&path), F_OK) == 0;
        struct as_relay_head seen = {.kind = AS_RELAY_SEEN, .flag = f->is_shared};
        good = as_relay_send(c, 0, &seen, NULL, as_relay_meet_s);
    }
    as_relay_tell(c, good, good ? request : why_not ? why_not : "rank 0 cannot be reached");
    json_decref(welcome);
    as_buf_finish(&hello);
    as_buf_finish(&path);
    return good;
}

enum as_relay_end as_relay_follow(struct as_relay *c)
{
    struct follower f = {.heard_at = as_now()};
    enum as_relay_end end = AS_RELAY_ARRIVED;
    if (!follower_meet(c, &f))
        return AS_RELAY_FAILED;
    for (;;) {
        as_relay_listen(c);
        if (!follower_serve(c, &f, &end))
            return end;
        if (as_now() - f.heard_at > SILENT_S)
            return AS_RELAY_SILENT;
        bool good = true;
        if (!f.is_shared && !f.has_told_last && (c->has_ended || c->has_lost_parent))
            good = follower_offer(c, &f);
        else if (!f.is_shared && !f.has_told_last && as_now() - f.told_at > STATE_S)
            good = follower_tell_state(c, &f);
        if (!good)
            return AS_RELAY_FAILED;
        as_sleep(as_relay_poll_s);
    }
}
