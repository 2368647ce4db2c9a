#include "real_nvrtc.h"
#include "tests/unit_test.h"

static struct as_nvrtc_api nvrtc;

void need_nvrtc(void)
{
    struct as_error err = {0};
    if (!nvrtc.library && as_nvrtc_load(&nvrtc, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

enum as_status nvrtc_compile(const struct as_program_desc *desc, const char *arch, unsigned char **code, size_t *bytes,
                             struct as_error *err)
{
    return as_cu_compile(&nvrtc, desc, arch, code, bytes, err);
}
