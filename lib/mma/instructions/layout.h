/* Layouts of matrix elements: in registers of lanes, or in shared memory that a matrix instruction reads.
 *
 * Every documented layout of registers is linear in bits: each row and column bit of an element is one bit of the lane
 * (l0, l1, ...), of the register (r0, ...) or of the place in the register (e0, ...): "l2 l3 l4 r0 / e0 l0 l1 r1" is
 * row = bits 2, 3, 4 of the lane and bit 0 of the register, lowest first, column = bit 0 of the place, and so on. "0"
 * is a bit that is always 0: elements where it is 1 have no place. Lanes that differ only in an unnamed bit hold
 * copies. */
#ifndef AS_LIB_MMA_INSTRUCTIONS_LAYOUT_H
#define AS_LIB_MMA_INSTRUCTIONS_LAYOUT_H

#include "matrix.h"

enum { AS_LAYOUT_BITS = 12 };
struct as_layout_line {
    unsigned n;
    struct {
        char kind; /* 'l', 'r', 'e', '0' */
        unsigned char bit;
    } bit[AS_LAYOUT_BITS];
};
struct as_layout {
    struct as_layout_line row, column;
};
struct as_layout_place {
    unsigned lane, reg, element;
};

/* False if the text is invalid. */
bool as_layout_parse(const struct as_matrix_held *held, struct as_layout *out);
/* The place of an element, the first of its copies; false if it has none. */
bool as_layout_place(const struct as_layout *layout, unsigned row, unsigned column, struct as_layout_place *out);

/* Lane bits: lanes that differ only in these hold copies. */
unsigned as_layout_copies(const struct as_matrix *m, enum as_matrix_operand which);

/* Shared memory address of byte `at` of row (A) or column (B) `line`: lines of 128 bytes with swizzled pieces of 16
 * bytes (PTX ISA: K-major, 128-byte swizzle). */
unsigned as_layout_shared(unsigned line, unsigned at);
enum { AS_LAYOUT_LINE = 128 };

/* ---- images: an operand of one problem as kernels load it ---- */

size_t as_image_bytes(const struct as_matrix *m, enum as_matrix_operand which, unsigned n);
/* Bytes of shared memory that an instruction reads; and the operations per cycle at which it could, with 128 bytes per
 * cycle (32 banks of 4 bytes, CUDA C++ Programming Guide); INFINITY: it reads none. */
size_t as_matrix_shared_bytes(const struct as_matrix *m, unsigned n);
double as_matrix_shared_rate(const struct as_matrix *m, unsigned n);
/* Packs elements (row-major, as in unit.h) into an image; set: 0 or 1, which of two operands that share shared memory
 * lines; 0 elsewhere. Unused bits of the image stay unchanged. */
void as_image_pack(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, unsigned set,
                   const uint64_t *numbers, unsigned char *image);
void as_image_unpack(const struct as_matrix *m, enum as_matrix_operand which, unsigned n, const unsigned char *image,
                     uint64_t *numbers);
/* Does the element of A have a place? */
bool as_image_holds(const struct as_matrix *m, enum as_matrix_operand which, unsigned row, unsigned column);
unsigned as_matrix_rows(const struct as_matrix *m, enum as_matrix_operand which);
unsigned as_matrix_cols(const struct as_matrix *m, enum as_matrix_operand which, unsigned n);
/* Elements of the operand: rows x columns. */
size_t as_matrix_count(const struct as_matrix *m, enum as_matrix_operand which, unsigned n);

#endif
