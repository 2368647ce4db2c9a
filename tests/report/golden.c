#include "golden.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assert_golden(const char *name, const struct as_buf *text)
{
    char path[512];
    struct as_error err = {0};
    struct as_buf wanted = AS_BUF_INIT;
    const char *update = getenv("UPDATE_GOLDEN");
    snprintf(path, sizeof path, "%s/%s", GOLDEN_FOLDER, name);
    if (update && strcmp(update, "1") == 0)
        assert_int_equal(as_write_file(path, as_buf_get(text), text->len, &err), AS_OK);
    if (as_buf_read_file(&wanted, path, 1 << 20, &err) != AS_OK)
        fail_msg("%s", err.text);
    const char *is = as_buf_get(text), *was = as_buf_get(&wanted);
    size_t at = 0, line = 0;
    for (; is[at] && is[at] == was[at]; at++)
        line = is[at] == '\n' ? at + 1 : line;
    if (is[at] || was[at])
        fail_msg("%s differs:\n  is  %.*s\n  was %.*s", name, (int)strcspn(is + line, "\n"), is + line,
                 (int)strcspn(was + line, "\n"), was + line);
    as_buf_finish(&wanted);
}

struct as_buf golden_section(const struct as_buf *page, const char *id)
{
    struct as_buf out = AS_BUF_INIT;
    char open[64];
    snprintf(open, sizeof open, "<section id=\"%s\"", id);
    const char *from = strstr(as_buf_get(page), open), *end = from ? strstr(from, "</section>") : NULL;
    while (end) {
        const char *picture = strstr(from, "<svg");
        if (!picture || picture > end)
            break;
        as_buf_add(&out, from, (size_t)(picture - from));
        as_buf_str(&out, "<svg/>");
        from = strstr(picture, "</svg>") + strlen("</svg>");
    }
    if (end)
        as_buf_add(&out, from, (size_t)(end - from));
    return out;
}
