#include "run/others.h"

#include "run/system_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* In the order of the kernel's line: all but idle and waiting count; guests are part of user and nice. */
enum { USER, NICE, SYSTEM, IDLE, WAIT, INTERRUPT, SOFT_INTERRUPT, STOLEN, FIELDS };

double as_others_of(const char *line, double ticks, double own)
{
    double sum = 0;
    if (strncmp(line, "cpu ", 4) != 0)
        return NAN;
    line += 4;
    for (int i = 0; i < FIELDS; i++) {
        char *end;
        const unsigned long long v = strtoull(line, &end, 10);
        if (end == line)
            return i > SYSTEM ? sum / ticks - own : NAN;
        sum += i == IDLE || i == WAIT ? 0 : (double)v;
        line = end;
    }
    return sum / ticks - own;
}

static double used_by(int who)
{
    struct rusage u;
    return getrusage(who, &u) ? 0
                              : (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                                    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double as_others_seconds(void)
{
    char line[256];
    const long ticks = sysconf(_SC_CLK_TCK);
    if (ticks <= 0 || !as_machine_line("/proc/stat", line, sizeof line))
        return NAN;
    return as_others_of(line, (double)ticks, used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN));
}
