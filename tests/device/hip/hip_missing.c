/* A library by the right name that is not HIP's, or no library at all: the reason says which. argv[1]: text that the
 * reason must hold. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

extern const struct as_backend as_backend_hip;

int main(int argc, char **argv)
{
    struct as_error err = {0};
    void *backend = NULL;
    enum as_status s = as_backend_hip.open(&backend, &err);
    printf("%s\n", err.text);
    return !(argc == 2 && s == AS_UNSUPPORTED && !backend && strstr(err.text, argv[1]));
}
