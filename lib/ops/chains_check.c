/* The check of chains: each operation once against the host, and their ends against single steps. */
#include "chains_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONCE = AS_CHAINS_STARTS, ONCE_GROUP = AS_OP_GROUP_MOST };

/* Each operation once on all operands; returns operands and results. */
static enum as_status chains_check_run_once(struct as_chains *c, char *values[4], struct as_error *err)
{
    struct as_memory *const from[] = {c->starts, c->seconds, c->thirds, c->ends};
    struct as_device *dev = c->timer.dev;
    size_t workgroups = c->workgroups, workgroup_size = c->workgroup_size,
           bytes = c->desc.sequence.n * ONCE * sizeof(uint64_t);
    double unused;
    memset(values[3], 0x5a, bytes);
    enum as_status st = dev->memory->write(dev, c->ends, 0, values[3], bytes, err);
    c->workgroup_size =
        as_chains_core(&dev->info) || dev->info.threads < ONCE_GROUP ? 1 : ONCE_GROUP; /* avoids compiling it twice */
    c->workgroups = ONCE / c->workgroup_size;
    if (!st)
        st = as_chains_launch(c, AS_CHAINS_ONCE, 0, &unused, err);
    c->workgroups = workgroups;
    c->workgroup_size = workgroup_size;
    for (int k = 0; k < 4 && !st; k++)
        st = dev->memory->read(dev, from[k], 0, values[k], bytes, err);
    return st;
}

/* Compared with the reference; values: of one operation. */
static bool agree_once(const struct as_chains *c, const struct as_op *op, char *const values[4], char *why, size_t size)
{
    const enum as_op_type types[] = {op->type, op->btype, op->ctype, op->result};
    unsigned lanes = op->group_reference ? as_chains_warp(&c->timer.dev->info) : 1;
    for (size_t i = 0; i < ONCE; i += lanes) {
        union as_op_value v[AS_OP_GROUP_MOST][3] = {{{0}}};
        for (unsigned lane = 0; lane < lanes; lane++)
            for (int k = 0; k < 3; k++)
                memcpy(&v[lane][k], values[k] + (i + lane) * as_op_bytes(types[k]), as_op_bytes(types[k]));
        for (unsigned lane = 0; lane < lanes; lane++) {
            union as_op_value r = {0};
            memcpy(&r, values[3] + (i + lane) * as_op_bytes(op->result), as_op_bytes(op->result));
            if (!as_op_agrees(op, c->dialect, (const union as_op_value(*)[3])v, lane, lanes, &r, why, size))
                return false;
        }
    }
    return true;
}

static bool chains_check_once(struct as_chains *c, char *why, size_t size)
{
    const struct as_op_sequence *s = &c->desc.sequence;
    struct as_error err = {0};
    size_t bytes = ONCE * sizeof(uint64_t);
    char *block = malloc(4 * s->n * bytes);
    char *values[4];
    bool good = block != NULL;
    if (!good)
        as_check_no_memory(why, size);
    for (size_t k = 0; k < 4 && good; k++)
        values[k] = block + k * s->n * bytes;
    if (good && chains_check_run_once(c, values, &err)) {
        snprintf(why, size, "%s", err.text);
        good = false;
    }
    for (size_t i = 0; i < s->n && good; i++) {
        char *const own[] = {values[0] + i * bytes, values[1] + i * bytes, values[2] + i * bytes,
                             values[3] + i * bytes};
        good = agree_once(c, s->part[i].op, own, why, size);
    }
    free(block);
    return good;
}

/* Ends of the chains after `turns` turns of a body. */
static enum as_status ends_of(struct as_chains *c, enum as_chains_kernel which, uint32_t turns, void *end,
                              struct as_error *err)
{
    double unused;
    struct as_device *dev = c->timer.dev;
    memset(end, 0x5a, c->ends_bytes);
    enum as_status st = dev->memory->write(dev, c->ends, 0, end, c->ends_bytes, err);
    if (!st)
        st = as_chains_launch(c, which, turns, &unused, err);
    return st ? st : dev->memory->read(dev, c->ends, 0, end, c->ends_bytes, err);
}

static bool chains_check_ends(struct as_chains *c, char *why, size_t size)
{
    const struct {
        enum as_chains_kernel kernel;
        uint32_t steps;
        const char *name;
    } bodies[] = {{AS_CHAINS_HALF, c->desc.steps / 2, "short"}, {AS_CHAINS_WHOLE, c->desc.steps, "long"}};
    enum { TWELVE = 12, TURNS = 3 };
    struct as_error err = {0};
    for (size_t i = 0; i < 2; i++) {
        if (ends_of(c, AS_CHAINS_WALK, TURNS * bodies[i].steps / TWELVE, c->end[0], &err) ||
            ends_of(c, bodies[i].kernel, TURNS, c->end[1], &err)) {
            snprintf(why, size, "%s", err.text);
            return false;
        }
        if (memcmp(c->end[0], c->end[1], c->ends_bytes) != 0) {
            snprintf(why, size, "chains of the %s body do not end where %u single steps end", bodies[i].name,
                     TURNS * bodies[i].steps);
            return false;
        }
    }
    return true;
}

bool as_chains_check(struct as_chains *c, char *why, size_t size)
{
    if (!chains_check_once(c, why, size) || !chains_check_ends(c, why, size))
        return false;
    snprintf(why, size, "%zu results equal the host's, and all chains end where single steps end",
             c->desc.sequence.n * ONCE);
    return true;
}
