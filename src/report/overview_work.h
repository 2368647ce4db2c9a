/* Inside the overview: data kept per cell until the groups are known. */
#ifndef AS_REPORT_OVERVIEW_WORK_H
#define AS_REPORT_OVERVIEW_WORK_H

#include "report/overview.h"

/* An untrusted store may name any number of probes; further ones are only counted. */
enum { PROBES_MAX = 256, SCOPES_MAX = 512, KINDS_MAX = 1024, WORDS_MAX = 8 };

/* The word axes of a probe's first cell, of which one may tell groups apart. */
struct probe_words {
    size_t n;
    struct word_axis {
        char name[24];
        char values[WORDS_MAX][48];
        size_t n; /* WORDS_MAX + 1: too many */
    } of[AS_AXES_MAX];
};

/* The cells of a probe on a device. */
struct scope {
    size_t probe;
    char device[32];
    struct as_axes first;       /* of the first cell */
    uint64_t hash[AS_AXES_MAX]; /* of their names */
    bool varies[AS_AXES_MAX];   /* do others have another value, or none? */
};

/* And of a unit. */
struct kind {
    size_t scope;
    char unit[16];
    unsigned char group[WORDS_MAX]; /* of each word, from 1; 0: none yet */
};

struct number {
    double median, size; /* NAN: no size */
    uint64_t alike;      /* the same for cells that differ in their size only */
    int64_t handle;
    uint64_t words : 48, kind : 14, valid : 1, lower_is_better : 1;
};

struct overview_work {
    struct as_overview_probe *probes;
    struct probe_words *words; /* of each probe */
    size_t probes_n, probes_cap;
    struct scope *scopes;
    size_t scopes_n, scopes_cap, last_scope[2];
    struct kind *kinds;
    size_t kinds_n, kinds_cap;
    struct number *numbers;
    size_t numbers_n, numbers_cap;
};
#endif
