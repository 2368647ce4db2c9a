/* Framing and the JSON of orders and trials. */
#include "worker/message.h"

#include "base/clock.h"
#include "base/text.h"

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

enum as_status as_message_send(int fd, const json_t *message, struct as_error *err)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (!text)
        return as_nomem(err, 0, "a message");
    size_t left = strlen(text), at = 0;
    enum as_status s = AS_OK;
    do {
        char packet[PACKET];
        size_t n = left < PACKET - 1 ? left : PACKET - 1;
        packet[0] = left > n ? MORE : END;
        memcpy(packet + 1, text + at, n);
        ssize_t sent;
        do
            sent = send(fd, packet, n + 1, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        if (sent < 0 && (errno == ENOMEM || errno == ENOBUFS))
            s = as_nomem(err, n, "a message");
        else if (sent < 0)
            s = as_fail(err, AS_IO, "the other process is gone: %s", strerror(errno));
        at += n;
        left -= n;
    } while (left && !s);
    free(text);
    return s;
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

enum as_receive as_message_receive_from(int fd, pid_t child, double deadline, const volatile sig_atomic_t *stop,
                                        json_t **message)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_receive r = AS_RECEIVED;
    *message = NULL;
    for (bool whole = false; !whole && r == AS_RECEIVED;) {
        char packet[PACKET];
        r = wait_readable(fd, child, deadline, stop);
        if (r != AS_RECEIVED)
            break;
        ssize_t n = recv(fd, packet, sizeof packet, MSG_DONTWAIT);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 1 || text.len > MESSAGE_MAX) {
            r = n < 0 && errno == ENOMEM ? AS_NO_MEMORY : AS_PEER_GONE;
            break;
        }
        as_buf_add(&text, packet + 1, (size_t)n - 1);
        whole = packet[0] == END;
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
static json_t *number(double v)
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

static json_t *text_value(const char *s)
{
    json_t *j = json_string(s);
    return j ? j : json_string("(text that is not valid UTF-8)");
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

/* Bits as a number, values by name; nothing without a sensor. */
static json_t *readings_to_json(const struct as_readings *r)
{
    if (!r->sensor[0])
        return json_null();
    json_t *j = json_object();
    json_object_set_new(j, "sensor", text_value(r->sensor));
    json_object_set_new(j, "throttle", json_integer(r->throttle));
    for (size_t i = 0; i < as_readings_members_n; i++)
        json_object_set_new(j, as_readings_members[i].name, number(as_readings_get(r, i)));
    return j;
}

static void readings_from_json(const json_t *j, struct as_readings *r)
{
    as_readings_clear(r);
    if (!json_is_object(j))
        return;
    as_copy_text(r->sensor, sizeof r->sensor, get_text(j, "sensor"));
    int64_t bits = get_integer(j, "throttle");
    r->throttle = bits >= -1 && bits < 2 * (int)AS_THROTTLE_OTHER ? (int)bits : -1;
    for (size_t i = 0; i < as_readings_members_n; i++)
        *as_readings_at(r, i) = get_number(j, as_readings_members[i].name);
}

static json_t *numbers(const double *x, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, number(x[i]));
    return list;
}

json_t *as_trial_to_json(const struct as_trial *v)
{
    json_t *samples = numbers(v->samples, v->n);
    json_t *j = json_object();
    json_object_set_new(j, "number", json_integer(v->number));
    json_object_set_new(j, "started_at", number(v->started_at));
    json_object_set_new(j, "prepare_s", number(v->prepare_s));
    json_object_set_new(j, "duration_s", number(v->duration_s));
    json_object_set_new(j, "samples", samples);
    json_object_set_new(j, "warmup", json_integer((json_int_t)v->warmup));
    json_object_set_new(j, "reps", json_integer((json_int_t)v->reps));
    json_object_set_new(j, "sample_s", number(v->sample_s));
    json_object_set_new(j, "clock_hz", number(v->clock_hz));
    json_object_set_new(j, "clock_lo", number(v->clock_lo));
    json_object_set_new(j, "clock_hi", number(v->clock_hi));
    json_object_set_new(j, "checksum", json_integer(v->checksum));
    json_object_set_new(j, "checksum_text", text_value(v->checksum_text));
    json_object_set_new(j, "code", json_integer(v->code));
    json_object_set_new(j, "code_text", text_value(v->code_text));
    json_object_set_new(j, "readings", readings_to_json(&v->readings));
    json_object_set_new(j, "status", json_integer(v->status));
    json_object_set_new(j, "reason", text_value(v->reason));
    json_object_set_new(j, "limit", number(v->limit));
    json_object_set_new(j, "limit_why", text_value(v->limit_why));
    json_object_set_new(j, "footprint", json_integer((json_int_t)v->footprint));
    json_object_set_new(j, "claims_memory", json_integer(v->claims_memory));
    json_object_set_new(j, "detail", text_value(v->detail ? v->detail : "{}"));
    json_object_set_new(j, "sampling_s", number(v->sampling_s));
    if (v->core_hz)
        json_object_set_new(j, "core_hz", numbers(v->core_hz, v->n));
    if (v->weight)
        json_object_set_new(j, "weight", numbers(v->weight, v->n));
    return j;
}

static enum as_status get_samples(const json_t *j, struct as_trial *v, struct as_error *err)
{
    const json_t *samples = json_object_get(j, "samples");
    v->n = json_array_size(samples);
    v->samples = calloc(v->n ? v->n : 1, sizeof *v->samples);
    if (!v->samples)
        return as_nomem(err, v->n * sizeof *v->samples, "samples");
    for (size_t i = 0; i < v->n; i++) {
        const json_t *x = json_array_get(samples, i);
        if (!json_is_number(x))
            return as_fail(err, AS_FAILED, "the worker sent a sample that is not a number");
        v->samples[i] = json_number_value(x);
    }
    return AS_OK;
}

/* One number beside each sample; *out stays NULL where there are none. */
static enum as_status get_beside(const json_t *j, const char *name, size_t n, bool (*is_one)(double), double **out,
                                 struct as_error *err)
{
    const json_t *list = json_object_get(j, name);
    if (!list)
        return AS_OK;
    if (json_array_size(list) != n)
        return as_fail(err, AS_FAILED, "the worker sent '%s' with a different length than the samples", name);
    *out = calloc(n ? n : 1, sizeof **out);
    if (!*out)
        return as_nomem(err, n * sizeof **out, "samples");
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(list, i);
        (*out)[i] = json_is_number(x) ? json_number_value(x) : NAN;
        if (!is_one((*out)[i]))
            return as_fail(err, AS_FAILED, "the worker sent '%s' %g beside a sample", name, (*out)[i]);
    }
    return AS_OK;
}

