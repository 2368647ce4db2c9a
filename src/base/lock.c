#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int lock_set(int fd, int64_t at, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    int rc;
    do
        rc = fcntl(fd, F_OFD_SETLK, &range);
    while (rc && errno == EINTR);
    return rc == 0 ? 0 : errno == EACCES ? EAGAIN : errno;
}

int as_lock_byte(int fd, int64_t at)
{
    return lock_set(fd, at, F_WRLCK);
}

void as_unlock_byte(int fd, int64_t at)
{
    (void)lock_set(fd, at, F_UNLCK);
}

bool as_byte_is_locked(int fd, int64_t at)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}
