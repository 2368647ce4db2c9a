#include "matrix.h"

#include "cores.h"
#include "layout.h"
#include "lib/checks/checks.h"

#include <string.h>

const struct as_matrix *as_matrix_find(const char *name)
{
    for (size_t i = 0; i < as_matrices_n; i++)
        if (strcmp(as_matrices[i].name, name) == 0)
            return &as_matrices[i];
    return NULL;
}

bool as_matrix_columns(const struct as_matrix *m, unsigned n)
{
    if (n == 0 || n == m->n)
        return true;
    return m->columns && n < m->n && (n % m->columns == 0 || n == 8 || n == 24);
}

/* Does the architecture match one of these prefixes? "sm_90" is not one of "sm_9". */
static bool matrix_is_one_of(const char *arch, const char *list)
{
    size_t n = 0;
    for (const char *at = list; at && *at; at += n + strspn(at + n, " ")) {
        n = strcspn(at, " ");
        if (strncmp(arch, at, n) == 0 && !(arch[n] >= '0' && arch[n] <= '9'))
            return true;
    }
    return !list;
}

/* Dialects with instructions, and the prefix of their architectures: "sm_80". */
static const struct {
    enum as_dialect dialect;
    const char *arch;
} vendors[] = {{AS_DIALECT_CUDA, "sm_"}, {AS_DIALECT_HIP, "gfx"}, {AS_DIALECT_METAL, "apple"}};
enum { VENDORS = sizeof vendors / sizeof *vendors };

static const char *arch_word(enum as_dialect dialect)
{
    for (size_t i = 0; i < VENDORS; i++)
        if (vendors[i].dialect == dialect)
            return vendors[i].arch;
    return NULL;
}

/* Language matrices: did this system's compiler build a kernel with them? */
static bool builds(const struct as_matrix *m, const struct as_device_info *info)
{
    return (info->capabilities & m->needs) == m->needs;
}

/* A dialect has only its vendor's instructions. For devices without any, one cell reports it. */
enum as_applies as_matrix_applies(const struct as_matrix *m, const struct as_device_info *info, struct as_error *err)
{
    enum as_dialect dialect = as_dialect_find(info->dialect);
    if (as_info_only_host_kernels(info))
        return as_core_applies(m, info, err);
    const char *word = arch_word(dialect);
    if (!word) {
        as_fail(err, AS_UNSUPPORTED, "this device's dialect has no matrix instructions");
        return m == as_matrices ? AS_INAPPLICABLE : AS_PRUNED;
    }
    if (dialect != m->dialect)
        return as_pruned(err, "this device's dialect has no %s", m->name);
    if (m->least && (strncmp(info->arch, word, strlen(word)) != 0 || as_arch_number(info) < m->least))
        return as_inapplicable(err, "%s needs an architecture from %s%u on, this is %s", m->name, word, m->least,
                               info->arch[0] ? info->arch : "unknown");
    if (!builds(m, info))
        return as_inapplicable(err, "this system's compiler cannot build a kernel with %s", m->name);
    if (!matrix_is_one_of(info->arch, m->only))
        return as_inapplicable(err, "only %s has %s, this is %s", m->only, m->name, info->arch);
    return AS_APPLIES;
}

bool as_matrix_emulated(const struct as_matrix *m, const char *arch)
{
    return m->emulated && matrix_is_one_of(arch, m->emulated);
}

double as_matrix_documented(const struct as_matrix *m, const char *arch)
{
    unsigned a = 0, b = 0;
    for (const struct as_matrix_rate *r = as_matrix_rates; r->arch; r++) {
        if (!matrix_is_one_of(arch, r->arch))
            continue;
        a = strcmp(r->format, m->a) == 0 ? r->rate : a;
        b = strcmp(r->format, m->b) == 0 ? r->rate : b;
    }
    return (m->sparse ? 2.0 : 1.0) * (a < b ? a : b);
}

const struct as_number_format *as_matrix_format(const struct as_matrix *m, enum as_matrix_operand which)
{
    const char *const words[] = {m->a, m->b, m->c};
    return as_number_format(words[which]);
}

unsigned as_matrix_registers(const struct as_matrix *m, enum as_matrix_operand which, unsigned n)
{
    const struct as_matrix_held *held = &m->held[which];
    if (held->held == AS_HELD_SHARED)
        return 1;
    return which == AS_MATRIX_C ? held->registers * n / m->n : held->registers;
}

/* ---- text ---- */

static const char letters[] = "abc";

/* Assembly constraint and C type of an operand register. */
struct kind {
    const char *constraint, *type;
};
static struct kind matrix_kind_of(const struct as_matrix *m, enum as_matrix_operand which)
{
    const struct as_matrix_held *held = &m->held[which];
    if (held->held == AS_HELD_SHARED)
        return (struct kind){"l", "u64"};
    if (held->register_bits == 64 && strcmp(as_matrix_format(m, which)->word, "f64") == 0)
        return (struct kind){"d", "f64"};
    if ((which == AS_MATRIX_C || m->dialect == AS_DIALECT_METAL) &&
        strcmp(as_matrix_format(m, which)->word, "f32") == 0)
        return (struct kind){"f", "f32"};
    return (struct kind){"r", "u32"};
}

