/* Built-in texts: files of the repository embedded as data, listed in the meson.build beside them. */
#ifndef AS_BASE_BUILTIN_H
#define AS_BASE_BUILTIN_H

struct as_builtin_text {
    const char *name, *text;
};

#endif
