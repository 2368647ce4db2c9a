#include "layout.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- bits ---- */

static bool parse_line(const char *text, struct as_layout_line *out)
{
    *out = (struct as_layout_line){.n = 0};
    for (const char *at = text; at && *at; at += *at == ' ') {
        if (out->n == AS_LAYOUT_BITS || !strchr("lre0", *at))
            return false;
        out->bit[out->n].kind = *at++;
        if (isdigit((unsigned char)*at))
            out->bit[out->n].bit = (unsigned char)(*at++ - '0');
        if (*at && *at != ' ')
            return false;
        out->n++;
    }
    return true;
}

bool as_layout_parse(const struct as_matrix_held *held, struct as_layout *out)
{
    return parse_line(held->row, &out->row) && parse_line(held->column, &out->column);
}

static bool layout_write_line(const struct as_layout_line *line, unsigned value, struct as_layout_place *place)
{
    for (unsigned i = 0; i < line->n; i++) {
        unsigned bit = (value >> i & 1) << line->bit[i].bit;
        switch (line->bit[i].kind) {
        case 'l':
            place->lane |= bit;
            break;
        case 'r':
            place->reg |= bit;
            break;
        case 'e':
            place->element |= bit;
            break;
        default:
            if (bit)
                return false;
        }
    }
    return value >> line->n == 0;
}

bool as_layout_place(const struct as_layout *layout, unsigned row, unsigned column, struct as_layout_place *out)
{
    *out = (struct as_layout_place){0};
    return layout_write_line(&layout->row, row, out) && layout_write_line(&layout->column, column, out);
}

unsigned as_layout_shared(unsigned line, unsigned at)
{
    enum { PIECE = 16, PIECES = AS_LAYOUT_LINE / PIECE };
    return line * AS_LAYOUT_LINE + ((at / PIECE) ^ (line % PIECES)) * PIECE + at % PIECE;
}

/* ---- images ---- */

unsigned as_matrix_rows(const struct as_matrix *m, enum as_matrix_operand which)
{
    return which == AS_MATRIX_B ? m->k : m->m;
}

unsigned as_matrix_cols(const struct as_matrix *m, enum as_matrix_operand which, unsigned n)
{
    return which == AS_MATRIX_A ? m->k : n ? n : m->n;
}

size_t as_matrix_count(const struct as_matrix *m, enum as_matrix_operand which, unsigned n)
{
    return (size_t)as_matrix_rows(m, which) * as_matrix_cols(m, which, n);
}

size_t as_image_bytes(const struct as_matrix *m, enum as_matrix_operand which, unsigned n)
{
    const struct as_matrix_held *held = &m->held[which];
    n = n ? n : m->n;
    if (held->held == AS_HELD_SHARED)
        return (size_t)AS_LAYOUT_LINE * (which == AS_MATRIX_A ? m->m : n);
    if (held->held == AS_HELD_LOADED)
        return (size_t)as_matrix_rows(m, which) * as_matrix_cols(m, which, n) * as_matrix_format(m, which)->bits / 8;
    size_t lanes = held->held == AS_HELD_SPREAD ? 1 : m->lanes;
    return (size_t)as_matrix_registers(m, which, n) * lanes * held->register_bits / 8;
}

size_t as_matrix_shared_bytes(const struct as_matrix *m, unsigned n)
{
    const size_t a = (size_t)m->m * m->k * as_matrix_format(m, AS_MATRIX_A)->bits / 8,
                 b = (size_t)n * m->k * as_matrix_format(m, AS_MATRIX_B)->bits / 8;
    return (m->held[AS_MATRIX_A].held == AS_HELD_SHARED ? a / (m->sparse ? 2 : 1) : 0) +
           (m->held[AS_MATRIX_B].held == AS_HELD_SHARED ? b : 0);
}

double as_matrix_shared_rate(const struct as_matrix *m, unsigned n)
{
    enum { BYTES_PER_CYCLE = 128 };
    const size_t bytes = as_matrix_shared_bytes(m, n);
    return bytes ? 2.0 * m->m * n * m->k * BYTES_PER_CYCLE / (double)bytes : INFINITY;
}

static void layout_put(unsigned char *image, size_t bit, unsigned bits, uint64_t number)
{
    for (unsigned i = 0; i < bits; i += bits < 8 ? bits : 8) {
        unsigned mask = bits < 8 ? (1u << bits) - 1 : 0xff;
        unsigned char *byte = &image[(bit + i) / 8];
        unsigned shift = (unsigned)(bit + i) % 8;
        *byte = (unsigned char)((*byte & ~(mask << shift)) | (unsigned)(number >> i & mask) << shift);
    }
}