/* "+f"(c.w[0]), "+f"(c.w[1]), ... */
static void add_operands(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, const char *how,
                         char variable, struct as_buf *out)
{
    for (unsigned i = 0; i < as_matrix_registers(m, which, n); i++)
        as_buf_printf(out, "%s\"%s%s\"((%c).w[%u])", i ? ", " : "", how, matrix_kind_of(m, which).constraint, variable,
                      i);
}

/* {%4, %5} */
static void add_registers(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, unsigned first,
                          struct as_buf *out)
{
    if (m->held[which].held == AS_HELD_SHARED) {
        as_buf_printf(out, "%%%u", first);
        return;
    }
    for (unsigned i = 0; i < as_matrix_registers(m, which, n); i++)
        as_buf_printf(out, "%s%%%u", i ? ", " : "{", first + i);
    as_buf_char(out, '}');
}

static void add_multiply_cuda(const struct as_matrix *m, unsigned n, struct as_buf *out)
{
    unsigned first[AS_MATRIX_OPERANDS], next = 0;
    static const enum as_matrix_operand order[] = {AS_MATRIX_C, AS_MATRIX_A, AS_MATRIX_B};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        first[order[i]] = next;
        next += as_matrix_registers(m, order[i], n);
    }
    as_buf_str(out, "#define MULTIPLY(c, a, b) asm volatile(\"");
    for (const char *at = m->text; *at; at++) {
        const char *operand = *at == '$' ? strchr(letters, at[1]) : NULL;
        if (*at != '$')
            as_buf_char(out, *at);
        else if (operand)
            add_registers(m, (enum as_matrix_operand)(operand - letters), n, first[operand - letters], out);
        else if (at[1] == 'n')
            as_buf_printf(out, "%u", n);
        else
            as_buf_printf(out, "%%%u", next);
        at += *at == '$';
    }
    as_buf_str(out, "\" : ");
    add_operands(m, AS_MATRIX_C, n, "+", 'c', out);
    as_buf_str(out, " : ");
    add_operands(m, AS_MATRIX_A, n, "", 'a', out);
    as_buf_str(out, ", ");
    add_operands(m, AS_MATRIX_B, n, "", 'b', out);
    as_buf_str(out, m->sparse ? ", \"r\"(PLACES))\n" : ")\n");
    as_buf_str(out, "#define HOLD(c) asm volatile(\"\" : ");
    add_operands(m, AS_MATRIX_C, n, "+", 'c', out);
    as_buf_str(out, " :: \"memory\")\n");
}

static void add_multiply_hip(const struct as_matrix *m, struct as_buf *out)
{
    as_buf_str(out, "#define MULTIPLY(c, a, b) ((c).v = ");
    for (const char *at = m->text; *at; at++) {
        if (*at == '$')
            as_buf_printf(out, "(%c).v", *++at);
        else
            as_buf_char(out, *at);
    }
    as_buf_str(out, ")\n#define HOLD(c) (void)(c)\n");
}

/* Are fragments matrices of the language? */
static void add_multiply_metal(const struct as_matrix *m, struct as_buf *out)
{
    as_buf_printf(out, "#define TENSOR_UNIT %d\n#define IN_MEMORY %d\n#define MULTIPLY(c, a, b) ",
                  (m->needs & AS_CAP_TENSOR_FRAGMENTS) != 0, (m->needs & AS_CAP_TENSOR_FP8) != 0);
    for (const char *at = m->text; *at; at++) {
        if (*at == '$')
            as_buf_printf(out, "(%c).m", *++at);
        else
            as_buf_char(out, *at);
    }
    as_buf_str(out, "\n#define HOLD(c) (void)(c)\n");
}

/* "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, ...}, [%8], 16;" */
static void add_loading(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, bool store,
                        struct as_buf *out)
{
    unsigned count = as_matrix_registers(m, which, n);
    bool b = which == AS_MATRIX_B;
    as_buf_printf(out, "#define %s_%c(f, at) asm volatile(\"", store ? "KEEP" : "TAKE", "ABC"[which]);
    for (const char *at = store ? m->store : m->load; *at; at++) {
        if (*at != '$') {
            as_buf_char(out, *at);
            continue;
        }
        switch (*++at) {
        case 'w':
            as_buf_char(out, letters[which]);
            break;
        case 'o':
            as_buf_str(out, b ? "col" : "row");
            break;
        case 't':
            as_buf_str(out, as_matrix_format(m, which)->word);
            break;
        case 'p':
            as_buf_printf(out, "%%%u", count);
            break;
        case 's':
            as_buf_printf(out, "%u", which == AS_MATRIX_C ? n : m->k);
            break;
        default:
            add_registers(m, which, n, 0, out);
        }
    }
    as_buf_str(out, store ? "\" :: " : "\" : ");
    add_operands(m, which, n, store ? "" : "=", 'f', out);
    as_buf_str(out, store ? ", \"l\"(at) : \"memory\")\n" : " : \"l\"(at) : \"memory\")\n");
}

