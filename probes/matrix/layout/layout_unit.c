#include "layout_unit.h"

#include <stdlib.h>
#include <string.h>

static unsigned layout_bits_of(const struct layout_unit *u, enum as_matrix_operand which)
{
    return as_matrix_format(u->fragments.matrix, which)->bits;
}

static size_t layout_slots_of(const struct layout_unit *u, enum as_matrix_operand which)
{
    return u->fragments.bytes[which] * 8 / layout_bits_of(u, which);
}

static void layout_place_of(const struct layout_unit *u, enum as_matrix_operand which, size_t slot,
                            struct as_layout_place *out)
{
    const struct as_matrix *m = u->fragments.matrix;
    size_t each = m->held[which].register_bits / layout_bits_of(u, which);
    size_t lanes = m->held[which].held == AS_HELD_SPREAD ? 1 : m->lanes;
    *out = (struct as_layout_place){.lane = (unsigned)(slot / each % lanes),
                                    .reg = (unsigned)(slot / each / lanes),
                                    .element = (unsigned)(slot % each)};
}

/* Documented copies: slots of lanes that differ only in some bits. */
static enum as_status find_copies(struct layout_unit *u, enum as_matrix_operand which, struct as_error *err)
{
    const struct as_matrix *m = u->fragments.matrix;
    const size_t slots = layout_slots_of(u, which), each = m->held[which].register_bits / layout_bits_of(u, which);
    const unsigned copies = as_layout_copies(m, which);
    uint32_t *first = malloc(slots * sizeof *first);
    u->first[which] = first;
    if (!first)
        return as_nomem(err, slots * sizeof *first, "places of an operand");
    for (size_t i = 0; i < slots; i++) {
        struct as_layout_place p = {0};
        if (copies)
            layout_place_of(u, which, i, &p);
        first[i] = (uint32_t)(i - (p.lane & copies) * each);
    }
    return AS_OK;
}

/* ---- codes by slot in images, packed from the lowest bit up ---- */

static void put_code(unsigned char *image, size_t slot, unsigned bits, uint64_t code)
{
    for (unsigned i = 0; i < bits && code >> i; i++)
        image[(slot * bits + i) / 8] |= (unsigned char)((code >> i & 1) << (slot * bits + i) % 8);
}

static uint64_t code_in(const unsigned char *image, size_t slot, unsigned bits)
{
    uint64_t code = 0;
    for (unsigned i = 0; i < bits; i++)
        code |= (uint64_t)(image[(slot * bits + i) / 8] >> (slot * bits + i) % 8 & 1) << i;
    return code;
}

static void put_codes(struct layout_unit *u, enum as_matrix_operand which, size_t count, const uint64_t *codes)
{
    const struct as_fragments *f = &u->fragments;
    const unsigned bits = layout_bits_of(u, which);
    const size_t slots = layout_slots_of(u, which);
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < slots; i++)
            put_code(f->image[which] + p * f->bytes[which], i, bits, codes[p * slots + u->first[which][i]]);
}

static enum as_status layout_multiply_some(struct layout_unit *u, size_t count, const uint64_t *a, const uint64_t *b,
                                           uint64_t *d, struct as_error *err)
{
    struct as_fragments *f = &u->fragments;
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++)
        memset(f->image[which], 0, count * f->bytes[which]);
    put_codes(u, AS_MATRIX_A, count, a);
    put_codes(u, AS_MATRIX_B, count, b);
    enum as_status st = as_fragments_run(f, count, err);
    const size_t slots = layout_slots_of(u, AS_MATRIX_C);
    const unsigned bits = layout_bits_of(u, AS_MATRIX_C);
    for (size_t p = 0; p < count && !st; p++)
        for (size_t i = 0; i < slots; i++)
            d[p * slots + i] =
                u->first[AS_MATRIX_C][i] == i ? code_in(f->image[AS_MATRIX_C] + p * f->bytes[AS_MATRIX_C], i, bits) : 0;
    return st;
}

