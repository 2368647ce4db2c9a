#include "base/throttle.h"

#include <string.h>

static const char *const throttle_words[] = {
    "idle", "clock setting", "sync boost", "power cap", "thermal", "hardware slowdown", "power brake", "other",
};
enum { THROTTLE_WORDS = sizeof throttle_words / sizeof throttle_words[0] };

void as_throttle_text(int bits, struct as_buf *out)
{
    const char *separator = "";
    if (bits == 0)
        as_buf_str(out, "none");
    for (int i = 0; bits > 0 && i < THROTTLE_WORDS; i++)
        if (bits & 1 << i) {
            as_buf_printf(out, "%s%s", separator, throttle_words[i]);
            separator = ", ";
        }
}

static int bit_of(const char *word, size_t len)
{
    for (int i = 0; i < THROTTLE_WORDS; i++)
        if (strlen(throttle_words[i]) == len && strncmp(throttle_words[i], word, len) == 0)
            return 1 << i;
    return 0;
}

enum as_status as_throttle_parse(const char *text, int *bits, struct as_error *err)
{
    *bits = text[0] ? 0 : -1;
    if (!text[0] || strcmp(text, "none") == 0)
        return AS_OK;
    for (const char *word = text;; word += 2) {
        size_t len = strcspn(word, ",");
        int bit = bit_of(word, len);
        if (!bit)
            return as_fail(err, AS_FORMAT, "'%.40s' is not a list of throttle reasons", text);
        *bits |= bit;
        word += len;
        if (!word[0])
            return AS_OK;
        if (word[1] != ' ')
            return as_fail(err, AS_FORMAT, "'%.40s' is not a list of throttle reasons", text);
    }
}