/* Consecutive bits of lane and register are combined: "((l) >> 2 & 7u) << 0 | ((r) >> 0 & 1u) << 3".
 */
static void matrix_add_line(const struct as_layout_line *line, struct as_buf *out)
{
    unsigned count;
    for (unsigned i = 0; i < line->n; i += count) {
        const char kind = line->bit[i].kind;
        for (count = 1; i + count < line->n && line->bit[i + count].kind == kind &&
                        line->bit[i + count].bit == line->bit[i].bit + count;)
            count++;
        if (kind == 'l' || kind == 'r')
            as_buf_printf(out, " | ((%c) >> %u & %uu) << %u", kind, line->bit[i].bit, (1u << count) - 1, i);
    }
}

static void add_places(const struct as_matrix *m, enum as_matrix_operand which, struct as_buf *out)
{
    struct as_layout layout;
    if (m->held[which].held != AS_HELD_REGISTERS || !as_layout_parse(&m->held[which], &layout))
        return;
    as_buf_printf(out, "#define %c_ROW(l, r) (0u", "ABC"[which]);
    matrix_add_line(&layout.row, out);
    as_buf_printf(out, ")\n#define %c_COLUMN(l, r) (0u", "ABC"[which]);
    matrix_add_line(&layout.column, out);
    as_buf_str(out, ")\n");
}

/* The type of an element in Metal's dialect and language. */
static const char *element_word(const struct as_number_format *f)
{
    static const struct {
        const char *format, *type;
    } others[] = {
        {"s8", "int8_t"}, {"s32", "int32_t"}, {"e4m3", "metal_fp8_e4m3_format"}, {"e5m2", "metal_fp8_e5m2_format"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(f->word, others[i].format) == 0)
            return others[i].type;
    return f->word;
}

static void add_fragment(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, struct as_buf *out)
{
    char letter = "ABC"[which];
    const struct as_matrix_held *held = &m->held[which];
    as_buf_printf(out, "#define %c_REGISTERS %u\n#define T%c %s\n#define %c_BYTES %zu\n", letter,
                  as_matrix_registers(m, which, n), letter, matrix_kind_of(m, which).type, letter,
                  as_image_bytes(m, which, n));
    as_buf_printf(out, "#define %c_SHARED %d\n#define %c_LOADED %d\n", letter, held->held == AS_HELD_SHARED, letter,
                  held->held == AS_HELD_LOADED);
    add_places(m, which, out);
    if (m->types[which])
        as_buf_printf(out, "#define V%c %s\n", letter, m->types[which]);
    if (m->dialect == AS_DIALECT_METAL)
        as_buf_printf(out, "#define E%c %s\n", letter, element_word(as_matrix_format(m, which)));
    if (m->dialect == AS_DIALECT_METAL && as_matrix_format(m, which)->bits == 16)
        as_buf_printf(out, "#define P%c %sx2\n", letter, as_matrix_format(m, which)->word);
    if (held->held == AS_HELD_SHARED)
        as_buf_printf(out, "#define %c_SET %u\n", letter,
                      as_matrix_cols(m, AS_MATRIX_A, 0) * as_matrix_format(m, which)->bits / 8 /
                          (which == AS_MATRIX_A && m->sparse ? 2 : 1));
    if (held->held == AS_HELD_LOADED && m->load)
        add_loading(m, which, n, false, out);
    if (held->held == AS_HELD_LOADED && m->load && which == AS_MATRIX_C)
        add_loading(m, which, n, true, out);
}

void as_matrix_source(const struct as_matrix *m, unsigned n, const struct as_matrix_body *body, struct as_buf *out)
{
    extern const char as_kernel_fragment[], as_kernel_peak[];
    n = n ? n : m->n;
    as_buf_printf(out, "#define LANES %u\n#define WAITS %d\n", m->lanes, m->held[AS_MATRIX_B].held == AS_HELD_SHARED);
    as_buf_printf(out, "#define UNIT_M %u\n#define UNIT_N %u\n#define UNIT_K %u\n", m->m, n, m->k);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++)
        add_fragment(m, (enum as_matrix_operand)which, n, out);
    if (m->dialect == AS_DIALECT_CUDA)
        add_multiply_cuda(m, n, out);
    else if (m->dialect == AS_DIALECT_METAL)
        add_multiply_metal(m, out);
    else
        add_multiply_hip(m, out);
    as_buf_str(out, as_kernel_fragment);
    if (body) {
        as_buf_printf(out, "#define CHAINS %u\n#define STEPS %u\n#define VARIANTS %d\n", body->chains, body->steps,
                      AS_MATRIX_VARIANTS);
        as_buf_str(out, as_kernel_peak);
    }
}
