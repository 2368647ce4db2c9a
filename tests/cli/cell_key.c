/* Prints the key of each cell on stdin, one per line: probe, metric and axes as JSON, separated by tabs. */
#include "model/cell.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        struct as_axes axes = {0};
        struct as_error err = {0};
        char *save = NULL, *probe = strtok_r(line, "\t", &save), *metric = strtok_r(NULL, "\t", &save);
        char *json = strtok_r(NULL, "\n", &save);
        if (!probe || !metric || !json || as_axes_from_json(json, &axes, &err)) {
            fprintf(stderr, "cell_key: %s\n", err.text);
            return 1;
        }
        printf("%016llx\n", (unsigned long long)as_cell_key(probe, metric, &axes));
    }
    return 0;
}
