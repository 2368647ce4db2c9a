#include "device/cuda/cache.h"

#include "base/buf.h"
#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In front of the cubin. The numbers are of the machine that wrote them: a cache does not travel. */
struct header {
    char magic[8];
    uint64_t key, bytes, hash;
};
static const char magic[8] = "assay01";

enum { FILES_MAX = 2048, CUBIN_MAX = 16 << 20 };

/* "$XDG_CACHE_HOME/assay" or "~/.cache/assay", made where it is not there; "" without a home. */
static void folder(struct as_buf *out)
{
    const char *off = getenv("ASSAY_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (off && strcmp(off, "off") == 0)
        return;
    if (cache && cache[0] == '/')
        as_buf_str(out, cache);
    else if (home && home[0] == '/')
        as_buf_printf(out, "%s/.cache", home);
    else
        return;
    (void)mkdir(as_buf_get(out), 0700);
    as_buf_str(out, "/assay");
    (void)mkdir(as_buf_get(out), 0700);
}

static bool path_of(uint64_t key, struct as_buf *out)
{
    folder(out);
    if (!out->len || out->failed)
        return false;
    as_buf_printf(out, "/%016llx.cubin", (unsigned long long)key);
    return !out->failed;
}

static bool read_whole(FILE *f, uint64_t key, unsigned char **cubin, size_t *bytes)
{
    struct header h;
    if (fread(&h, sizeof h, 1, f) != 1 || memcmp(h.magic, magic, sizeof magic) != 0 || h.key != key || h.bytes == 0 ||
        h.bytes > CUBIN_MAX)
        return false;
    unsigned char *p = malloc(h.bytes);
    if (!p || fread(p, 1, h.bytes, f) != h.bytes || as_hash(p, h.bytes) != h.hash) {
        free(p);
        return false;
    }
    *cubin = p;
    *bytes = h.bytes;
    return true;
}

bool as_cu_cache_get(uint64_t key, unsigned char **cubin, size_t *bytes)
{
    struct as_buf path = AS_BUF_INIT;
    bool got = false;
    FILE *f = path_of(key, &path) ? fopen(as_buf_get(&path), "rbe") : NULL;
    if (f) {
        got = read_whole(f, key, cubin, bytes);
        fclose(f);
    }
    as_buf_finish(&path);
    return got;
}

/* Compiling anew is cheap: a cache that has grown too large is emptied. */
static void bound(void)
{
    struct as_buf path = AS_BUF_INIT;
    folder(&path);
    DIR *d = path.len ? opendir(as_buf_get(&path)) : NULL;
    size_t n = 0;
    if (d) {
        while (readdir(d))
            n++;
        rewinddir(d);
        for (struct dirent *e; n > FILES_MAX && (e = readdir(d));)
            if (strstr(e->d_name, ".cubin"))
                (void)unlinkat(dirfd(d), e->d_name, 0);
        closedir(d);
    }
    as_buf_finish(&path);
}

static bool write_whole(FILE *f, const struct header *h, const unsigned char *cubin)
{
    bool good = fwrite(h, sizeof *h, 1, f) == 1 && fwrite(cubin, 1, h->bytes, f) == h->bytes;
    return fclose(f) == 0 && good;
}

void as_cu_cache_put(uint64_t key, const unsigned char *cubin, size_t bytes)
{
    struct as_buf path = AS_BUF_INIT, temporary = AS_BUF_INIT;
    struct header h = {.key = key, .bytes = bytes, .hash = as_hash(cubin, bytes)};
    memcpy(h.magic, magic, sizeof magic);
    if (bytes && bytes <= CUBIN_MAX && path_of(key, &path)) {
        bound();
        as_buf_printf(&temporary, "%s.%ld", as_buf_get(&path), (long)getpid());
        FILE *f = fopen(as_buf_get(&temporary), "wbxe");
        if (f && (!write_whole(f, &h, cubin) || rename(as_buf_get(&temporary), as_buf_get(&path))))
            (void)unlink(as_buf_get(&temporary));
    }
    as_buf_finish(&path);
    as_buf_finish(&temporary);
}
