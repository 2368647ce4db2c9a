#include "sample.h"
#include "model/fields.h"
#include "summarize.h"

#include "base/text.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without memory there is no test, so failures abort. */
static void *not_null(void *p)
{
    if (!p) {
        perror("sample");
        abort();
    }
    return p;
}

static void must_add(struct as_axes *axes, const char *name, const char *text)
{
    if (as_axes_add(axes, name, text, NULL))
        abort();
}

static void add_number(struct as_axes *axes, const char *name, unsigned long long v)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", v);
    must_add(axes, name, text);
}

void sample_run(struct as_run *run, uint64_t seed)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    *run = (struct as_run){.started_at = 1.7e9 + (double)seed * 3600.125,
                           .seed = UINT64_MAX - seed,
                           .precision = 0.01,
                           .budget_s = 60,
                           .trials = 3,
                           .suite = "quick",
                           .tool_version = "0.1.0",
                           .tool_commit = "abc1234-dirty",
                           .host = "host \"<b>\" \xc3\xa9"};
    uint64_t a = as_rng_u64(&rng), b = as_rng_u64(&rng);
    snprintf(run->uuid, sizeof run->uuid, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff, (unsigned)(b >> 52), (unsigned long long)b >> 16);
    run->command = not_null(as_strdup("assay run quick --set 'size=1KiB..4LLC' \\ \t"));
    run->provenance =
        not_null(as_strdup("{\"tool\":{\"version\":\"0.1.0\"},\"load\":{\"1m\":0.1},\"cpu\":{\"cores\":2}}"));
    run->devices = not_null(as_strdup(
        "[{\"id\":\"cpu\",\"backend\":\"cpu\",\"name\":\"<script>alert(1)</script>\",\"driver\":\"Linux 6.1\","
        "\"threads\":2,\"caches\":[],\"topology\":{\"type\":\"machine\",\"children\":[]}}]"));
}

static void start_cell(struct as_cell *cell, int position, const char *probe)
{
    *cell = (struct as_cell){.index = position, .precision = position % 2 ? 0.05 : 0.01, .limit = NAN, .clock_hz = NAN};
    as_copy_text(cell->backend, sizeof cell->backend, "cpu");
    as_copy_text(cell->device, sizeof cell->device, "cpu");
    as_copy_text(cell->probe, sizeof cell->probe, probe);
    cell->sum = (struct as_summary){
        .median = NAN, .ci = {NAN, NAN}, .mad = NAN, .min = NAN, .max = NAN, .mode = {NAN, NAN}, .mode_share0 = NAN};
    cell->exponent = cell->raw_low = cell->raw_high = NAN;
}

static void start_latency(struct as_cell *cell, int i)
{
    static const char *const patterns[] = {"random", "page", "stride"};
    static const char *const allocators[] = {"malloc", "mmap", "thp", "hugetlb"};
    as_copy_text(cell->metric, sizeof cell->metric, "latency");
    as_copy_text(cell->unit, sizeof cell->unit, "ns");
    as_copy_text(cell->counts, sizeof cell->counts, "one dependent load, with what address translation costs");
    cell->lower_is_better = 1;
    add_number(&cell->axes, "size", 1024ull << i % 22);
    must_add(&cell->axes, "pattern", patterns[i / 22 % 3]);
    must_add(&cell->axes, "allocator", allocators[i / 66 % 4]);
    add_number(&cell->axes, "stride", 64ull * (1 + (unsigned)i / 264));
}

static void start_bandwidth(struct as_cell *cell, int i)
{
    static const char *const ops[] = {"read", "write", "copy", "triad"};
    as_copy_text(cell->metric, sizeof cell->metric, "bandwidth");
    as_copy_text(cell->unit, sizeof cell->unit, "GB/s");
    as_copy_text(cell->counts, sizeof cell->counts, "bytes read + bytes written, write-allocate not counted");
    add_number(&cell->axes, "size", 1024ull << i % 22);
    must_add(&cell->axes, "op", ops[i / 22 % 4]);
    add_number(&cell->axes, "threads", 1 + (unsigned)i / 88);
}

void sample_cell(struct as_cell *cell, int position)
{
    start_cell(cell, position, position % 2 ? "bandwidth" : "latency");
    (position % 2 ? start_bandwidth : start_latency)(cell, position / 2);
    cell->key = as_cell_key(cell->probe, cell->metric, &cell->axes);
}

