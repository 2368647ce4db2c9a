/* A device's matrix instruction as slots for elements, and their documented layout. */
#ifndef AS_PROBES_MATRIX_LAYOUT_LAYOUT_UNIT_H
#define AS_PROBES_MATRIX_LAYOUT_LAYOUT_UNIT_H

#include "lib/mma/discovery/slots.h"
#include "lib/mma/instructions/fragments.h"

struct layout_unit {
    struct as_fragments fragments;
    struct as_slot_unit unit;            /* its ctx is this struct */
    struct as_matrix in_registers;       /* an instruction with operands of unspecified layout, filled by register */
    uint32_t *first[AS_MATRIX_OPERANDS]; /* by slot: the first slot that holds the same element */
    struct as_slot *loaded[AS_MATRIX_OPERANDS]; /* by slot, as the load instruction fills it; NULL: documented */
};
enum as_status as_layout_open(struct layout_unit *u, struct as_device *dev, const struct as_matrix *matrix, unsigned n,
                              struct as_error *err);
void as_layout_close(struct layout_unit *u);
/* The slots that operands' own load instructions fill. AS_FAILED if an element has none or shares one. */
enum as_status as_layout_load(struct layout_unit *u, struct as_device *dev, const struct as_matrix *matrix,
                              struct as_error *err);
/* As documented, or as loaded: the first slot of each element, if there are copies; unused elements have none. */
enum as_status as_layout_documented(const struct layout_unit *u, struct as_slots *out, struct as_error *err);
/* The lane, register and element bits that form each row and column bit: "l2 l3 / e0 l0". "?": none of them; "0":
 * always clear. */
void as_layout_bits(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                    struct as_buf *out);
/* The lanes of the elements row by row, or their slots within a register: "0 0 1 1 2 2"; "-": none. */
void as_layout_lanes(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                     struct as_buf *out);
void as_layout_places(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                      struct as_buf *out);
/* The smallest block of rows and columns whose lanes recur all over the operand: a lane holds the same element of every
 * such block; 0 where some element has no lane. AS_NOMEM without memory. */
enum as_status as_layout_base(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                              unsigned *rows, unsigned *columns, struct as_error *err);

#endif