static enum as_status layout_multiply(void *ctx, size_t count, const uint64_t *a, const uint64_t *b, uint64_t *d,
                                      struct as_error *err)
{
    struct layout_unit *u = ctx;
    const struct as_slot_unit *s = &u->unit;
    enum as_status st = AS_OK;
    for (size_t at = 0; at < count && !st; at += u->fragments.batch) {
        size_t n = count - at < u->fragments.batch ? count - at : u->fragments.batch;
        st = layout_multiply_some(u, n, a + at * s->slots_a, b + at * s->slots_b, d + at * s->slots_c, err);
    }
    return st;
}

/* Elements along k that A stores: fewer for a sparse A. */
static unsigned held_k(const struct as_matrix *m)
{
    unsigned n = 0;
    for (unsigned k = 0; k < m->k; k++)
        n += as_image_holds(m, AS_MATRIX_A, 0, k);
    return n;
}

/* The instruction itself, or one whose registers are filled one by one: nothing tells their layout yet. */
static const struct as_matrix *by_register(struct layout_unit *u, const struct as_matrix *matrix)
{
    if (matrix->held[AS_MATRIX_C].held != AS_HELD_LOADED)
        return matrix;
    u->in_registers = *matrix;
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        struct as_matrix_held *held = &u->in_registers.held[which];
        held->held = AS_HELD_REGISTERS;
        held->row = held->column = "";
    }
    return &u->in_registers;
}

enum as_status as_layout_open(struct layout_unit *u, struct as_device *dev, const struct as_matrix *matrix, unsigned n,
                              struct as_error *err)
{
    *u = (struct layout_unit){.fragments = {.n = 0}};
    enum as_status st = as_fragments_open(&u->fragments, dev, by_register(u, matrix), n, err);
    if (st)
        return st;
    const struct as_matrix_unit *f = &u->fragments.unit;
    u->unit = (struct as_slot_unit){.a = f->a,
                                    .b = f->b,
                                    .c = f->c,
                                    .slots_a = layout_slots_of(u, AS_MATRIX_A),
                                    .slots_b = layout_slots_of(u, AS_MATRIX_B),
                                    .slots_c = layout_slots_of(u, AS_MATRIX_C),
                                    .m = f->m,
                                    .n = f->n,
                                    .k = held_k(matrix),
                                    .multiply = layout_multiply,
                                    .ctx = u};
    if (u->fragments.matrix != matrix)
        return as_layout_load(u, dev, matrix, err);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS && !st; which++)
        st = find_copies(u, (enum as_matrix_operand)which, err);
    return st;
}

void as_layout_close(struct layout_unit *u)
{
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        free(u->first[which]);
        free(u->loaded[which]);
    }
    as_fragments_close(&u->fragments);
    *u = (struct layout_unit){.fragments = {.n = 0}};
}

/* ---- the documented layout ---- */

/* False for elements at k that a sparse A does not store: no product uses them. */
static bool is_used(const struct as_matrix *m, enum as_matrix_operand which, unsigned row, unsigned column)
{
    return which == AS_MATRIX_C || as_image_holds(m, AS_MATRIX_A, 0, which == AS_MATRIX_A ? column : row);
}

