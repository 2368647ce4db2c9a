/* The instructions for each operation word, by prefixes of their names. */
#include "device/hip/instructions.h"

#include <stdio.h>
#include <string.h>

/* Names with a prefix in `twice` perform the operation twice, those in `none` not at all. */
static const struct row {
    const char *word, *names, *twice, *none;
} rows[] = {
    {"load.global", "global_load_ flat_load_", "", ""},
    {"load.async", "global_load_", "", ""}, /* those that write to LDS; the others do not count them */
    {"load.global.128", "global_load_dwordx4 global_load_b128 flat_load_dwordx4 flat_load_b128", "", ""},
    {"store.global", "global_store_ flat_store_", "", ""},
    {"store.global.128", "global_store_dwordx4 global_store_b128 flat_store_dwordx4 flat_store_b128", "", ""},
    {"load.local", "ds_read ds_load", "ds_read2 ds_load_2addr", ""},
    {"store.local", "ds_write ds_store_", "ds_write2 ds_store_2addr", ""},
    {"load.const", "s_load_", "", ""}, /* includes kernel arguments */
    {"atomic.global", "global_atomic_", "", ""},
    {"atomic.generic", "flat_atomic_", "", ""},
    {"atomic.local",
     "ds_add ds_sub ds_rsub ds_inc ds_dec ds_min ds_max ds_and ds_or ds_xor ds_mskor ds_cmpst ds_pk_add ds_wrap "
     "ds_wrxchg ds_storexchg ds_condxchg",
     "", ""},
    {"swap.global", "global_atomic_cmpswap", "", ""},
    {"swap.local", "ds_cmpst", "", ""},
    {"add.f32", "v_add_f32 v_dual_add_f32 v_pk_add_f32", "v_pk_add_f32", ""},
    {"add.f64", "v_add_f64", "", ""},
    {"mul.f32", "v_mul_f32 v_dual_mul_f32 v_pk_mul_f32", "v_pk_mul_f32", ""},
    {"mul.f64", "v_mul_f64", "", ""},
    {"fma.f16", "v_pk_fma_f16 v_pk_fmac_f16", "", ""}, /* packed: two in one register, as the word implies */
    {"fma.f32",
     "v_fma_f32 v_fmac_f32 v_fmamk_f32 v_fmaak_f32 v_pk_fma_f32 v_dual_fmac_f32 v_dual_fmamk_f32 v_dual_fmaak_f32",
     "v_pk_fma_f32", ""},
    {"fma.f64", "v_fma_f64 v_fmac_f64", "", ""},
    {"matrix", "v_mfma_ v_smfmac_ v_wmma_", "", ""},
    {"clock", "s_memtime", "", ""},
    {"branch", "s_branch s_cbranch_", "", ""},
    {"barrier", "s_barrier", "", "s_barrier_wait"},
};

static const char nothing[] = "s_nop s_code_end";

/* Whether the name begins with one of the blank-separated prefixes. */
static bool begins_with(const char *name, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (strncmp(name, list, n) == 0)
            return true;
    }
    return false;
}

/* A name of its own from gfx940 on, a modifier before. */
static bool goes_to_lds(const char *instruction)
{
    static const char modifier[] = " lds";
    const size_t n = strlen(instruction), last = sizeof modifier - 1;
    return begins_with(instruction, "global_load_lds_") || (n > last && strcmp(instruction + n - last, modifier) == 0);
}

/* The second operation of a dual-issue instruction (VOPD), else NULL. */
static const char *second_of(const char *instruction)
{
    const char *divider = strstr(instruction, ":: ");
    return divider ? divider + 3 : NULL;
}

static const struct row *hip_operations_row_of(const char *word)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0)
            return &rows[i];
    return NULL;
}

bool as_amd_counts(const char *word)
{
    return strcmp(word, "any") == 0 || hip_operations_row_of(word);
}

unsigned as_amd_does(const char *instruction, const char *word)
{
    const struct row *r = hip_operations_row_of(word);
    const bool to_lds = strcmp(word, "load.async") == 0;
    unsigned n = 0;
    if (!r)
        return strcmp(word, "any") == 0 && !begins_with(instruction, nothing);
    for (const char *at = instruction; at; at = second_of(at))
        if (begins_with(at, r->names) && !begins_with(at, r->none) && goes_to_lds(at) == to_lds)
            n += begins_with(at, r->twice) ? 2 : 1;
    return n;
}

void as_amd_add_names(const char *instruction, struct as_instructions *out)
{
    static const char *const endings[] = {"_e64_dpp", "_dpp", "_sdwa", "_e64", "_e32"};
    for (const char *at = instruction; at && !begins_with(at, nothing); at = second_of(at)) {
        char name[sizeof out->list->name];
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            size_t ending = strlen(endings[i]);
            if (n > ending && strncmp(at + n - ending, endings[i], ending) == 0) {
                n -= ending;
                break;
            }
        }
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name), at);
        as_instructions_add(out, name);
    }
}
