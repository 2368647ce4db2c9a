/* Claims on runs: a lock on one byte of the store's file. */
#include "store/sql.h"

#include "base/buf.h"
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Offset of run 0, beyond every byte that SQLite locks or writes. */
static const int64_t FIRST = INT64_C(1) << 61;

/* Closing any descriptor of a file drops all POSIX locks that the process has on it, SQLite's among them. So the
 * descriptors of given-up claims stay open, for the next claim on the same file. */
struct spare {
    struct spare *next;
    int fd;
    bool writable; /* only these can be locked */
    dev_t device;
    ino_t inode;
};
static struct spare *spares;
static pthread_mutex_t spares_lock = PTHREAD_MUTEX_INITIALIZER;

static int take_spare(const struct stat *file, bool writable)
{
    int fd = -1;
    pthread_mutex_lock(&spares_lock);
    for (struct spare **at = &spares; *at && fd < 0;) {
        struct spare *s = *at;
        if (s->device == file->st_dev && s->inode == file->st_ino && s->writable == writable) {
            fd = s->fd;
            *at = s->next;
            free(s);
        } else
            at = &s->next;
    }
    pthread_mutex_unlock(&spares_lock);
    return fd;
}

static void keep_spare(int fd, bool writable)
{
    struct stat file;
    struct spare *s = malloc(sizeof *s);
    if (!s || fstat(fd, &file)) { /* the descriptor stays open all the same */
        free(s);
        return;
    }
    pthread_mutex_lock(&spares_lock);
    *s = (struct spare){.next = spares, .fd = fd, .writable = writable, .device = file.st_dev, .inode = file.st_ino};
    spares = s;
    pthread_mutex_unlock(&spares_lock);
}

void as_store_release(struct as_store *store)
{
    if (!store || store->claim_fd < 0)
        return;
    as_unlock_byte(store->claim_fd, FIRST + store->claimed);
    keep_spare(store->claim_fd, true);
    store->claim_fd = -1;
    store->claimed = 0;
}

static int claim_open(const char *path, bool writable)
{
    struct stat file;
    const int fd = stat(path, &file) == 0 ? take_spare(&file, writable) : -1;
    return fd < 0 ? as_open(path, writable ? O_RDWR : O_RDONLY, 0) : fd;
}

void as_store_settle_state(const struct as_store *store, struct as_run *run)
{
    if (run->state != AS_RUN_RUNNING)
        return;
    int fd = claim_open(store->path, true);
    const bool writable = fd >= 0;
    if (!writable)
        fd = claim_open(store->path, false);
    if (fd < 0)
        return;
    if (!as_byte_is_locked(fd, FIRST + run->id))
        run->state = AS_RUN_INTERRUPTED;
    keep_spare(fd, writable);
}

enum as_status as_store_claim(struct as_store *store, int64_t run_id, struct as_error *err)
{
    if (store->claimed == run_id)
        return AS_OK;
    as_store_release(store);
    const int fd = claim_open(store->path, true);
    if (fd < 0)
        return as_fail(err, AS_IO, "the store '%s' cannot be opened to lock run %lld: %s", store->path,
                       (long long)run_id, strerror(errno));
    const int why = as_lock_byte(fd, FIRST + run_id);
    if (why) {
        keep_spare(fd, true);
        return why == EAGAIN ? as_fail(err, AS_BUSY,
                                       "run %lld is being measured by another process; wait for its end, or end that "
                                       "process",
                                       (long long)run_id)
                             : as_fail(err, AS_IO,
                                       "the store '%s': run %lld cannot be locked (%s): give a file on a local disk "
                                       "with --store",
                                       store->path, (long long)run_id, strerror(why));
    }
    store->claim_fd = fd;
    store->claimed = run_id;
    return AS_OK;
}
