/* A user's program as a child process: its end, its exit status and the signals that are meant for it. */
#ifndef AS_CLI_MEMORY_PROGRAM_H
#define AS_CLI_MEMORY_PROGRAM_H

#include "base/error.h"

#include <stdbool.h>

struct memory_program {
    long id;
    bool ended;
    int status; /* as waitpid gives it */
};

/* The exit codes of shells, env and timeout for a program that cannot be started. */
enum { MEMORY_EXIT_NOT_EXECUTABLE = 126, MEMORY_EXIT_NOT_FOUND = 127 };

/* Starts argv, which ends with NULL, and passes signals on to it from here. Returns when it runs, or why it does not;
 * *code is then its exit code. One program per process. */
enum as_status as_memory_program_start(struct memory_program *p, char *const argv[], int *code, struct as_error *err);
/* Waits for at most this long; true when the program has ended. */
bool as_memory_program_wait(struct memory_program *p, double seconds);
/* Its exit status. If a signal ended it, ends this process by the same signal. */
int as_memory_program_exit(const struct memory_program *p);

#endif
