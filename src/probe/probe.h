/* The probe contract: one experiment, one const record, one folder under probes/FAMILY/.
 * Help, `assay list`, `assay explain`, option parsing, the engine and the report all read this record. */
#ifndef AS_PROBE_PROBE_H
#define AS_PROBE_PROBE_H

#include "base/clock.h"
#include "base/text.h"
#include "device/info.h"
#include "model/cell.h"

#include <string.h>

struct as_device;
struct as_kernel;

enum as_axis_type {
    AS_AXIS_SIZE,  /* bytes */
    AS_AXIS_COUNT, /* a whole number */
    AS_AXIS_WORD,  /* one of a list */
};
enum as_axis_domain {
    AS_DOMAIN_NONE,      /* sizes and counts: min..max below; words: the list */
    AS_DOMAIN_ALLOCATOR, /* the device's allocators that can be used */
    AS_DOMAIN_THREADS,   /* 1 .. the device's logical CPUs; "all" is the largest */
    AS_DOMAIN_CPU,       /* OS index of a logical CPU */
    AS_DOMAIN_NODE,      /* memory node of the host; as_host_node_values are "all" of a count; words: further values */
};
struct as_axis {
    const char *name;
    const char *help; /* one line */
    enum as_axis_type type;
    enum as_axis_domain domain;
    uint64_t min, max;        /* for sizes and counts, inclusive; max 0: no bound but memory */
    const char *def;          /* expression for a grid that does not name this axis */
    const char *const *words; /* AS_AXIS_WORD: ends with NULL; AS_DOMAIN_ALLOCATOR, _NODE: further values */
    const char *all;          /* word that "all" means where the words overlap; NULL: every one of them */
    const char *zero;         /* what the value 0 stands for where it is no number ("device"), NULL: it is one */
};
/* The usual kinds of axes. Further fields follow the help: AS_COUNT_AXIS("ilp", 0, 8, "0", "help", .zero = "most"). */
#define AS_WORD_AXIS(axis, list, usual, ...)                                                                           \
    {                                                                                                                  \
        .name = axis, .type = AS_AXIS_WORD, .words = list, .def = usual, .help = __VA_ARGS__                           \
    }
#define AS_ALLOCATOR_AXIS(axis, usual, ...)                                                                            \
    {                                                                                                                  \
        .name = axis, .type = AS_AXIS_WORD, .domain = AS_DOMAIN_ALLOCATOR, .def = usual, .help = __VA_ARGS__           \
    }
#define AS_COUNT_AXIS(axis, least, most, usual, ...)                                                                   \
    {                                                                                                                  \
        .name = axis, .type = AS_AXIS_COUNT, .min = least, .max = most, .def = usual, .help = __VA_ARGS__              \
    }
#define AS_SIZE_AXIS(axis, least, most, usual, ...)                                                                    \
    {                                                                                                                  \
        .name = axis, .type = AS_AXIS_SIZE, .min = least, .max = most, .def = usual, .help = __VA_ARGS__               \
    }

/* What a word of an axis is, where its name does not say it all. */
struct as_word {
    const char *name, *title; /* "ffma32", "fused multiply-add" */
    const char *kind;         /* words of a kind stand together: "float" */
    const char *base, *type;  /* name without the type, and the type: "ffma", "f32" */
    unsigned results;         /* per thread: two for packed pairs of 16 bits */
    const char *dialects;     /* dialects, and CPU architectures with native code, that have it */
    const char *const *more;  /* further name and text pairs; ends with NULL */
};

enum { AS_SAMPLE_NUMBERS = 3 };

/* What sample() returns: one timed repetition block. */
struct as_sample {
    double value;    /* in the probe's unit */
    double seconds;  /* it took so long */
    double clock_hz; /* true clock inside it where there is a cycle counter, else NAN */
    /* (optional) further metrics of this sample, each always at the same place. The engine notes the median over the
     * trial's counted samples: a sum that the probe keeps would include calibration samples. */
    struct as_sample_number {
        const char *name;
        double value;
    } further[AS_SAMPLE_NUMBERS];
};