/* It is kept as it is and read as an object. */
static enum as_status check_detail(const char *text, struct as_error *err)
{
    json_t *j = text[0] ? json_loads(text, 0, NULL) : json_object();
    const bool good = json_is_object(j);
    json_decref(j);
    return good ? AS_OK : as_fail(err, AS_FAILED, "the worker sent notes that are not a JSON object");
}

enum as_status as_trial_from_json(const json_t *j, struct as_trial *v, struct as_error *err)
{
    *v = (struct as_trial){.number = (int)get_integer(j, "number"),
                           .started_at = get_number(j, "started_at"),
                           .prepare_s = get_number(j, "prepare_s"),
                           .duration_s = get_number(j, "duration_s"),
                           .warmup = (size_t)get_integer(j, "warmup"),
                           .reps = (uint64_t)get_integer(j, "reps"),
                           .sample_s = get_number(j, "sample_s"),
                           .sampling_s = get_number(j, "sampling_s"),
                           .clock_hz = get_number(j, "clock_hz"),
                           .clock_lo = get_number(j, "clock_lo"),
                           .clock_hi = get_number(j, "clock_hi"),
                           .limit = get_number(j, "limit"),
                           .footprint = (uint64_t)get_integer(j, "footprint"),
                           .claims_memory = get_integer(j, "claims_memory") != 0};
    int64_t checksum = get_integer(j, "checksum"), code = get_integer(j, "code"), status = get_integer(j, "status");
    if (checksum < AS_GATE_NA || checksum > AS_GATE_FAIL || code < AS_GATE_NA || code > AS_GATE_FAIL || status < 0 ||
        status >= AS_CELL_STATUS_N)
        return as_fail(err, AS_FAILED, "the worker sent an invalid trial");
    v->checksum = (enum as_gate_state)checksum;
    v->code = (enum as_gate_state)code;
    v->status = (enum as_cell_status)status;
    as_copy_text(v->checksum_text, sizeof v->checksum_text, get_text(j, "checksum_text"));
    as_copy_text(v->code_text, sizeof v->code_text, get_text(j, "code_text"));
    readings_from_json(json_object_get(j, "readings"), &v->readings);
    as_copy_text(v->reason, sizeof v->reason, get_text(j, "reason"));
    as_copy_text(v->limit_why, sizeof v->limit_why, get_text(j, "limit_why"));
    v->detail = as_strdup(get_text(j, "detail"));
    enum as_status s = v->detail ? check_detail(v->detail, err) : as_nomem(err, 0, "a trial");
    if (!s)
        s = get_samples(j, v, err);
    if (!s)
        s = get_beside(j, "core_hz", v->n, as_is_core_hz, &v->core_hz, err);
    if (!s)
        s = get_beside(j, "weight", v->n, as_is_weight, &v->weight, err);
    if (s)
        as_trial_finish(v);
    return s;
}