/* Packs a matrix with one nonzero element and finds its slot. */
static enum as_status document(const struct layout_unit *u, enum as_matrix_operand which, struct as_slot **out,
                               struct as_error *err)
{
    const struct as_fragments *f = &u->fragments;
    unsigned rows = as_matrix_rows(f->matrix, which), columns = as_matrix_cols(f->matrix, which, f->n);
    size_t slots = layout_slots_of(u, which), numbers = (size_t)rows * columns;
    uint64_t *one = calloc(numbers, sizeof *one);
    unsigned char *image = calloc(1, f->bytes[which]);
    *out = malloc(slots * sizeof **out);
    enum as_status st = one && image && *out ? AS_OK : as_nomem(err, slots * sizeof **out, "documented places");
    for (size_t i = 0; i < slots && !st; i++)
        (*out)[i] = (struct as_slot){AS_SLOT_NONE, AS_SLOT_NONE};
    for (size_t i = 0; i < numbers && !st; i++) {
        size_t places = 0;
        if (!is_used(f->matrix, which, (unsigned)(i / columns), (unsigned)(i % columns)))
            continue;
        one[i] = 1;
        memset(image, 0, f->bytes[which]);
        as_image_pack(f->matrix, which, f->n, 0, one, image);
        one[i] = 0;
        for (size_t s = 0; s < slots; s++)
            if (code_in(image, s, layout_bits_of(u, which)) && u->first[which][s] == s) {
                (*out)[s] = (struct as_slot){(uint16_t)(i / columns), (uint16_t)(i % columns)};
                places++;
            }
        if (places != 1)
            st = as_fail(err, AS_UNSUPPORTED, "%zu places hold row %zu, column %zu: ambiguous", places, i / columns,
                         i % columns);
    }
    free(one);
    free(image);
    return st;
}

static enum as_status copy_loaded(const struct layout_unit *u, enum as_matrix_operand which, struct as_slot **out,
                                  struct as_error *err)
{
    const size_t bytes = layout_slots_of(u, which) * sizeof **out;
    *out = malloc(bytes);
    if (!*out)
        return as_nomem(err, bytes, "loaded places");
    memcpy(*out, u->loaded[which], bytes);
    return AS_OK;
}

enum as_status as_layout_documented(const struct layout_unit *u, struct as_slots *out, struct as_error *err)
{
    const struct as_slot_unit *s = &u->unit;
    *out = (struct as_slots){NULL, NULL, NULL, s->slots_a, s->slots_b, s->slots_c, s->m, s->n, s->k};
    struct as_slot **const slots[] = {&out->a, &out->b, &out->c};
    enum as_status st = AS_OK;
    for (int w = AS_MATRIX_A; w < AS_MATRIX_OPERANDS && !st; w++) {
        const enum as_matrix_operand which = (enum as_matrix_operand)w;
        st = u->loaded[w] ? copy_loaded(u, which, slots[w], err) : document(u, which, slots[w], err);
    }
    if (st)
        as_slots_finish(out);
    return st;
}

/* ---- as text ---- */

static const struct as_slot *found_of(const struct as_slots *found, enum as_matrix_operand which)
{
    return which == AS_MATRIX_A ? found->a : which == AS_MATRIX_B ? found->b : found->c;
}

/* Is the bit set in the row or column of any element found? For a sparse operand some are always 0. */
static bool is_ever_set(const struct as_slot *slots, size_t n, bool of_row, unsigned bit)
{
    for (size_t s = 0; s < n; s++)
        if (slots[s].row != AS_SLOT_NONE && (unsigned)(of_row ? slots[s].row : slots[s].column) >> bit & 1)
            return true;
    return false;
}

/* Writes the lane, register or element bit that equals a row or column bit. */
static void write_bit(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                      bool of_row, unsigned bit, struct as_buf *out)
{
    static const char kinds[] = "lre";
    const struct as_slot *slots = found_of(found, which);
    if (!is_ever_set(slots, layout_slots_of(u, which), of_row, bit)) {
        as_buf_char(out, '0');
        return;
    }
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned from = 0; from < AS_LAYOUT_BITS; from++) {
            bool same = true;
            for (size_t s = 0; s < layout_slots_of(u, which) && same; s++) {
                struct as_layout_place p;
                if (slots[s].row == AS_SLOT_NONE)
                    continue;
                layout_place_of(u, which, s, &p);
                unsigned in = kind == 0 ? p.lane : kind == 1 ? p.reg : p.element;
                same = (in >> from & 1) == ((unsigned)(of_row ? slots[s].row : slots[s].column) >> bit & 1);
            }
            if (same) {
                as_buf_printf(out, "%c%u", kinds[kind], from);
                return;
            }
        }
    as_buf_char(out, '?');
}

