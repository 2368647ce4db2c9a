/* Processes and threads as assay starts them. */
#ifndef AS_OS_PROCESS_H
#define AS_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file of the running program. False: unknown, or it does not fit. */
bool as_program_path(char *out, size_t size);
/* A name by which this program can be started again, also after its file was replaced where the system has such a name.
 * False: none. */
bool as_program_again(char *out, size_t size);

/* Two connected sockets that are closed on exec; 0, else -1 with errno. Packets where the system has them, in order and
 * each whole (SOCK_SEQPACKET), else a stream. */
int as_packet_pair(int pair[2]);
/* Is it one of such a pair? *stream: packets have no bounds of their own. */
bool as_packet_socket(int fd, bool *stream);

int as_unnamed_file(const char *name); /* closed on exec, gone when closed; -1 with errno */
void as_close_from(int first);         /* async-signal-safe */

/* From now on this process is killed when its parent ends. Check the parent's id after it. */
void as_end_with_parent(long parent);

/* Where the thread was that a signal's handler interrupted; by the handler's third argument. 0: unknown. */
uintptr_t as_signal_address(const void *context);
/* The machine code of a function of this program, with what pads it. False: the system's tables do not tell, but the
 * linker may. */
bool as_function_bounds(const void *function, const unsigned char **start, const unsigned char **stop);

void as_thread_name(const char *name); /* of the calling thread, at most 15 characters */
/* Involuntary context switches of the calling thread so far; 0 where the system does not count them for threads. */
uint64_t as_thread_preemptions(void);

#endif
