#include "mpi/mpi.h"
#include "base/library.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION_MAX = 8192, THREAD_SINGLE = 0 };

/* A handle is the address of a symbol, or a constant where that is NULL. */
struct handle {
    const char *symbol;
    as_mpi_handle constant;
};
struct as_mpi_abi {
    const char *version_words[4]; /* words of the library's version */
    struct handle world, byte, real, sum, max;
    size_t request_size;
    uintptr_t status_ignore;
};
static const struct as_mpi_abi abis[] = {
    {{"Open MPI"},
     {"ompi_mpi_comm_world", 0},
     {"ompi_mpi_byte", 0},
     {"ompi_mpi_double", 0},
     {"ompi_mpi_op_sum", 0},
     {"ompi_mpi_op_max", 0},
     sizeof(void *),
     0},
    {{"MPICH", "Intel(R) MPI", "MVAPICH"},
     {NULL, 0x44000000},
     {NULL, 0x4c00010d},
     {NULL, 0x4c00080b},
     {NULL, 0x58000003},
     {NULL, 0x58000001},
     sizeof(int),
     1},
};

/* By the variable that the launcher of each sets. */
static const struct family {
    const char *variable;
    const char *names[5];
} families[] = {
    {"OMPI_COMM_WORLD_SIZE", {"libmpi.so.40", "libmpi.so.20", "libmpi.so", "libmpi.40.dylib"}},
    {"PMI_RANK", {"libmpich.so.12", "libmpi.so.12", "libmpi_cray.so.12", "libmpi.12.dylib"}},
    {NULL, {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"}},
};

static void *mpi_open(const char **found, char *why, size_t size)
{
    const char *given = getenv("ASSAY_MPI");
    const struct family *f = families;
    size_t n = 0;
    if (given && given[0])
        return as_library_open_global(&given, 1, found, why, size);
    while (f->variable && !getenv(f->variable))
        f++;
    while (n < sizeof f->names / sizeof *f->names && f->names[n])
        n++;
    return as_library_open_global(f->names, n, found, why, size);
}

static as_mpi_handle handle_of(void *library, const struct handle *h, const char **missing)
{
    void *address = NULL;
    if (h->symbol)
        as_library_function(library, h->symbol, (void *)&address, missing);
    return h->symbol ? (as_mpi_handle)address : h->constant;
}

static bool is_of_abi(const struct as_mpi_abi *abi, const char *version)
{
    for (size_t i = 0; i < sizeof abi->version_words / sizeof *abi->version_words && abi->version_words[i]; i++)
        if (strstr(version, abi->version_words[i]))
            return true;
    return false;
}

/* The version may be asked for before MPI is started. */
static enum as_status find_abi(void *library, const char *found, struct as_mpi *m, struct as_error *err)
{
    char *version = calloc(1, VERSION_MAX);
    int length = 0;
    if (!version)
        return as_nomem(err, VERSION_MAX, "a version");
    as_library_function(library, "MPI_Get_library_version", (void *)&m->library_version, NULL);
    if (m->library_version && m->library_version(version, &length) == 0)
        version[strcspn(version, ",\n")] = 0;
    as_copy_clean(m->version, sizeof m->version, version);
    free(version);
    for (char *tab = m->version; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    for (size_t i = 0; i < sizeof abis / sizeof *abis && !m->abi; i++)
        m->abi = is_of_abi(&abis[i], m->version) ? &abis[i] : NULL;
    return m->abi ? AS_OK
                  : as_fail(err, AS_UNSUPPORTED, "'%s' (%s) has the ABI of neither Open MPI nor MPICH", found,
                            m->version[0] ? m->version : "version unknown");
}

static void find_all(void *library, struct as_mpi *m, const char **missing)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"MPI_Init_thread", (void *)&m->init_thread},
        {"MPI_Finalize", (void *)&m->finalize},
        {"MPI_Comm_rank", (void *)&m->comm_rank},
        {"MPI_Comm_size", (void *)&m->comm_size},
        {"MPI_Send", (void *)&m->send},
        {"MPI_Recv", (void *)&m->recv},
        {"MPI_Isend", (void *)&m->isend},
        {"MPI_Irecv", (void *)&m->irecv},
        {"MPI_Waitall", (void *)&m->wait_all},
        {"MPI_Testall", (void *)&m->test_all},
        {"MPI_Iprobe", (void *)&m->probe},
        {"MPI_Bcast", (void *)&m->broadcast},
        {"MPI_Allreduce", (void *)&m->all_reduce},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        as_library_function(library, functions[i].name, functions[i].function, missing);
    m->world = handle_of(library, &m->abi->world, missing);
    m->byte = handle_of(library, &m->abi->byte, missing);
    m->real = handle_of(library, &m->abi->real, missing);
    m->sum = handle_of(library, &m->abi->sum, missing);
    m->max = handle_of(library, &m->abi->max, missing);
}

static enum as_status mpi_init(struct as_mpi *m, const char *found, int size, struct as_error *err)
{
    int provided = 0;
    if (m->init_thread(NULL, NULL, THREAD_SINGLE, &provided) || m->comm_rank(m->world, &m->rank) ||
        m->comm_size(m->world, &m->size))
        return as_fail(err, AS_FAILED, "MPI_Init_thread, MPI_Comm_rank or MPI_Comm_size of '%s' failed", found);
    if (m->size == size)
        return AS_OK;
    return as_fail(
        err, AS_UNSUPPORTED,
        "'%s' (%s) reports %d process%s, but the launcher started %d: the library does not match the launcher; "
        "set ASSAY_MPI to the launcher's library, or with srun try --mpi=pmix or --mpi=pmi2",
        found, m->version, m->size, m->size == 1 ? "" : "es", size);
}

enum as_status as_mpi_start(struct as_mpi *m, int size, struct as_error *err)
{
    const char *found = "", *missing = NULL;
    char why[256] = "";
    *m = (struct as_mpi){.size = 0};
    void *library = mpi_open(&found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "cannot find an MPI library: %s; set ASSAY_MPI to its path", why);
    const enum as_status st = find_abi(library, found, m, err);
    if (st)
        return st;
    m->library = library;
    find_all(library, m, &missing);
    if (missing)
        return as_fail(err, AS_UNSUPPORTED, "'%s' does not export %s", found, missing);
    return mpi_init(m, found, size, err);
}

int as_mpi_query(const struct as_mpi *m, const char *const *names, const char **asked)
{
    int (*query)(void) = NULL;
    for (*asked = names[0]; *names && !query; names++) {
        as_library_function(m->library, *names, (void *)&query, NULL);
        *asked = query ? *names : *asked;
    }
    return query ? query() : -1;
}

void as_mpi_end(struct as_mpi *m)
{
    if (m->size)
        (void)m->finalize();
    m->size = 0;
}

static void *no_status(const struct as_mpi *m)
{
    return (void *)m->abi->status_ignore; /* NOLINT(performance-no-int-to-ptr) */
}

void as_mpi_send(const struct as_mpi *m, const void *data, int n, int to)
{
    (void)m->send(data, n, m->byte, to, AS_MPI_TAG, m->world);
}

void as_mpi_recv(const struct as_mpi *m, void *data, int n, int from)
{
    (void)m->recv(data, n, m->byte, from, AS_MPI_TAG, m->world, no_status(m));
}

static void *next_request(const struct as_mpi *m, struct as_mpi_requests *r)
{
    return (char *)r->v + (size_t)r->n++ * m->abi->request_size;
}

void as_mpi_start_send(const struct as_mpi *m, const void *data, int n, int to, struct as_mpi_requests *r)
{
    (void)m->isend(data, n, m->byte, to, AS_MPI_TAG, m->world, next_request(m, r));
}

void as_mpi_start_recv(const struct as_mpi *m, void *data, int n, int from, struct as_mpi_requests *r)
{
    (void)m->irecv(data, n, m->byte, from, AS_MPI_TAG, m->world, next_request(m, r));
}

void as_mpi_wait(const struct as_mpi *m, struct as_mpi_requests *r)
{
    (void)m->wait_all(r->n, r->v, no_status(m));
    r->n = 0;
}

bool as_mpi_is_done(const struct as_mpi *m, struct as_mpi_requests *r)
{
    int done = 0;
    (void)m->test_all(r->n, r->v, &done, no_status(m));
    r->n = done ? 0 : r->n;
    return done != 0;
}

bool as_mpi_has_message(const struct as_mpi *m, int from)
{
    int found = 0;
    (void)m->probe(from, AS_MPI_TAG, m->world, &found, no_status(m));
    return found != 0;
}

void as_mpi_broadcast(const struct as_mpi *m, void *data, int n)
{
    (void)m->broadcast(data, n, m->byte, 0, m->world);
}

double as_mpi_sum(const struct as_mpi *m, double v)
{
    double all = v;
    (void)m->all_reduce(&v, &all, 1, m->real, m->sum, m->world);
    return all;
}

double as_mpi_max(const struct as_mpi *m, double v)
{
    double most = v;
    (void)m->all_reduce(&v, &most, 1, m->real, m->max, m->world);
    return most;
}