static uint64_t layout_get(const unsigned char *image, size_t bit, unsigned bits)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bits; i += bits < 8 ? bits : 8) {
        unsigned mask = bits < 8 ? (1u << bits) - 1 : 0xff;
        number |= (uint64_t)(image[(bit + i) / 8] >> (bit + i) % 8 & mask) << i;
    }
    return number;
}

/* Bytes per shared memory line that one operand takes. */
static unsigned line_bytes(const struct as_matrix *m, enum as_matrix_operand which)
{
    unsigned bytes = m->k * as_matrix_format(m, which)->bits / 8;
    return which == AS_MATRIX_A && m->sparse ? bytes / 2 : bytes;
}

/* Bit position of an element in the image; false if it has no slot. copy: which of the lanes that hold it. */
static bool layout_find(const struct as_matrix *m, enum as_matrix_operand which, const struct as_layout *layout,
                        unsigned n, unsigned set, unsigned row, unsigned column, size_t *bit)
{
    const struct as_matrix_held *held = &m->held[which];
    unsigned bits = as_matrix_format(m, which)->bits;
    struct as_layout_place place;
    if (held->held == AS_HELD_LOADED) {
        size_t at = held->columns_first ? (size_t)column * as_matrix_rows(m, which) + row
                                        : (size_t)row * as_matrix_cols(m, which, n) + column;
        *bit = at * bits;
        return true;
    }
    if (held->held == AS_HELD_SHARED) {
        bool by_column = which == AS_MATRIX_B;
        unsigned element = by_column ? row : column, line = by_column ? column : row;
        if (held->column[0]) {
            if (!as_layout_place(layout, 0, element, &place))
                return false;
            element = place.element;
        }
        size_t within = (size_t)element * bits;
        *bit = (size_t)as_layout_shared(line, set * line_bytes(m, which) + (unsigned)(within / 8)) * 8 + within % 8;
        return true;
    }
    if (!as_layout_place(layout, row, column, &place))
        return false;
    *bit = ((size_t)place.reg * m->lanes + place.lane) * held->register_bits + (size_t)place.element * bits;
    return true;
}

/* Lane bits that a layout does not name. */
static unsigned free_lanes(const struct as_matrix *m, const struct as_layout *layout)
{
    unsigned named = 0;
    const struct as_layout_line *const lines[] = {&layout->row, &layout->column};
    for (size_t l = 0; l < 2; l++)
        for (unsigned i = 0; i < lines[l]->n; i++)
            named |= lines[l]->bit[i].kind == 'l' ? 1u << lines[l]->bit[i].bit : 0;
    return (m->lanes - 1) & ~named;
}

unsigned as_layout_copies(const struct as_matrix *m, enum as_matrix_operand which)
{
    struct as_layout layout;
    if (m->held[which].held != AS_HELD_REGISTERS)
        return 0;
    as_layout_parse(&m->held[which], &layout);
    return free_lanes(m, &layout);
}

void as_image_pack(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, unsigned set,
                   const uint64_t *numbers, unsigned char *image)
{
    const struct as_matrix_held *held = &m->held[which];
    unsigned rows = as_matrix_rows(m, which), columns = as_matrix_cols(m, which, n);
    unsigned bits = as_matrix_format(m, which)->bits;
    struct as_layout layout;
    size_t at;
    as_layout_parse(held, &layout);
    unsigned copies = as_layout_copies(m, which);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++) {
            if (!layout_find(m, which, &layout, n, set, row, column, &at))
                continue;
            unsigned copy = 0;
            do {
                layout_put(image, at + (size_t)copy * held->register_bits, bits,
                           numbers[(size_t)row * columns + column]);
                copy = (copy - copies) & copies; /* the next combination of those bits */
            } while (copy);
        }
}

void as_image_unpack(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, const unsigned char *image,
                     uint64_t *numbers)
{
    unsigned rows = as_matrix_rows(m, which), columns = as_matrix_cols(m, which, n);
    unsigned bits = as_matrix_format(m, which)->bits;
    struct as_layout layout;
    size_t at;
    as_layout_parse(&m->held[which], &layout);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++)
            numbers[(size_t)row * columns + column] =
                layout_find(m, which, &layout, n, 0, row, column, &at) ? layout_get(image, at, bits) : 0;
}

bool as_image_holds(const struct as_matrix *m, enum as_matrix_operand which, unsigned row, unsigned column)
{
    struct as_layout layout;
    size_t at;
    as_layout_parse(&m->held[which], &layout);
    return layout_find(m, which, &layout, 0, 0, row, column, &at);
}
