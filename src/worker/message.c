/* Framing and the JSON of orders and trials. */
#include "worker/message.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/fields.h"
#include "os/process.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PACKET = 32 * 1024, MESSAGE_MAX = 64 * 1024 * 1024 };

/* First byte of a packet: more of this message follows, or it ends here. */
enum { MORE = 'm', END = 'e' };
/* Where the sockets are streams, each packet has its length in front. */
enum { LENGTH = 4 };

static bool is_stream(int fd)
{
    bool stream = false;
    (void)as_packet_socket(fd, &stream);
    return stream;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        const ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

enum as_status as_message_send(int fd, const json_t *message, struct as_error *err)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (!text)
        return as_nomem(err, 0, "a message");
    size_t left = strlen(text), at = 0;
    const size_t front = is_stream(fd) ? LENGTH : 0;
    enum as_status st = AS_OK;
    do {
        char packet[LENGTH + PACKET];
        size_t n = left < PACKET - 1 ? left : PACKET - 1;
        const uint32_t length = (uint32_t)n + 1;
        memcpy(packet, &length, front);
        packet[front] = left > n ? MORE : END;
        memcpy(packet + front + 1, text + at, n);
        const bool sent = send_all(fd, packet, front + n + 1);
        if (!sent && (errno == ENOMEM || errno == ENOBUFS))
            st = as_nomem(err, n, "a message");
        else if (!sent)
            st = as_fail(err, AS_IO, "the other process is gone: %s", strerror(errno));
        at += n;
        left -= n;
    } while (left && !st);
    free(text);
    return st;
}

bool as_child_ended(pid_t child)
{
    siginfo_t info = {0};
    return child > 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

static enum as_receive wait_readable(int fd, pid_t child, double deadline, const volatile sig_atomic_t *stop)
{
    for (;;) {
        if (stop && *stop)
            return AS_STOPPED;
        double left = deadline - as_now();
        if (left <= 0)
            return AS_NO_ANSWER;
        /* Checked before poll, since messages sent before the child's end still count. Polls in short intervals to
         * notice a signal between the check of stop and poll, and a dead child whose own children hold the socket. */
        const bool ended = as_child_ended(child);
        double nap = stop || child ? 0.2 : 60;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int n = poll(&p, 1, ended ? 0 : (int)(1000 * (left < nap ? left : nap)) + 1);
        if (n > 0)
            return AS_RECEIVED;
        if (ended || (n < 0 && errno != EINTR))
            return !ended && errno == ENOMEM ? AS_NO_MEMORY : AS_PEER_GONE;
    }
}

/* A packet as far as it has come. */
struct incoming {
    char length[LENGTH], bytes[PACKET];
    size_t length_n, n, whole; /* whole: bytes of it in all, 0 unknown */
};

/* Takes what is there of one packet and nothing of the next: 1 it is whole, 0 not yet, -1 failed, with errno 0 where
 * the other end is closed or has sent what is no packet. */
static int receive_some(int fd, bool stream, struct incoming *p)
{
    const bool of_length = stream && p->length_n < LENGTH;
    const size_t most = of_length ? LENGTH - p->length_n : stream ? p->whole - p->n : sizeof p->bytes;
    errno = 0;
    const ssize_t n = recv(fd, of_length ? p->length + p->length_n : p->bytes + p->n, most, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 1) {
        errno = n < 0 ? errno : 0;
        return -1;
    }
    if (!of_length) {
        p->n += (size_t)n;
        return !stream || p->n == p->whole;
    }
    uint32_t length = 0;
    p->length_n += (size_t)n;
    if (p->length_n < LENGTH)
        return 0;
    memcpy(&length, p->length, LENGTH);
    p->whole = length;
    errno = 0;
    return length < 1 || length > PACKET ? -1 : 0;
}

enum as_receive as_message_receive_from(int fd, pid_t child, double deadline, const volatile sig_atomic_t *stop,
                                        json_t **message)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_receive r = AS_RECEIVED;
    const bool stream = is_stream(fd);
    struct incoming packet;
    *message = NULL;
    packet.length_n = packet.n = packet.whole = 0;
    for (bool whole = false; !whole && r == AS_RECEIVED;) {
        r = wait_readable(fd, child, deadline, stop);
        if (r != AS_RECEIVED)
            break;
        const int got = receive_some(fd, stream, &packet);
        if (got == 0)
            continue;
        if (got < 0 || text.len > MESSAGE_MAX) {
            r = got < 0 && errno == ENOMEM ? AS_NO_MEMORY : AS_PEER_GONE;
            break;
        }
        as_buf_add(&text, packet.bytes + 1, packet.n - 1);
        whole = packet.bytes[0] == END;
        packet.length_n = packet.n = packet.whole = 0;
    }
    if (r == AS_RECEIVED) {
        *message = text.failed ? NULL : json_loadb(as_buf_get(&text), text.len, 0, NULL);
        if (!*message)
            r = text.failed ? AS_NO_MEMORY : AS_PEER_GONE;
    }
    as_buf_finish(&text);
    return r;
}

