/* Cubins: any input is counted or refused with a reason, and only existing instructions are counted.
 * cubins.py creates seeds with a real compiler. */
#include "device/cuda/cuda.h"
#include "fuzz.h"

static void check_refused(enum as_status st, const struct as_error *err)
{
    fuzz_require(err->text[0] != 0 && err->code == st, "refused without a reason");
}

static void check_kernel(const unsigned char *cubin, size_t size, const char *name)
{
    struct as_error err = {0};
    uint64_t code = 0, wide = 0;
    enum as_status st = as_cubin_code_bytes(cubin, size, name, &code, &err);
    if (st)
        check_refused(st, &err);
    else
        fuzz_require(code <= size, "more code than bytes");
    for (size_t w = 0; as_operation_words[w]; w++) {
        uint64_t n = 1;
        fuzz_require(as_cubin_count(cubin, size, name, as_operation_words[w], &n, &err) == st, "counted, or not");
        fuzz_require(st ? n == 0 : n <= code / 16, "more counted than there are");
        if (!st && strcmp(as_operation_words[w], "load.global.128") == 0)
            wide = n;
    }
    uint64_t all = 0;
    if (!st && as_cubin_count(cubin, size, name, "load.global", &all, &err) == AS_OK)
        fuzz_require(wide <= all, "more wide loads than loads");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* of its exact size, so that a read past its end is detected */
    unsigned char *cubin = malloc(size ? size : 1);
    if (!cubin)
        exit(1);
    if (size)
        memcpy(cubin, data, size);
    check_kernel(cubin, size, "k");
    check_kernel(cubin, size, "");
    check_kernel(cubin, size, "another_kernel_with_a_longer_name");
    free(cubin);
    return 0;
}
