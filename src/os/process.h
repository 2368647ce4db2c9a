/* Processes and threads started by assay. */
#ifndef AS_OS_PROCESS_H
#define AS_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of the running program. False: unknown or too long. */
bool as_program_path(char *out, size_t size);
/* A name by which this program can be started again, if possible even after its file was replaced.
 * False if there is none. */
bool as_program_again(char *out, size_t size);

/* Two connected close-on-exec sockets; 0, or -1 with errno. Ordered, whole packets (SOCK_SEQPACKET) if the system has
 * them, else a stream. */
int as_packet_pair(int pair[2]);
/* Whether fd is one of such a pair. *stream: it does not preserve packet boundaries. */
bool as_packet_socket(int fd, bool *stream);

int as_unnamed_file(const char *name); /* close-on-exec, deleted when closed; -1 with errno */
void as_close_from(int first);         /* async-signal-safe */

/* Has this process killed when its parent ends. Check the parent's id afterwards. */
void as_end_with_parent(long parent);

/* The interrupted address, from the third argument of a signal handler. 0: unknown. */
uintptr_t as_signal_address(const void *context);
/* Bounds of a function's machine code with padding. False: the system's tables lack them, but the
 * linker may provide them. */
bool as_function_bounds(const void *function, const unsigned char **start, const unsigned char **stop);

void as_thread_name(const char *name); /* of the calling thread, at most 15 characters */
/* Involuntary context switches of the calling thread so far; 0 if not counted per thread. */
uint64_t as_thread_preemptions(void);
/* Seconds that the calling thread was on a CPU; NAN unknown. */
double as_thread_cpu_s(void);

#endif
