/* If no NVRTC library can be opened, the message has the linker's words and a remedy. This program replaces dlopen, so
 * that it behaves the same with the toolkit installed. */
#include "device/cuda/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static unsigned asked;

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int);
    void *at = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &at, sizeof real);
    if (!name || !strstr(name, "libnvrtc"))
        return real(name, flags);
    asked++;
    return real("/nowhere/libnvrtc.so.13", flags); /* fails, and dlerror reports it */
}

int main(void)
{
    struct as_nvrtc_api api;
    struct as_error err = {0};
    enum as_status st = as_nvrtc_load(&api, &err);
    printf("%u names asked for: %s\n", asked, err.text);
    return !(st == AS_UNSUPPORTED && !api.library && asked > 3 && strstr(err.text, "/nowhere/libnvrtc.so.13") &&
             strstr(err.text, "install it, or name its folder in LD_LIBRARY_PATH"));
}