void sample_sentinel(struct as_cell *cell, int position)
{
    start_cell(cell, position, "sentinel");
    as_copy_text(cell->metric, sizeof cell->metric, "time");
    as_copy_text(cell->unit, sizeof cell->unit, "ns");
    must_add(&cell->axes, "what", position % 2 ? "core" : "memory");
    cell->lower_is_better = 1;
    cell->key = as_cell_key(cell->probe, cell->metric, &cell->axes);
}

void sample_trial(struct as_trial *v, const struct as_cell *cell, size_t n, struct as_rng *rng)
{
    double level = 1 + as_axes_number(&cell->axes, "size") / 1e5;
    if (!isfinite(level))
        level = 5;
    *v = (struct as_trial){.cell_id = cell->id,
                           .number = cell->trials_done,
                           .started_at = 1.7e9 + cell->index + 1000.0 * cell->trials_done + as_rng_double(rng),
                           .prepare_s = 0.001,
                           .duration_s = 0.1 + as_rng_double(rng),
                           .n = n,
                           .warmup = 2,
                           .reps = 1u << 20,
                           .sample_s = 0.002,
                           .clock_hz = 3.4e9,
                           .clock_lo = 3.39e9,
                           .clock_hi = 3.41e9,
                           .checksum = AS_GATE_PASS,
                           .status = AS_CELL_OK,
                           .worker = 4711,
                           .limit = NAN,
                           .footprint = as_axes_u64(&cell->axes, "size")};
    v->samples = not_null(malloc(n ? n * sizeof *v->samples : 1));
    for (size_t i = 0; i < n; i++)
        v->samples[i] = level * (1 + 0.01 * as_rng_double(rng));
    as_copy_text(v->checksum_text, sizeof v->checksum_text, "sum as expected");
    as_readings_clear(&v->readings);
    if (v->number % 2 == 0) {
        v->code = AS_GATE_PASS;
        as_copy_text(v->code_text, sizeof v->code_text, "64 load.global in the machine code, at least 64 wanted");
        as_copy_text(v->readings.sensor, sizeof v->readings.sensor, "nvml");
        v->readings.throttle = v->number == 0 ? (int)(AS_THROTTLE_POWER_CAP | AS_THROTTLE_IDLE) : 0;
        for (size_t i = 0; i + 3 < as_readings_fields.n; i++) /* some stay unknown */
            if (as_readings_fields.v[i].kind == AS_FIELD_REAL)
                *(double *)(void *)((char *)&v->readings + as_readings_fields.v[i].offset) = 1 + (double)(i - 2) / 3;
    }
    v->detail = not_null(as_strdup("{\"variant\":\"avx512 </script>\",\"page_size\":4096,\"share\":0.1}"));
}

void sample_measured(struct as_cell *cell, const struct as_trial *trials, size_t n)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        total += trials[i].excluded || trials[i].status != AS_CELL_OK ? 0 : trials[i].n;
    double *x = not_null(malloc((total + 1) * sizeof *x));
    int *trial = not_null(malloc((total + 1) * sizeof *trial));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < trials[i].n && !trials[i].excluded && trials[i].status == AS_CELL_OK; k++) {
            trial[at] = trials[i].number;
            x[at++] = trials[i].samples[k];
        }
    if (total && !summarize(x, trial, total, &cell->sum))
        abort();
    free(x);
    free(trial);
    cell->status = total ? AS_CELL_OK : AS_CELL_FAILED;
    cell->trials_done = n ? trials[n - 1].number + 1 : 0;
    cell->started_at = n ? trials[0].started_at : 0;
    cell->duration_s = 0;
    for (size_t i = 0; i < n; i++)
        cell->duration_s += trials[i].duration_s;
    cell->clock_hz = 3.4e9;
    cell->footprint = as_axes_u64(&cell->axes, "size");
    for (int g = 0; g < AS_GATE_N; g++) {
        cell->gates[g].state = g == AS_GATE_CODE ? AS_GATE_NA : AS_GATE_PASS;
        snprintf(cell->gates[g].text, sizeof cell->gates[g].text, "the %s gate looked at %zu samples",
                 as_gate_name((enum as_gate)g), total);
    }
    free(cell->detail);
    cell->detail = n ? as_strdup(trials[n - 1].detail) : NULL;
}

void sample_folder(char out[64])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(out, 64, "%.40s/assay-store-XXXXXX", tmp && tmp[0] && strlen(tmp) < 40 ? tmp : "/tmp");
    not_null(mkdtemp(out));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void sample_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
