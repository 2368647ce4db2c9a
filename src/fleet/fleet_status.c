/* The state of each node as a file. */
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "fleet/fleet_job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_VERSION = 1 };
static const char status_suffix[] = ".json";
static const char *const state_words[] = {
    [AS_FLEET_STARTING] = "starting", [AS_FLEET_MEASURING] = "measuring",     [AS_FLEET_MEASURED] = "measured",
    [AS_FLEET_FAILED] = "failed",     [AS_FLEET_INTERRUPTED] = "interrupted", [AS_FLEET_COMPLETE] = "complete",
};

const char *as_fleet_state_word(enum as_fleet_state state)
{
    return state_words[state];
}

void as_fleet_status_finish(struct as_fleet_status *s)
{
    free(s->request);
    *s = (struct as_fleet_status){0};
}

void as_fleet_statuses_finish(struct as_fleet_statuses *s)
{
    for (size_t i = 0; i < s->n; i++)
        as_fleet_status_finish(&s->v[i]);
    free(s->v);
    free(s->unread);
    *s = (struct as_fleet_statuses){0};
}

void as_fleet_store_path(const char *folder, const char *name, struct as_buf *out)
{
    as_buf_clear(out);
    as_buf_printf(out, "%s/%s.db", folder, name);
}

static void status_path(const char *folder, const char *name, const char *suffix, struct as_buf *out)
{
    as_buf_clear(out);
    as_buf_printf(out, "%s/status/%s%s", folder, name, suffix);
}

void as_fleet_status_path(const char *folder, const char *name, struct as_buf *out)
{
    status_path(folder, name, status_suffix, out);
}

static enum as_status make_folder(const char *path, struct as_error *err)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return AS_OK;
    return as_fail(err, AS_IO, "cannot create the folder \"%s\": %s", path, strerror(errno));
}

enum as_status as_fleet_folder_make(const char *folder, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    as_buf_printf(&path, "%s/status", folder);
    enum as_status st = make_folder(folder, err);
    if (!st)
        st = make_folder(as_buf_get(&path), err);
    as_buf_finish(&path);
    return st;
}

enum as_status as_fleet_folder_enter(const char *folder, const char *name, int *lock, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    *lock = -1;
    enum as_status st = as_fleet_folder_make(folder, err);
    status_path(folder, name, ".lock", &path);
    if (!st && (*lock = as_open(as_buf_get(&path), O_RDWR | O_CREAT | O_NOFOLLOW, 0666)) < 0)
        st = as_fail(err, AS_IO, "cannot create \"%s\": %s", as_buf_get(&path), strerror(errno));
    const int why = st ? 0 : as_lock_byte(*lock, 0);
    if (why == EAGAIN)
        st = as_fail(err, AS_BUSY,
                     "another process is already measuring '%s' in \"%s\"; give each node its own host name and each "
                     "concurrent launch its own folder",
                     name, folder);
    if (*lock >= 0 && why) {
        close(*lock);
        *lock = -1;
    }
    as_buf_finish(&path);
    return st;
}

enum as_status as_fleet_status_write(const char *folder, struct as_fleet_status *s, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT, out = AS_BUF_INIT;
    s->beat++;
    as_buf_char(&out, '{');
    as_json_add_int(&out, "status_version", STATUS_VERSION);
    as_json_add_text(&out, "host", s->host);
    as_json_add_text(&out, "launch", s->job.id);
    as_json_add_int(&out, "rank", s->job.rank);
    as_json_add_int(&out, "size", s->job.size);
    as_json_add_int(&out, "local", s->job.local);
    as_json_add_text(&out, "state", state_words[s->state]);
    as_json_add_text(&out, "reason", s->why);
    as_json_add_text(&out, "run", s->run);
    as_json_add_number(&out, "share", s->share);
    as_json_add_number(&out, "eta_s", s->eta_s);
    as_json_add_text(&out, "now", s->now);
    as_json_add_int(&out, "beat", (long long)s->beat);
    as_json_add_bool(&out, "locked", s->locked);
    as_json_add_name(&out, "request");
    as_buf_str(&out, s->request);
    as_buf_str(&out, "}\n");
    status_path(folder, s->name, status_suffix, &path);
    enum as_status st = as_buf_check(&out, err);
    if (!st)
        st = as_write_file(as_buf_get(&path), as_buf_get(&out), out.len, err);
    as_buf_finish(&out);
    as_buf_finish(&path);
    return st;
}

static void status_text(const json_t *j, const char *member, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(j, member));
    as_copy_clean(out, size, text ? text : "");
}