void as_layout_bits(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                    struct as_buf *out)
{
    const struct as_fragments *f = &u->fragments;
    unsigned rows = as_matrix_rows(f->matrix, which), columns = as_matrix_cols(f->matrix, which, f->n);
    for (unsigned bit = 0; 1u << bit < rows; bit++) {
        as_buf_str(out, bit ? " " : "");
        write_bit(u, which, found, true, bit, out);
    }
    as_buf_str(out, " /");
    for (unsigned bit = 0; 1u << bit < columns; bit++) {
        as_buf_char(out, ' ');
        write_bit(u, which, found, false, bit, out);
    }
}

static void write_all(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                      bool lanes, struct as_buf *out)
{
    const struct as_fragments *f = &u->fragments;
    unsigned rows = as_matrix_rows(f->matrix, which), columns = as_matrix_cols(f->matrix, which, f->n);
    size_t each = f->matrix->held[which].register_bits / layout_bits_of(u, which);
    const struct as_slot *slots = found_of(found, which);
    for (unsigned i = 0; i < rows * columns; i++) {
        size_t s = 0;
        struct as_layout_place p;
        while (s < layout_slots_of(u, which) && (slots[s].row != i / columns || slots[s].column != i % columns))
            s++;
        if (s == layout_slots_of(u, which)) {
            as_buf_printf(out, "%s-", i ? " " : "");
            continue;
        }
        layout_place_of(u, which, s, &p);
        as_buf_printf(out, "%s%zu", i ? " " : "", lanes ? p.lane : p.reg * each + p.element);
    }
}

void as_layout_lanes(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                     struct as_buf *out)
{
    write_all(u, which, found, true, out);
}

void as_layout_places(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                      struct as_buf *out)
{
    write_all(u, which, found, false, out);
}

/* ---- the block that recurs ---- */

enum { NO_LANE = 0xffff };

/* Do lanes recur after so many rows, or columns? */
static bool recurs(const uint16_t *lane, unsigned rows, unsigned columns, unsigned down, unsigned right)
{
    for (unsigned r = 0; r + down < rows; r++)
        for (unsigned c = 0; c + right < columns; c++)
            if (lane[r * columns + c] != lane[(r + down) * columns + c + right])
                return false;
    return true;
}

enum as_status as_layout_base(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                              unsigned *rows, unsigned *columns, struct as_error *err)
{
    const struct as_fragments *f = &u->fragments;
    const unsigned all_rows = as_matrix_rows(f->matrix, which), all = as_matrix_cols(f->matrix, which, f->n);
    const struct as_slot *slots = found_of(found, which);
    const size_t bytes = sizeof(uint16_t) * all_rows * all;
    uint16_t *lane = malloc(bytes);
    if (!lane)
        return as_nomem(err, bytes, "lanes of an operand");
    memset(lane, 0xff, bytes);
    for (size_t s = 0; s < layout_slots_of(u, which); s++) {
        struct as_layout_place p;
        if (slots[s].row == AS_SLOT_NONE)
            continue;
        layout_place_of(u, which, s, &p);
        lane[slots[s].row * all + slots[s].column] = (uint16_t)p.lane;
    }
    *rows = *columns = 0;
    for (size_t i = 0; i < (size_t)all_rows * all; i++)
        if (lane[i] == NO_LANE) {
            free(lane);
            return AS_OK;
        }
    for (*rows = 1; *rows < all_rows && !recurs(lane, all_rows, all, *rows, 0);)
        *rows *= 2;
    for (*columns = 1; *columns < all && !recurs(lane, all_rows, all, 0, *columns);)
        *columns *= 2;
    free(lane);
    return AS_OK;
}
