/* MPI without linking it: the library of the launcher is loaded at run time. Open MPI and MPICH (and what has MPICH's
 * ABI: Intel MPI, MVAPICH, Cray MPICH) differ in handles and constants, which a table per ABI holds. Errors end the
 * process, as MPI does by default. Sizes are bytes and fit an int. */
#ifndef AS_MPI_MPI_H
#define AS_MPI_MPI_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Communicators, types and operations: pointers of Open MPI, integers of MPICH. */
typedef uintptr_t as_mpi_handle;
struct as_mpi_abi;
struct as_mpi {
    const struct as_mpi_abi *abi;
    int rank, size;
    char version[96]; /* "Open MPI v4.1.4": untrusted */
    as_mpi_handle world, byte, real, sum, max;
    void *library;
    /* the library's functions; `real` is a C double */
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    int (*comm_rank)(as_mpi_handle comm, int *rank);
    int (*comm_size)(as_mpi_handle comm, int *size);
    int (*send)(const void *data, int n, as_mpi_handle type, int to, int tag, as_mpi_handle comm);
    int (*recv)(void *data, int n, as_mpi_handle type, int from, int tag, as_mpi_handle comm, void *status);
    int (*isend)(const void *data, int n, as_mpi_handle type, int to, int tag, as_mpi_handle comm, void *request);
    int (*irecv)(void *data, int n, as_mpi_handle type, int from, int tag, as_mpi_handle comm, void *request);
    int (*wait_all)(int n, void *requests, void *statuses);
    int (*test_all)(int n, void *requests, int *done, void *statuses);
    int (*probe)(int from, int tag, as_mpi_handle comm, int *found, void *status);
    int (*broadcast)(void *data, int n, as_mpi_handle type, int root, as_mpi_handle comm);
    int (*all_reduce)(const void *in, void *out, int n, as_mpi_handle type, as_mpi_handle op, as_mpi_handle comm);
    int (*library_version)(char *text, int *length);
};
/* Loads the library named by $ASSAY_MPI, or one that fits the launcher, and starts MPI. size: processes by the
 * launcher. AS_UNSUPPORTED: none is found, it has neither ABI, or it knows of another number of processes: it is not
 * the launcher's. Once per process. */
enum as_status as_mpi_start(struct as_mpi *m, int size, struct as_error *err);
/* Calls the first of these functions without arguments that the library has: what it returns, or -1 without any. names:
 * ends with NULL; *asked: the one called, or the first. */
int as_mpi_query(const struct as_mpi *m, const char *const *names, const char **asked);
void as_mpi_end(struct as_mpi *m); /* takes one that was not started */

enum { AS_MPI_WINDOW = 64, AS_MPI_TAG = 7 };
/* Requests in a row, of the ABI's size. */
struct as_mpi_requests {
    uintptr_t v[2 * AS_MPI_WINDOW];
    int n;
};
void as_mpi_send(const struct as_mpi *m, const void *data, int n, int to);
void as_mpi_recv(const struct as_mpi *m, void *data, int n, int from);
void as_mpi_start_send(const struct as_mpi *m, const void *data, int n, int to, struct as_mpi_requests *r);
void as_mpi_start_recv(const struct as_mpi *m, void *data, int n, int from, struct as_mpi_requests *r);
void as_mpi_wait(const struct as_mpi *m, struct as_mpi_requests *r);    /* for all; r is then empty */
bool as_mpi_is_done(const struct as_mpi *m, struct as_mpi_requests *r); /* all are; r is then empty */
bool as_mpi_has_message(const struct as_mpi *m, int from);
void as_mpi_broadcast(const struct as_mpi *m, void *data, int n); /* from rank 0 */
double as_mpi_sum(const struct as_mpi *m, double v);
double as_mpi_max(const struct as_mpi *m, double v);

#endif
