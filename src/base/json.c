#include "base/json.h"

#include "base/text.h"

#include <math.h>

void as_json_number(struct as_buf *b, double value)
{
    struct as_buf text = AS_BUF_INIT;
    double back = NAN;
    if (!isfinite(value)) {
        as_buf_str(b, "null");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15) {
        as_buf_printf(b, "%.0f", value == 0 ? 0.0 : value); /* no negative zero, no exponent */
        return;
    }
    for (int digits = 15; back != value && digits <= 17; digits++) {
        as_buf_clear(&text);
        as_buf_printf(&text, "%.*g", digits, value);
        if (as_parse_double(as_buf_get(&text), &back, NULL))
            back = NAN;
    }
    as_buf_str(b, as_buf_get(&text));
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_json_add_name(struct as_buf *b, const char *name)
{
    if (b->len && b->data[b->len - 1] != '{' && b->data[b->len - 1] != '[')
        as_buf_char(b, ',');
    as_buf_json_str(b, name);
    as_buf_char(b, ':');
}

void as_json_add_text(struct as_buf *b, const char *name, const char *value)
{
    as_json_add_name(b, name);
    as_buf_json_str(b, value);
}

void as_json_add_number(struct as_buf *b, const char *name, double value)
{
    as_json_add_name(b, name);
    as_json_number(b, value);
}

void as_json_add_int(struct as_buf *b, const char *name, long long value)
{
    as_json_add_name(b, name);
    as_buf_printf(b, "%lld", value);
}

void as_json_add_bool(struct as_buf *b, const char *name, bool value)
{
    as_json_add_name(b, name);
    as_buf_str(b, value ? "true" : "false");
}
