/* Used by the generated host functions: operands as numbers, results rounded once. */
#ifndef AS_LIB_OPS_OPS_REFERENCE_H
#define AS_LIB_OPS_OPS_REFERENCE_H

#include "ops.h"

#include <math.h>

double as_op_get_f16(const union as_op_value *v, unsigned lane);
double as_op_get_bf16(const union as_op_value *v, unsigned lane);
void as_op_set_f16(union as_op_value *v, unsigned lane, double x);
void as_op_set_bf16(union as_op_value *v, unsigned lane, double x);

#define AS_OP_WHOLE_REGISTER(name, type, member)                                                                       \
    static inline type as_op_get_##name(const union as_op_value *v, unsigned lane)                                     \
    {                                                                                                                  \
        (void)lane;                                                                                                    \
        return v->member;                                                                                              \
    }                                                                                                                  \
    static inline void as_op_set_##name(union as_op_value *v, unsigned lane, type x)                                   \
    {                                                                                                                  \
        (void)lane;                                                                                                    \
        v->member = x;                                                                                                 \
    }
AS_OP_WHOLE_REGISTER(i16, uint16_t, half[lane])
AS_OP_WHOLE_REGISTER(i32, uint32_t, u32)
AS_OP_WHOLE_REGISTER(i64, uint64_t, u64)
AS_OP_WHOLE_REGISTER(f32, float, single[lane])
AS_OP_WHOLE_REGISTER(f64, double, f64)
#undef AS_OP_WHOLE_REGISTER

uint64_t as_op_reverse(uint64_t x, unsigned bits);
uint64_t as_op_high(uint64_t a, uint64_t b); /* of their product */
uint32_t as_op_permute(uint32_t a, uint32_t b, uint32_t choice);
uint32_t as_op_permute_bytes(uint32_t a, uint32_t b, uint32_t choice); /* a choice in each byte */
/* Packed unsigned values of so many bits, c added: products, absolute differences. */
uint32_t as_op_dot(uint32_t a, uint32_t b, uint32_t c, unsigned bits);
uint32_t as_op_sad(uint32_t a, uint32_t b, uint32_t c, unsigned bits);
double as_op_fraction(double x); /* mantissa: 0.5 to 1 */
int as_op_exponent(double x);
/* Bits of a under a mask, extracted to the low end, and deposited. */
uint64_t as_op_gather(uint64_t a, uint64_t mask);
uint64_t as_op_scatter(uint64_t a, uint64_t mask);
/* The same bits as another type. */
uint32_t as_op_bits32(float x);
uint64_t as_op_bits64(double x);
float as_op_f32(uint32_t x);
double as_op_f64(uint64_t x);
double as_op_sinpi(double x);
float as_op_rounded(float x); /* stored: compilers cannot fuse it with another operation */
/* The second in the low half. On overflow: infinity, or the largest number with rounding towards zero or 8 bits.
 * format: a word of as_number_format. */
uint32_t as_op_pair16(double high, double low);
uint32_t as_op_pair16_cut(double high, double low); /* rounded towards zero */
uint16_t as_op_pair8(double high, double low, const char *format);
/* Subgroup operations; v[i][0] is the first operand of lane i. ballot: of n lanes, up to 64, from `first` on; a bit for
 * each that is odd (o), even (e), less than its second operand (<, f: of f32), equal to this lane's (=). fold: of lanes
 * first to end - 1, by + * < > & | ^; without lanes the neutral value. butterfly: f32, + or *, exchanges with the lane
 * `farthest` away, then half as far, down to the neighbour. */
uint64_t as_op_ballot(const union as_op_value (*v)[3], unsigned first, unsigned n, unsigned lane, char how);
uint64_t as_op_fold(const union as_op_value (*v)[3], unsigned first, unsigned end, char how);
double as_op_fold_real(const union as_op_value (*v)[3], enum as_op_type type, unsigned first, unsigned end, char how);
float as_op_butterfly(const union as_op_value (*v)[3], unsigned lanes, unsigned lane, unsigned farthest, char how);

#endif
