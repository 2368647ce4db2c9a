/* Readers of /proc and /sys. Missing values are 0, never invented. */
#ifndef AS_RUN_SYSTEM_FILES_H
#define AS_RUN_SYSTEM_FILES_H

#include <stddef.h>
#include <stdint.h>

/* The first line of a file without its end. 1 when there is one. */
int as_machine_line(const char *path, char *out, size_t size);
/* The value of the first line "name : value", "name=value" or "name: value", without quotes. */
int as_machine_value(const char *path, const char *name, char *out, size_t size);
uint64_t as_machine_meminfo(const char *name); /* bytes; counts come times 1024 */
int as_machine_cpus(void);                     /* that this process may use */
/* "container in a virtual machine (KVM)", "container", ...; 0 when no sign of either is seen */
int as_machine_virtualization(char *out, size_t size);

#endif
