/* A matrix instruction of a device as places that may hold a number, and what is documented of them. */
#ifndef AS_PROBES_MATRIX_LAYOUT_LAYOUT_UNIT_H
#define AS_PROBES_MATRIX_LAYOUT_LAYOUT_UNIT_H

#include "lib/mma/fragments.h"
#include "lib/mma/slots.h"

struct layout_unit {
    struct as_fragments fragments;
    struct as_slot_unit unit; /* its ctx is this */
};
enum as_status layout_open(struct layout_unit *u, struct as_device *dev, const struct as_matrix *matrix, unsigned n,
                           struct as_error *err);
void layout_close(struct layout_unit *u);
/* Of numbers that several lanes hold the place in the first of them; those that take part in no product have none. */
enum as_status layout_documented(const struct layout_unit *u, struct as_slots *out, struct as_error *err);
/* Which bit of the lane, the register and the place in it each bit of a row and a column is: "l2 l3 / e0 l0". A bit
 * that is none of them is "?", and one that no number found has is "0". */
void layout_bits(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                 struct as_buf *out);
/* Row by row the lanes that hold the numbers, or the places in their registers: "0 0 1 1 2 2"; "-": nowhere. */
void layout_lanes(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                  struct as_buf *out);
void layout_places(const struct layout_unit *u, enum as_matrix_operand which, const struct as_slots *found,
                   struct as_buf *out);

#endif
