/* Prints the table of critical values in src/stats/modes.c: for each n, sqrt(n) times the dip that n uniform samples
 * exceed in 1 of 100 cases, with the error of the simulation. Seeded: every run prints the same.
 * Build and run: ninja -C build src/stats/dip-table && build/src/stats/dip-table */
#include "base/clock.h"
#include "stats/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static const size_t sizes[] = {6,  7,  8,   9,   10,  12,  15,  20,   25,   30,   40,
                                   50, 72, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000};
    const double work = 4e7; /* samples drawn for each n */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k], rounds = (size_t)fmin(200000, work / (double)n);
        double *x = malloc(n * sizeof *x), *dip = malloc(rounds * sizeof *dip);
        if (!x || !dip)
            return 1;
        struct as_rng rng;
        as_rng_seed(&rng, n);
        for (size_t r = 0; r < rounds; r++) {
            /* sorted uniform samples are sums of exponential ones: no sorting */
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                x[i] = sum -= log(1 - as_rng_double(&rng));
            dip[r] = sqrt((double)n) * as_dip(x, n);
        }
        double error = 2.6 * sqrt(0.01 * 0.99 / (double)rounds); /* of the share, 99% */
        printf("    {%zu, %.4f}, /* %.4f to %.4f */\n", n, as_quantile(dip, rounds, 0.99),
               as_quantile(dip, rounds, 0.99 - error), as_quantile(dip, rounds, 0.99 + error));
        free(x);
        free(dip);
    }
    return 0;
}