enum as_receive as_message_receive(int fd, double deadline, const volatile sig_atomic_t *stop, json_t **message)
{
    return as_message_receive_from(fd, 0, deadline, stop, message);
}

/* JSON has no NaN: an unknown number is null. */
static json_t *message_number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static double get_number(const json_t *j, const char *name)
{
    const json_t *v = json_object_get(j, name);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int64_t get_integer(const json_t *j, const char *name)
{
    return json_integer_value(json_object_get(j, name));
}

static const char *get_text(const json_t *j, const char *name)
{
    const char *s = json_string_value(json_object_get(j, name));
    return s ? s : "";
}

json_t *as_order_to_json(const struct as_trial_order *o)
{
    struct as_buf axes = AS_BUF_INIT;
    as_axes_to_json(&o->axes, &axes);
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:f, s:f}", "do", "trial", "probe", o->probe, "axes",
                          as_buf_get(&axes), "seed", (json_int_t)o->seed, "number", o->number, "alone", o->alone,
                          "precision", o->precision, "share_s", o->share_s);
    as_buf_finish(&axes);
    return j;
}

enum as_status as_order_from_json(const json_t *j, struct as_trial_order *o, struct as_error *err)
{
    *o = (struct as_trial_order){.seed = (uint64_t)get_integer(j, "seed"),
                                 .number = (int)get_integer(j, "number"),
                                 .alone = (int)get_integer(j, "alone"),
                                 .precision = get_number(j, "precision"),
                                 .share_s = get_number(j, "share_s")};
    as_copy_text(o->probe, sizeof o->probe, get_text(j, "probe"));
    if (o->number < 0 || !(o->precision > 0) || !(o->share_s >= 0))
        return as_fail(err, AS_FORMAT, "the order is invalid: its number, precision or time is missing or negative");
    return as_axes_from_json(get_text(j, "axes"), &o->axes, err);
}

static json_t *message_numbers(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, message_number(x[i]));
    return list;
}

/* What the table leaves out is added by hand. */
static enum as_status write_null(void *user, const char *name, struct as_buf *out, struct as_error *err)
{
    (void)user, (void)name, (void)err;
    as_buf_str(out, "null");
    return AS_OK;
}

static json_t *record_to_json(const struct as_fields *fields, const void *record)
{
    struct as_buf text = AS_BUF_INIT;
    json_t *j = NULL;
    if (!as_fields_write(fields, record, write_null, NULL, &text, NULL) && !as_buf_check(&text, NULL))
        j = json_loadb(as_buf_get(&text), text.len, 0, NULL);
    as_buf_finish(&text);
    return j;
}

json_t *as_trial_to_json(const struct as_trial *v)
{
    json_t *j = record_to_json(&as_trial_fields, v);
    if (v->readings.sensor[0])
        json_object_set_new(j, "readings", record_to_json(&as_readings_fields, &v->readings));
    json_object_set_new(j, "samples", message_numbers(v->samples, v->n));
    if (v->core_hz)
        json_object_set_new(j, "core_hz", message_numbers(v->core_hz, v->n));
    if (v->weight)
        json_object_set_new(j, "weight", message_numbers(v->weight, v->n));
    return j;
}

enum as_status as_trial_from_json(const json_t *j, struct as_trial *v, struct as_error *err)
{
    const struct as_place place = {.document = "message of the worker", .text = "trial"};
    const json_t *readings = json_object_get(j, "readings");
    *v = (struct as_trial){0};
    as_readings_clear(&v->readings);
    struct as_error why = {0};
    enum as_status st = as_fields_read(&as_trial_fields, j, &place, v, &why);
    if (!st && !json_is_null(readings))
        st = as_fields_read(&as_readings_fields, readings, &place, &v->readings, &why);
    const size_t n = v->n;
    v->n = 0; /* none is owned yet */
    const struct {
        const char *name;
        bool required;
        bool (*is_one)(double);
        double **out;
    } lists[] = {{"samples", true, as_is_sample, &v->samples},
                 {"core_hz", false, as_is_core_hz, &v->core_hz},
                 {"weight", false, as_is_weight, &v->weight}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && !st; i++) {
        const json_t *list = json_object_get(j, lists[i].name);
        if (lists[i].required || !json_is_null(list))
            st = as_numbers_read(list, lists[i].name, n, lists[i].is_one, &place, lists[i].out, &why);
    }
    if (st)
        st = as_fail(err, st == AS_NOMEM ? AS_NOMEM : AS_FAILED, "%s", why.text);
    if (st)
        as_trial_finish(v);
    else
        v->n = n;
    return st;
}
