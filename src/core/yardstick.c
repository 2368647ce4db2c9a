#include "core/yardstick.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3, TURNS = 8000, KNOWN_MIN = 8 };
/* A core that does its yardstick 10% slower took 20% longer for calls into a driver, so half of what is asked for may
 * be taken; the yardstick itself scatters by less than a hundredth. */
static const double ROOM = 0.05, SHARE = 0.5;

/* Four chains of shifts and exclusive ors, which fill the issue slots of a core: whoever shares it is felt. The
 * compiler must neither make vectors of them nor look through. */
static uint64_t work(uint64_t a)
{
    uint64_t b = a + 1, c = a + 2, d = a + 3;
    for (int i = 0; i < TURNS; i++) {
        a ^= a << 7, b ^= b << 7, c ^= c << 7, d ^= d << 7;
        a ^= a >> 9, b ^= b >> 9, c ^= c >> 9, d ^= d >> 9;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
    return a ^ b ^ c ^ d;
}

double as_yardstick_now(void)
{
    double least = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        double start = as_now();
        uint64_t result = work((uint64_t)i + 88172645463325252U);
        __asm__ volatile("" : : "r"(result));
        least = fmin(least, as_now() - start);
    }
    return 1e9 * least;
}

enum as_status as_yardsticks_add(struct as_yardsticks *y, double ns, struct as_error *err)
{
    if (!(ns > 0) || !isfinite(ns))
        return AS_OK;
    if (y->n == y->cap) {
        size_t cap = y->cap ? 2 * y->cap : 256;
        double *more = realloc(y->ns, cap * sizeof *more);
        if (!more)
            return as_nomem(err, cap * sizeof *more, "yardsticks");
        y->ns = more;
        y->cap = cap;
    }
    size_t at = y->n;
    while (at > 0 && y->ns[at - 1] > ns)
        at--;
    memmove(y->ns + at + 1, y->ns + at, (y->n - at) * sizeof *y->ns);
    y->ns[at] = ns;
    y->n++;
    return AS_OK;
}

void as_yardsticks_finish(struct as_yardsticks *y)
{
    free(y->ns);
    *y = (struct as_yardsticks){0};
}

double as_yardstick_of(const struct as_visit *v)
{
    static const char name[] = "\"" AS_YARDSTICK_NOTE "\":";
    const char *at = v->detail ? strstr(v->detail, name) : NULL;
    double ns;
    if (!at)
        return NAN;
    at += sizeof name - 1;
    char number[40];
    size_t n = strcspn(at, ",}");
    if (n == 0 || n >= sizeof number)
        return NAN;
    memcpy(number, at, n);
    number[n] = 0;
    return !as_parse_double(number, &ns, NULL) && ns > 0 ? ns : NAN;
}

double as_yardstick_excess(const struct as_yardsticks *y, double ns)
{
    return y->n >= KNOWN_MIN ? ns / y->ns[y->n / 20] - 1 : NAN;
}

double as_yardstick_room(double precision)
{
    return fmax(ROOM, SHARE * precision);
}
