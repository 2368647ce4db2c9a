/* malloc and free in plain C: alloc BYTES SECONDS
 * Two separately timed loops over 100 chunks, without touching memory. Prints the medians of one malloc and one free in
 * ns. A second thread waits meanwhile: in a single-threaded process the C library takes no locks, which halves the time
 * of a small malloc, but a process that drives a device has several. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHUNKS = 100, WARMUPS = 10, BLOCKS_MIN = 5, BLOCKS_MAX = 100000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One reading of the clock, which each loop contains. */
static double timer_cost(void)
{
    enum { READINGS = 1000, ROUNDS = 9 };
    double best = 1;
    for (int r = 0; r < ROUNDS; r++) {
        double start = now(), end = start;
        for (int i = 0; i < READINGS; i++)
            end = now();
        best = (end - start) / READINGS < best ? (end - start) / READINGS : best;
    }
    return best;
}

static void *wait_for_end(void *unused)
{
    pause();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t second;
    static void *volatile chunk[CHUNKS];
    static double got[BLOCKS_MAX], freed[BLOCKS_MAX];
    int n = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: alloc BYTES SECONDS\n");
        return 2;
    }
    if (pthread_create(&second, NULL, wait_for_end, NULL))
        return 1;
    size_t bytes = (size_t)strtoull(argv[1], NULL, 10);
    double timer = timer_cost(), end = now() + atof(argv[2]);
    for (int i = -WARMUPS; n < BLOCKS_MIN || (n < BLOCKS_MAX && now() < end); i++) {
        double start = now();
        for (int k = 0; k < CHUNKS; k++)
            chunk[k] = malloc(bytes);
        double middle = now();
        for (int k = 0; k < CHUNKS; k++) {
            if (!chunk[k])
                return 1;
            free(chunk[k]);
        }
        double last = now();
        if (i < 0)
            continue;
        got[n] = (middle - start - timer) * 1e9 / CHUNKS;
        freed[n++] = (last - middle - timer) * 1e9 / CHUNKS;
    }
    qsort(got, (size_t)n, sizeof *got, by_value);
    qsort(freed, (size_t)n, sizeof *freed, by_value);
    printf("%.3f %.3f\n", got[n / 2], freed[n / 2]);
    return 0;
}
