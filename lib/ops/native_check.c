/* The check of native kernels: each operation against the host's reference, each body against single steps. */
#include "native.h"

#include <stdio.h>
#include <string.h>

enum { DRAWN = 1024, TURNS = 3, SLOT = AS_NATIVE_SLOT };

/* Bytes from lane to lane. */
static size_t pitch_of(const struct as_native *n, enum as_op_type type)
{
    return n->lane_bytes ? n->lane_bytes : as_op_bytes(type);
}

static void native_check_draw(const struct as_native *n, enum as_op_domain domain, enum as_op_type type, unsigned turn,
                              struct as_rng *rng, unsigned char *slot)
{
    const unsigned lanes = as_native_lanes(n);
    memset(slot, 0, SLOT);
    for (unsigned l = 0; l < lanes; l++) {
        union as_op_value x;
        as_op_draw(domain, type, turn, rng, &x);
        memcpy(slot + l * pitch_of(n, type), &x, as_op_bytes(type));
    }
}

void as_native_draw(const struct as_native *n, const struct as_op *op, struct as_rng *rng,
                    struct as_native_operands *out)
{
    for (unsigned k = 0; k < AS_NATIVE_CHAINS; k++)
        native_check_draw(n, n->a, op->type, k, rng, out->states[k]);
    native_check_draw(n, n->b, op->btype, 0, rng, out->others[0]);
    native_check_draw(n, n->b, op->btype, 1, rng, out->others[1]);
    native_check_draw(n, n->c, op->ctype, 0, rng, out->others[2]);
}

static union as_op_value lane_of(const struct as_native *n, const unsigned char *slot, enum as_op_type type,
                                 unsigned lane)
{
    union as_op_value v = {0};
    memcpy(&v, slot + lane * pitch_of(n, type), as_op_bytes(type));
    return v;
}

/* A register is the subgroup of a subgroup operation, whose lanes see one another. */
static bool native_check_lanes(const struct as_native *n, const struct as_op *op, const struct as_native_operands *x,
                               const unsigned char *result, char *why, size_t size)
{
    const unsigned lanes = as_native_lanes(n);
    union as_op_value abc[SLOT][3] = {{{0}}};
    const union as_op_value(*const all)[3] = (const union as_op_value(*)[3])abc;
    for (unsigned l = 0; l < lanes; l++) {
        abc[l][0] = lane_of(n, x->states[0], op->type, l);
        abc[l][1] = lane_of(n, x->others[0], op->btype, l);
        abc[l][2] = lane_of(n, x->others[2], op->ctype, l);
    }
    for (unsigned l = 0; l < lanes; l++) {
        const union as_op_value r = lane_of(n, result, op->result, l);
        const bool agrees = op->group_reference ? as_op_agrees(op, AS_DIALECT_HOST, all, l, lanes, &r, why, size)
                                                : as_op_agrees(op, AS_DIALECT_HOST, all + l, 0, 1, &r, why, size);
        if (!agrees)
            return false;
    }
    return true;
}

static bool native_check_once(const struct as_native *n, const struct as_op *op, struct as_rng *rng, char *why,
                              size_t size)
{
    struct as_native_operands x;
    unsigned char result[SLOT];
    const unsigned lanes = as_native_lanes(n);
    if (lanes == 0) {
        snprintf(why, size, "this CPU lacks SVE, which %s needs", op->name);
        return false;
    }
    for (unsigned i = 0; i < DRAWN; i += lanes) {
        as_native_draw(n, op, rng, &x);
        memcpy(result, x.states[0], SLOT);
        n->once(result, x.others, 1);
        if (!native_check_lanes(n, op, &x, result, why, size))
            return false;
    }
    return true;
}

/* State of chain k after so many single steps. */
static void native_check_run_steps(const struct as_native *n, const struct as_native_operands *x, unsigned k,
                                   unsigned steps, unsigned char *state)
{
    struct as_native_operands odd = *x;
    memcpy(odd.others[0], x->others[1], SLOT);
    const void *const others[] = {x->others, odd.others};
    memcpy(state, x->states[k], SLOT);
    for (unsigned s = 0; s < steps; s++)
        n->step(state, others[s % 2], 1);
}

static bool native_check_ends(const struct as_native *n, const struct as_op *op, const struct as_native_body *body,
                              bool whole, struct as_rng *rng, char *why, size_t size)
{
    struct as_native_operands x, end;
    unsigned char want[SLOT];
    unsigned steps = whole ? body->steps : body->steps / 2;
    size_t bytes = as_native_lanes(n) * pitch_of(n, body->apart ? op->result : op->type);
    as_native_draw(n, op, rng, &x);
    end = x;
    (whole ? body->whole : body->half)(end.states, end.others, TURNS);
    for (unsigned k = 0; k < body->chains; k++) {
        if (body->apart) {
            memcpy(want, x.states[0], SLOT);
            n->once(want, x.others, 1);
        } else {
            native_check_run_steps(n, &x, k, TURNS * steps, want);
        }
        if (memcmp(want, end.states[k], bytes) != 0) {
            snprintf(why, size, "chain %u of the %s body of %s does not end where %u single steps end", k,
                     whole ? "long" : "short", op->name, TURNS * steps);
            return false;
        }
    }
    return true;
}

bool as_native_check(const struct as_native *n, const struct as_op *op, const struct as_native_body *body,
                     uint64_t seed, char *why, size_t size)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    if (!native_check_once(n, op, &rng, why, size) || !native_check_ends(n, op, body, false, &rng, why, size) ||
        !native_check_ends(n, op, body, true, &rng, why, size))
        return false;
    snprintf(why, size, "%d results equal the host's, and all %s", (int)DRAWN,
             body->apart ? "registers hold the result of their operands" : "chains end where single steps end");
    return true;
}
