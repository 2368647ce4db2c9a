/* The experiment on the CPU: single-steps both functions and counts the difference. */
#include "codegen.h"

#include "base/text.h"

#include <string.h>

struct tally {
    int instructions, wanted, swaps, calls;
    const char *wanted_name, *swap_name;
};

static struct codegen_instruction decode(const struct codegen_native *f, size_t at)
{
#if defined(__aarch64__)
    uint32_t word;
    memcpy(&word, f->start + at, sizeof word);
    return as_codegen_decode_arm(word);
#else
    return as_codegen_decode_x86(f->start + at, (size_t)(f->stop - f->start) - at);
#endif
}

static void codegen_add(struct tally *t, const struct codegen_instruction *i, enum codegen_op op)
{
    t->instructions += i->class != CLASS_NOTHING;
    t->swaps += i->class == CLASS_SWAP;
    t->calls += i->class == CLASS_CALL;
    if (i->class == CLASS_SWAP)
        t->swap_name = i->name;
    if (i->class == CLASS_WANTED && i->op == op) {
        t->wanted++;
        t->wanted_name = i->name;
    }
}

static enum as_status look_through(const struct codegen_case *c, bool many, struct tally *t, union codegen_data *d,
                                   struct as_error *err)
{
    unsigned char marks[CODEGEN_CODE_MAX];
    const struct codegen_native *f = as_codegen_native_of(c, many);
    *t = (struct tally){0};
    if (!f)
        return as_fail(err, AS_UNSUPPORTED, "C has no such operation on this type");
    as_codegen_start(c, d);
    enum as_status st = as_codegen_walk(f, d, marks, err);
    for (size_t at = 0; !st && at < (size_t)(f->stop - f->start); at++) {
        struct codegen_instruction i = {.class = CLASS_NOTHING};
        if (marks[at])
            i = decode(f, at);
        codegen_add(t, &i, c->op);
    }
    return st;
}

enum codegen_kind as_codegen_kind_of(const struct codegen_found *found)
{
    return found->swaps > 0    ? KIND_LOOP
           : found->wanted > 0 ? KIND_NATIVE
           : found->calls > 0  ? KIND_CALL
                               : KIND_EMULATED;
}

enum as_status as_codegen_cpu(const struct codegen_case *c, struct codegen_found *found, union codegen_data *got,
                              struct as_error *err)
{
    struct tally few, many;
    enum as_status st = look_through(c, false, &few, got, err);
    if (!st)
        st = look_through(c, true, &many, got, err);
    if (st)
        return st;
    *found = (struct codegen_found){.instructions = (double)(many.instructions - few.instructions) / CODEGEN_MORE,
                                    .wanted = (double)(many.wanted - few.wanted) / CODEGEN_MORE,
                                    .swaps = (double)(many.swaps - few.swaps) / CODEGEN_MORE,
                                    .calls = (double)(many.calls - few.calls) / CODEGEN_MORE};
    static const char *const others[] = {[KIND_CALL] = "a called function", [KIND_EMULATED] = "other instructions"};
    enum codegen_kind kind = as_codegen_kind_of(found);
    as_copy_text(found->by, sizeof found->by,
                 kind == KIND_LOOP     ? many.swap_name
                 : kind == KIND_NATIVE ? many.wanted_name
                                       : others[kind]);
    return AS_OK;
}
