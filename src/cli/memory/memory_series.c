#include "cli/memory/memory_series.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static enum as_status series_write(const struct memory_series *s, struct as_buf *line, struct as_error *err)
{
    enum as_status st = as_buf_check(line, err);
    const char *at = as_buf_get(line);
    for (size_t left = line->len; left && !st;) {
        const ssize_t n = write(s->fd, at, left);
        if (n < 0 && errno != EINTR)
            st = as_fail(err, AS_IO, "'%s': %s", s->path, strerror(errno));
        at += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    as_buf_finish(line);
    return st;
}

enum as_status as_memory_series_open(struct memory_series *s, const char *path, const char *format,
                                     const struct memory_counters *c, struct as_error *err)
{
    struct as_buf head = AS_BUF_INIT;
    *s = (struct memory_series){.fd = -1, .path = path};
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)
        return as_fail(err, AS_USAGE, "--format is csv or json, not '%s'", format);
    if (format && !path)
        return as_fail(err, AS_USAGE, "--format needs a file for the readings: -o FILE");
    s->is_json = format && strcmp(format, "json") == 0;
    if (!path)
        return AS_OK;
    s->fd = as_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (s->fd < 0)
        return as_fail(err, AS_IO, "'%s': %s", path, strerror(errno));
    if (s->is_json)
        return AS_OK;
    as_buf_str(&head, "seconds,processes");
    for (size_t i = 0; i < c->n; i++) {
        as_buf_char(&head, ',');
        as_buf_csv(&head, c->v[i].name);
    }
    as_buf_char(&head, '\n');
    return series_write(s, &head, err);
}

enum as_status as_memory_series_add(const struct memory_series *s, const struct memory_counters *c,
                                    const struct memory_reading *reading, struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    if (s->fd < 0)
        return AS_OK;
    as_buf_printf(&line, s->is_json ? "{\"seconds\":%.6f,\"processes\":%zu" : "%.6f,%zu", reading->seconds,
                  reading->processes);
    for (size_t i = 0; i < c->n; i++) {
        const bool known = isfinite(reading->bytes[i]);
        as_buf_char(&line, ',');
        if (s->is_json) {
            as_buf_json_str(&line, c->v[i].name);
            as_buf_str(&line, known ? ":" : ":null");
        }
        if (known)
            as_buf_printf(&line, "%.0f", reading->bytes[i]);
    }
    as_buf_str(&line, s->is_json ? "}\n" : "\n");
    return series_write(s, &line, err);
}

enum as_status as_memory_series_close(struct memory_series *s, enum as_status status, const struct memory_summary *sum,
                                      const struct memory_counters *c, const char *end, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    if (s->fd < 0)
        return status;
    if (!status && s->is_json) {
        as_memory_summary_json(sum, c, end, &text);
        status = series_write(s, &text, err);
    }
    if (close(s->fd) && !status)
        status = as_fail(err, AS_IO, "'%s': %s", s->path, strerror(errno));
    s->fd = -1;
    return status;
}