static double status_number(const json_t *j, const char *member)
{
    const json_t *v = json_object_get(j, member);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static int status_int(const json_t *j, const char *member)
{
    const json_int_t v = json_integer_value(json_object_get(j, member));
    return v > 0 && v < INT_MAX ? (int)v : 0;
}

static bool status_parse(const json_t *j, struct as_fleet_status *s)
{
    char word[24];
    if (json_integer_value(json_object_get(j, "status_version")) != STATUS_VERSION)
        return false;
    status_text(j, "state", word, sizeof word);
    while (s->state < AS_FLEET_STATES_N && strcmp(word, state_words[s->state]) != 0)
        s->state++;
    status_text(j, "host", s->host, sizeof s->host);
    status_text(j, "launch", s->job.id, sizeof s->job.id);
    status_text(j, "reason", s->why, sizeof s->why);
    status_text(j, "run", s->run, sizeof s->run);
    status_text(j, "now", s->now, sizeof s->now);
    s->job.rank = status_int(j, "rank");
    s->job.size = status_int(j, "size");
    s->job.local = status_int(j, "local");
    s->share = status_number(j, "share");
    s->eta_s = status_number(j, "eta_s");
    s->beat = (uint64_t)status_int(j, "beat");
    s->locked = json_is_true(json_object_get(j, "locked"));
    const json_t *request = json_object_get(j, "request");
    s->request = json_is_array(request) ? json_dumps(request, JSON_COMPACT) : NULL;
    return s->state < AS_FLEET_STATES_N && s->request;
}

/* Is the lock of this name held? */
static bool status_lives(const char *folder, const char *name)
{
    struct as_buf path = AS_BUF_INIT;
    status_path(folder, name, ".lock", &path);
    const int fd = as_open(as_buf_get(&path), O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    const bool lives = fd >= 0 && as_byte_is_locked(fd, 0);
    if (fd >= 0)
        close(fd);
    as_buf_finish(&path);
    return lives;
}

enum as_status as_fleet_status_from_text(const char *text, size_t len, const char *name, struct as_fleet_status *out,
                                         struct as_error *err)
{
    *out = (struct as_fleet_status){.share = NAN, .eta_s = NAN};
    as_copy_text(out->name, sizeof out->name, name);
    json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    const bool is_state = json_is_object(j) && status_parse(j, out);
    json_decref(j);
    if (is_state)
        return AS_OK;
    as_fleet_status_finish(out);
    return as_fail(err, AS_FORMAT, "it is not the state of a node");
}

enum as_status as_fleet_status_read(const char *folder, const char *name, struct as_fleet_status *out,
                                    struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT, text = AS_BUF_INIT;
    *out = (struct as_fleet_status){0};
    as_fleet_status_path(folder, name, &path);
    /* before the state: a process that ends in between has said so */
    const bool lives = status_lives(folder, name);
    enum as_status st = as_buf_read_file(&text, as_buf_get(&path), AS_FLEET_STATUS_BYTES_MAX, err);
    if (!st && as_fleet_status_from_text(as_buf_get(&text), text.len, name, out, NULL))
        st = as_fail(err, AS_FORMAT, "\"%s\" is not the state of a node", as_buf_get(&path));
    out->lives = lives && !st;
    as_buf_finish(&text);
    as_buf_finish(&path);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct as_fleet_status *)a)->name, ((const struct as_fleet_status *)b)->name);
}

static enum as_status statuses_add_unread(const char *folder, const char *name, const char *why,
                                          struct as_fleet_statuses *out, struct as_error *err)
{
    const enum as_status st =
        as_grow((void **)&out->unread, &out->unread_cap, out->unread_n + 1, sizeof *out->unread, err);
    if (st)
        return st;
    struct as_fleet_unread *unread = &out->unread[out->unread_n++];
    unread->lives = status_lives(folder, name);
    as_copy_text(unread->name, sizeof unread->name, name);
    as_copy_text(unread->why, sizeof unread->why, why);
    return AS_OK;
}

static enum as_status statuses_add(const char *folder, const char *file, struct as_fleet_statuses *out,
                                   struct as_error *err)
{
    const size_t len = strlen(file), tail = sizeof status_suffix - 1;
    char name[sizeof out->v->name];
    struct as_error why = {0};
    if (file[0] == '.' || len <= tail || len - tail >= sizeof name || strcmp(file + len - tail, status_suffix) != 0)
        return AS_OK;
    memcpy(name, file, len - tail);
    name[len - tail] = 0;
    enum as_status st = as_grow((void **)&out->v, &out->cap, out->n + 1, sizeof *out->v, err);
    if (st)
        return st;
    st = as_fleet_status_read(folder, name, &out->v[out->n], &why);
    out->n += st == AS_OK;
    if (!st || st == AS_NOTFOUND)
        return AS_OK;
    return st == AS_NOMEM ? as_nomem(err, AS_FLEET_STATUS_BYTES_MAX, "a state")
                          : statuses_add_unread(folder, name, why.text, out, err);
}

enum as_status as_fleet_statuses_read(const char *folder, struct as_fleet_statuses *out, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT;
    enum as_status st = AS_OK;
    *out = (struct as_fleet_statuses){0};
    as_buf_printf(&path, "%s/status", folder);
    DIR *dir = opendir(as_buf_get(&path));
    if (!dir)
        st = as_fail(err, errno == ENOENT ? AS_NOTFOUND : AS_IO, "cannot open the folder \"%s\": %s", as_buf_get(&path),
                     strerror(errno));
    for (const struct dirent *entry; !st && (entry = readdir(dir));)
        st = statuses_add(folder, entry->d_name, out, err);
    if (dir)
        closedir(dir);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_name);
    if (st)
        as_fleet_statuses_finish(out);
    as_buf_finish(&path);
    return st;
}
