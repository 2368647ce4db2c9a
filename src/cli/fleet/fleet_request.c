#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/fleet/fleet_verbs.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_request(const char *option)
{
    static const char *const options[] = {AS_FLEET_REQUEST_OPTIONS, NULL};
    for (const char *const *o = options; *o; o++)
        if (strcmp(*o, option) == 0)
            return true;
    return false;
}

void as_fleet_request_write(const struct as_args *args, struct as_buf *json)
{
    struct as_buf word = AS_BUF_INIT;
    const char *lead = "[";
    for (size_t i = 0; i < args->given_n; i++) {
        const struct as_given *g = &args->given[i];
        if (!is_of_request(g->option->name))
            continue;
        as_buf_clear(&word);
        as_buf_printf(&word, "--%s%s%s", g->option->name, g->value ? "=" : "", g->value ? g->value : "");
        as_buf_str(json, lead);
        as_buf_json_str(json, as_buf_get(&word));
        lead = ",";
    }
    as_buf_str(json, *lead == '[' ? "[\"--\"" : ",\"--\"");
    for (size_t i = 1; i < args->words; i++) {
        as_buf_char(json, ',');
        as_buf_json_str(json, args->word[i]);
    }
    as_buf_char(json, ']');
    json->failed |= word.failed;
    as_buf_finish(&word);
}

enum as_status as_fleet_request_read(const char *json, struct as_fleet_request *out, struct as_error *err)
{
    *out = (struct as_fleet_request){0};
    json_t *words = json_loads(json, 0, NULL);
    const size_t n = json_array_size(words);
    enum as_status st = n < INT_MAX ? AS_OK : as_fail(err, AS_FORMAT, "too many arguments");
    out->argv = st ? NULL : calloc(n + 1, sizeof *out->argv);
    if (!st && !out->argv)
        st = as_nomem(err, n * sizeof *out->argv, "arguments");
    for (size_t i = 0; i < n && !st; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word)
            st = as_fail(err, AS_FORMAT, "an argument is not text");
        else if (!(out->argv[i] = as_strdup(word)))
            st = as_nomem(err, strlen(word), "arguments");
        else
            out->argc++;
    }
    json_decref(words);
    if (!st)
        st = as_args_parse(&as_command_run, out->argc, out->argv, 0, &out->args, err);
    return st ? st : as_run_request_read(&out->args, &out->run, err);
}

void as_fleet_request_finish(struct as_fleet_request *r)
{
    as_run_request_finish(&r->run);
    as_args_finish(&r->args);
    for (int i = 0; i < r->argc; i++)
        free(r->argv[i]);
    free((void *)r->argv);
    *r = (struct as_fleet_request){0};
}
