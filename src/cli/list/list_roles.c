/* assay list roles: the roles of allocators, and each API's allocator for a role. */
#include "cli/list/list.h"

#include "base/json.h"
#include "device/backend.h"

static void add_role(const struct as_listing *l, struct as_table *t, const char *backend, const struct as_role_name *r)
{
    if (!l->json) {
        as_table_add(t, as_role_word(r->role), AS_PAINT_STRONG);
        as_table_add(t, backend, AS_PAINT_NONE);
        as_table_add(t, r->allocator, AS_PAINT_NONE);
        as_table_add(t, as_role_help(r->role), AS_PAINT_DIM);
        return;
    }
    struct as_buf line = AS_BUF_INIT;
    as_buf_char(&line, '{');
    as_json_add_text(&line, "role", as_role_word(r->role));
    as_json_add_text(&line, "backend", backend);
    as_json_add_text(&line, "allocator", r->allocator);
    as_json_add_text(&line, "help", as_role_help(r->role));
    as_list_json_line(&line, l->out);
    as_buf_finish(&line);
}

enum as_status as_list_roles(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"role", "backend", "allocator", "what it is", NULL};
    struct as_table t;
    as_table_init(&t, heads);
    for (int role = AS_ROLE_UNKNOWN + 1; role < AS_ROLES_N; role++)
        for (size_t i = 0; as_backends[i]; i++)
            for (const struct as_role_name *r = as_backends[i]->roles; r && r->allocator; r++)
                if (r->role == (enum as_role)role)
                    add_role(l, &t, as_backends[i]->name, r);
    enum as_status st = l->json ? AS_OK : as_table_write(&t, l->style, l->out, err);
    as_table_finish(&t);
    return st;
}
