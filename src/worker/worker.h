/* The measuring process: the same program, started by the parent. */
#ifndef AS_WORKER_WORKER_H
#define AS_WORKER_WORKER_H

#include "base/error.h"

/* The worker's main loop, for `assay --worker FD PARENT`, until the parent closes the socket. AS_USAGE: fd is no socket
 * for messages; AS_FAILED: the parent is gone before it begins. */
enum as_status as_worker_main(int fd, long parent, struct as_error *err);

#endif
