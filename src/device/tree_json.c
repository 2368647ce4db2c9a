#include "device/tree_json.h"

#include "base/json.h"

void as_tree_open(struct as_buf *b, const char *type, const char *name)
{
    as_buf_str(b, b->len && b->data[b->len - 1] == '}' ? ",{" : "{");
    as_json_add_text(b, "type", type);
    as_json_add_text(b, "name", name);
}

void as_tree_children(struct as_buf *b)
{
    as_json_add_name(b, "children");
    as_buf_char(b, '[');
}

void as_tree_memory(struct as_buf *b, const char *type, const char *name, uint64_t size, uint64_t line)
{
    if (size == 0)
        return;
    as_tree_open(b, type, name);
    as_json_add_name(b, "size");
    as_buf_printf(b, "%llu", (unsigned long long)size);
    if (line) {
        as_json_add_name(b, "line");
        as_buf_printf(b, "%llu", (unsigned long long)line);
    }
    as_buf_char(b, '}');
}

void as_tree_core(struct as_buf *b, const char *name, unsigned compute_units, unsigned lanes)
{
    as_tree_open(b, "core", name);
    as_json_add_int(b, "count", compute_units);
    as_tree_children(b);
    as_tree_open(b, "core", "lanes");
    as_json_add_int(b, "count", lanes);
    as_buf_char(b, '}');
}
