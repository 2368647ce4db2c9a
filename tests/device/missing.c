/* A library with the right name that is not the backend's, or no library: the reason tells which. argv[1]: the backend,
 * argv[2]: text that the reason must contain. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct as_error err = {0};
    void *opened = NULL;
    const struct as_backend *backend = argc == 3 ? as_backend_find(argv[1]) : NULL;
    const enum as_status st = backend ? backend->open(&opened, &err) : AS_USAGE;
    printf("%s\n", err.text);
    return !(st == AS_UNSUPPORTED && !opened && strstr(err.text, argv[2]));
}