/* One trial of one cell. The engine makes it; prepare fills in the rest. */
struct as_trial_context {
    struct as_device *dev;
    const struct as_axes *axes;
    uint64_t seed;   /* of this trial */
    int trial;       /* number of the trial */
    double deadline; /* as_now() time when the trial should end; long preparations check it */
    /* (optional) what the device's sensor reads at this moment, in W; NAN if it cannot. NULL: there is no sensor whose
     * readings may come at any time. */
    double (*power_now)(const struct as_trial_context *tc);
    void *sensing; /* the worker's, for power_now */
    /* filled by prepare */
    uint64_t footprint; /* bytes touched by a sample */
    bool claims_memory; /* claims to measure DRAM: the footprint gate applies; as the probe's memory_claim says */
    bool host_work;     /* a host core takes part in the timed work; true from the start if it does all of it */
    double limit;       /* physical bound in the unit, NAN none */
    char limit_why[96];
    uint64_t min_reps, max_reps; /* 1 .. 2^40 unless set; equal: no calibration */
    double sample_s;             /* target length of a sample in seconds; 0: the engine's choice */
    size_t samples;              /* exactly so many, however long they take; 0: the engine's choice */
    struct as_buf detail;        /* written by as_note */
    enum as_gate_state code;     /* set by as_expect_code, or by the engine where nothing is expected */
    char code_text[160];
};
/* For check, which had no memory to look: false, with the reason. Nothing is rejected for that. */
bool as_check_no_memory(char *why, size_t size);
/* For prepare, if the sampling thread takes part in the timed work of another device. */
void as_host_part(struct as_trial_context *tc);
/* Adds "name": "text" / number to the cell's detail. */
void as_note(struct as_trial_context *tc, const char *name, const char *text);
void as_note_number(struct as_trial_context *tc, const char *name, double value);
/* Adds counts of single events between log-spaced edges (model/bins.h), in the cell's unit. */
void as_note_bins(struct as_trial_context *tc, const double *values, size_t n);
/* For prepare: the kernel's machine code must contain at_least instructions that do `operation` (one of
 * as_operation_words). They are noted and judged if the device can count them; otherwise the code gate says why not.
 * The worst of several expectations counts. */
void as_expect_code(struct as_trial_context *tc, struct as_kernel *kernel, const char *operation, uint64_t at_least);
/* The same for a count by the probe itself. */
void as_judge_code(struct as_trial_context *tc, enum as_gate_state state, const char *text);

/* What the cells measure whose axis has this word. */
struct as_own_metric {
    const char *axis, *word;
    struct as_metric metric;
};

enum as_applies {
    AS_APPLIES,      /* a cell */
    AS_PRUNED,       /* this combination of axes makes no sense: no cell at all; err may say why */
    AS_INAPPLICABLE, /* a cell that is stored as unsupported with the reason in err */
};
/* These two with the reason in err. */
#define as_pruned(err, ...) (as_fail(err, AS_UNSUPPORTED, __VA_ARGS__), AS_PRUNED)
#define as_inapplicable(err, ...) (as_fail(err, AS_UNSUPPORTED, __VA_ARGS__), AS_INAPPLICABLE)

