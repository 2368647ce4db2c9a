/* Displacement in plain C: displace SIZE TOUCHED PASS SECONDS
 * Two threads on two CPUs. Prints the median over blocks of a ratio: the time of pass PASS over SIZE bytes after the
 * other thread read TOUCHED bytes, to the time after it repeatedly read one page for as long. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, BLOCKS_MAX = 100000, WARM = 3 };

enum { REST, TOUCH, STAY };
static atomic_int go, stop;
static double waited; /* duration of the last touch, and of the next control */
static char *other;
static size_t touched;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pin(int which)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && which-- == 0)
            CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void pass_over(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += LINE)
        (void)*(volatile const uint64_t *)(const void *)(p + i);
}

static void *touch(void *unused)
{
    pin(1);
    while (!atomic_load(&stop)) {
        const int what = atomic_load(&go);
        const double from = now();
        if (what == TOUCH)
            pass_over(other, touched);
        while (what == STAY && now() < from + waited)
            pass_over(other, PAGE);
        if (what == REST)
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
        else
            atomic_store(&go, REST);
    }
    return unused;
}

static char *memory(size_t bytes)
{
    size_t room = (bytes + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
    char *p = aligned_alloc(HUGE_PAGE, room);
    if (!p)
        exit(1);
    madvise(p, room, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes; i += LINE)
        p[i] = (char)i;
    return p;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    size_t size = strtoull(argv[1], NULL, 10), n = 0;
    touched = strtoull(argv[2], NULL, 10);
    long pass = strtol(argv[3], NULL, 10);
    double end = now() + strtod(argv[4], NULL);
    static double ratio[BLOCKS_MAX];
    char *own = memory(size);
    pthread_t thread;
    other = memory(touched < PAGE ? PAGE : touched);
    pin(0);
    if (pthread_create(&thread, NULL, touch, NULL))
        return 1;
    for (; n < BLOCKS_MAX && now() < end; n++) {
        double took[2] = {1, 1};
        for (int k = 0; k < 2; k++) {
            int arm = (k + (int)(n & 1)) & 1; /* the arms alternate in order */
            for (int i = 0; i < WARM; i++)
                pass_over(own, size);
            double from = now();
            atomic_store(&go, arm ? TOUCH : STAY);
            while (atomic_load(&go) != REST) {
            }
            waited = arm ? now() - from : waited;
            for (long i = 0; i < pass; i++) {
                from = now();
                pass_over(own, size);
                took[arm] = now() - from;
            }
        }
        ratio[n] = took[1] / took[0];
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    qsort(ratio, n, sizeof *ratio, compare);
    printf("%.6f %zu\n", ratio[n / 2], n);
    return 0;
}
