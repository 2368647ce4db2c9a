/* First touch in plain C: fault PAGES THREADS base|huge SECONDS
 * Prints the median over trials of the time per base page at first touch, minus that at second touch. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WARMUPS = 10, TRIALS_MIN = 5, TRIALS_MAX = 100000, THREADS_MAX = 64 };

static char *memory;
static long page, pages, threads;
static pthread_barrier_t ready, done;
static double start_s[THREADS_MAX], end_s[THREADS_MAX];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void touch(long me)
{
    long first = pages * me / threads, end = pages * (me + 1) / threads;
    start_s[me] = now();
    for (long i = first; i < end; i++)
        *(volatile uint64_t *)(void *)(memory + i * page) = (uint64_t)i;
    end_s[me] = now();
}

static void pin(long me)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && me-- == 0)
            CPU_SET(cpu, &one);
    if (CPU_COUNT(&one))
        sched_setaffinity(0, sizeof one, &one);
}

static void *work(void *arg)
{
    long me = *(const long *)arg;
    pin(me);
    for (;;) {
        pthread_barrier_wait(&ready);
        touch(me);
        pthread_barrier_wait(&done);
    }
    return NULL;
}

static double touch_all(void)
{
    double first, last;
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&done);
    first = start_s[0], last = end_s[0];
    for (long i = 1; i < threads; i++) {
        first = start_s[i] < first ? start_s[i] : first;
        last = end_s[i] > last ? end_s[i] : last;
    }
    return last - first;
}

static double trial(int huge)
{
    size_t bytes = (size_t)pages * (size_t)page, room = bytes + ((size_t)2 << 20);
    char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(map, room, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memory = map + (((size_t)2 << 20) - (uintptr_t)map % ((size_t)2 << 20)) % ((size_t)2 << 20);
    double took = touch_all();
    took -= touch_all();
    munmap(map, room);
    return took * 1e9 / (double)pages;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ns[TRIALS_MAX];
    static long number[THREADS_MAX];
    if (argc != 5) {
        fprintf(stderr, "usage: fault PAGES THREADS base|huge SECONDS\n");
        return 2;
    }
    page = sysconf(_SC_PAGESIZE);
    pages = atol(argv[1]);
    threads = atol(argv[2]);
    int huge = strcmp(argv[3], "huge") == 0, n = 0;
    double seconds = atof(argv[4]);
    if (pages < threads || threads < 1 || threads > THREADS_MAX)
        return 2;
    pthread_barrier_init(&ready, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        number[i] = i;
        if (pthread_create(&thread, NULL, work, &number[i]))
            return 1;
    }
    if (threads == 1)
        pin(0); /* only now, since threads inherit the affinity */
    for (int i = 0; i < WARMUPS; i++)
        trial(huge);
    double end = now() + seconds;
    while (n < TRIALS_MIN || (n < TRIALS_MAX && now() < end))
        ns[n++] = trial(huge);
    qsort(ns, (size_t)n, sizeof *ns, by_value);
    printf("%.3f\n", ns[n / 2]);
    return 0;
}
