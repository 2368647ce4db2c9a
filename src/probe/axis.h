/* Values of an axis, from an expression. */
#ifndef AS_PROBE_AXIS_H
#define AS_PROBE_AXIS_H

#include "probe/probe.h"

/* Values of one axis, parsed from an expression and resolved for one device:
 *   "64KiB"  "1KiB..4LLC x2" (steps an octave; x1 unless said)  "1..16" (counts: every number; "1..16 x1": doubling)
 *   "1,2,4"  "all" (every word or allocator, as_axis.all, or 1..threads doubling)  "max"/"threads" (largest count)
 *   "largest_pages" ("huge_pages" where they can be used, else "base_pages")
 *   "pinned" (the device's allocators of this role, by the API's names; none where it has none)
 *   sizes may be in units of a cache: "L1" "0.5L2" "4LLC" (the largest on the way to memory; "LLCs": of all cores),
 *   "0.5MSC" (the memory-side cache; none where no one knows of it), or of memory: "0.25free", "DRAM" (a working set
 *   in main memory of all threads; "DRAM1": of one), "page" (a base page), "huge_page"
 * An expression is at most 256 bytes and yields at most 4096 values. Duplicates are dropped, order kept. */
struct as_axis_values {
    size_t n;
    struct as_axis_value *v; /* owned */
};
enum as_status as_axis_parse(const struct as_axis *axis, const char *expr, const struct as_device_info *info,
                             struct as_axis_values *out, struct as_error *err);
void as_axis_values_finish(struct as_axis_values *v);

#endif