struct as_probe {
    const char *name;     /* "latency" */
    const char *title;    /* "Memory latency" */
    const char *question; /* one sentence ending in a question mark */
    const char *metric;   /* "latency" */
    const char *unit;     /* "ns", "GB/s", ... base units: ns, GB/s, Hz, cycles; AS_UNIT_RATE by the cell's type */
    bool lower_is_better;
    const char *counts;         /* what the number counts, in words */
    const char *const *answers; /* of AS_UNIT_ANSWER: the answers in words, from 1 on; ends with NULL */
    const struct as_own_metric
        *own_metrics;                /* (optional) of cells that measure something else; ends with a NULL axis */
    const struct as_metric *further; /* (optional) noted by trials beside the number; ends with a NULL name */
    unsigned needs;                  /* capability bits without which the probe is unsupported on a device */
    bool hidden;                     /* not listed (sentinel) */
    bool not_ahead;                  /* prepare takes long on the host: kernels are not precompiled */
    bool own_power;                  /* measures behaviour at the power limit: the clock may move */
    bool untimed;                    /* its number is no time or rate: other work does not change it, and its interval
                                        is what its samples span; of counts that is known */
    bool crosses_link;           /* its data crosses links between devices, or to the host: their counters are noted */
    bool varies_by_process;      /* worker processes differ in its numbers (driver calls, pinned memory, atomics over
                                    a link): its trials come from several, and these are the unit of the interval */
    const struct as_axis *axes;  /* ends with a NULL name */
    const struct as_word *about; /* (optional) descriptions of axis words; ends with a NULL name */
    const char *const *quick;    /* grids: "size=1KiB..4LLC op=triad,copy", devices=LIST for some; ends with NULL */
    const char *const *full;
    /* (optional) does this combination apply to this device? Called in the parent, touches no device. */
    enum as_applies (*applies)(const struct as_device_info *info, const struct as_axes *axes, struct as_error *err);
    /* (optional) does a device kernel access the cell's memory, so that the data must not migrate? */
    bool (*kernel_reaches)(const struct as_axes *axes);
    /* (optional) does the cell leave its memory untouched? Then a large one costs no more than a small one. */
    bool (*untouched)(const struct as_axes *axes);
    /* (optional) bytes touched by a cell that claims to measure DRAM; 0: no such claim. Called for cells that apply,
     * in the parent. */
    uint64_t (*memory_claim)(const struct as_device_info *info, const struct as_axes *axes);
    /* (optional) seconds that prepare and one sample may take at most, for the plan and the hang time-out: by cell, or
     * the same for all; default 5 */
    double (*patience)(const struct as_device_info *info, const struct as_axes *axes);
    double patience_s;
    /* In the worker. The state of a trial has state_bytes, which are zero before prepare. */
    size_t state_bytes;
    enum as_status (*prepare)(struct as_trial_context *tc, void *state, struct as_error *err);
    /* AS_TIMEOUT: this trial can have no further sample; it ends with those it has. */
    enum as_status (*sample)(void *state, uint64_t reps, struct as_sample *out, struct as_error *err);
    /* Compares the outcome of the last sample with an independent reference; false: *why says what differs. */
    bool (*check)(void *state, char *why, size_t why_size);
    void (*finish)(void *state); /* cleans up after prepare, also after a failed one */
};
/* Lines of a record that all probes have: what its cells are, and the functions of a trial with its state. */
#define AS_CELLS(axis_list, quick_grids, full_grids, applies_to)                                                       \
    .axes = axis_list, .quick = quick_grids, .full = full_grids, .applies = applies_to
#define AS_TRIAL(state_type, prepares, samples, checks, finishes)                                                      \
    .state_bytes = sizeof(state_type), .prepare = prepares, .sample = samples, .check = checks, .finish = finishes

/* Allocates a trial's state and prepares it. as_probe_finish takes the state also after a failure, when it may be NULL.
 */
enum as_status as_probe_prepare(const struct as_probe *probe, struct as_trial_context *tc, void **state,
                                struct as_error *err);
void as_probe_finish(const struct as_probe *probe, void *state);

/* What the cells of a probe with these axes measure. */
static inline struct as_metric as_probe_metric(const struct as_probe *probe, const struct as_axes *axes)
{
    struct as_metric metric = {.name = probe->metric,
                               .unit = probe->unit,
                               .lower_is_better = probe->lower_is_better,
                               .counts = probe->counts,
                               .answers = probe->answers};
    for (const struct as_own_metric *own = probe->own_metrics; own && own->axis; own++)
        if (strcmp(as_axes_text(axes, own->axis), own->word) == 0)
            metric = own->metric;
    metric.unit = as_axes_rate_unit(axes, metric.unit);
    return metric;
}
/* All probes of this build in the order of the report; ends with NULL. */
extern const struct as_probe *const as_probes[];
/* Do worker processes differ in the number of this cell? By its probe's record, or since a device uses memory of the
 * host that its driver pins. */
bool as_varies_by_process(const struct as_cell *cell);
/* Is its number no time or rate, by its probe's record? */
bool as_is_untimed(const struct as_cell *cell);
/* What the cell's probe measures besides; ends with a NULL name. */
const struct as_metric *as_further_metrics(const struct as_cell *cell);
extern const char *const as_probe_headings[];           /* of each: what the report groups it under */
extern const unsigned as_probe_leads[];                 /* of each: its place among the report's main curves, 0: none */
extern const char *const as_probe_methods[];            /* of each: its method.md as HTML */
extern const char *const as_probe_texts[];              /* of each: its method.md as it was written */
const struct as_probe *as_probe_find(const char *name); /* also a hidden one; NULL: none */
/* AS_FAILED naming what is wrong with the record (a missing slot, an axis without default). */
enum as_status as_probe_check(const struct as_probe *probe, struct as_error *err);
const struct as_axis *as_probe_axis(const struct as_probe *probe, const char *name); /* NULL when absent */
/* What a word of the probe's axes is; NULL when the record does not say. */
static inline const struct as_word *as_probe_word(const struct as_probe *probe, const char *name)
{
    for (const struct as_word *w = probe ? probe->about : NULL; w && w->name; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    return NULL;
}

#endif
