/* Every operation as NVRTC compiles it for the architecture that is asked for, without a device: the program compiles,
 * and every step of its chains holds the instruction that the operation is about; with "brief" behind it one operation
 * in so many, with "bodies" the loops of the length, and of the number of chains, that probe alu runs. Or sequences of
 * them, where "sequences" is asked for. Skipped where there is no NVRTC. */
#include "../ops_batch.h"
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

extern const char *const as_mix_words[];

enum { MIX_ILP = 2, ALU_ILP = 4 /* as in these probes */, ARCHITECTURES = 4 };

static struct ops_batch batch_for(const char *arch, size_t together)
{
    return (struct ops_batch){.arch = arch,
                              .dialect = AS_DIALECT_CUDA,
                              .together = together,
                              .barrier = "BAR",
                              .compile = nvrtc_compile,
                              .count = as_cubin_instructions};
}

static void test_operations(void **state)
{
    char **words = *state;
    const char *arch = words[1];
    const size_t step = words[2] ? OPS_BATCH_BRIEF : 1;
    size_t known = 0;
    unsigned long number = strtoul(arch + strlen("sm_"), NULL, 10);
    struct ops_batch b = batch_for(arch, OPS_BATCH_MOST);
    need_nvrtc();
    for (const struct as_op *op = as_ops; op->name; op++) {
        const struct ops_batch_part part = {.sequence = as_op_alone(op, 0), .name = op->name, .ilp = 1};
        if (ops_batch_has_all(&b, &part.sequence) && as_op_on_nvidia(op, number) && known++ % step == 0)
            ops_batch_add(&b, &part);
    }
    ops_batch_finish(&b, 100 / step);
}

/* Compilers choose between equivalent instructions, in a proportion that depends on the loop. Operations of many
 * instructions have the shortest bodies in the other test already. About a quarter is compiled for each architecture,
 * since it takes long; a cell's own gate counts its instructions on the device at hand. */
static void test_bodies(void **state)
{
    enum { WEIGHT_MOST = 4 };
    const char *arch = ((char **)*state)[1];
    const unsigned long number = strtoul(arch + strlen("sm_"), NULL, 10);
    struct ops_batch b = batch_for(arch, OPS_BATCH_MOST);
    size_t known = number > 100 ? 3 : number > 90 ? 2 : number > 80 ? 1 : 0;
    need_nvrtc();
    for (const struct as_op *op = as_ops; op->name; op++) {
        const unsigned ilp = op->alone ? 1 : ALU_ILP;
        struct as_op_sequence alone = as_op_alone(op, 0);
        as_op_sequence_pass(&alone);
        const struct ops_batch_part part = {
            .sequence = alone, .name = op->name, .ilp = ilp, .steps = as_op_sequence_steps(&alone, ilp, AS_OP_BODY)};
        if (ops_batch_has_all(&b, &alone) && as_op_on_nvidia(op, number) &&
            as_op_sequence_weight(&alone) <= WEIGHT_MOST && known++ % ARCHITECTURES == 0)
            ops_batch_add(&b, &part);
    }
    ops_batch_finish(&b, 100 / ARCHITECTURES);
}

/* Throughput of what shares a pipe with logic is measured without a link: it would be half of it. */
static void test_without_links(void **state)
{
    const char *arch = ((char **)*state)[1];
    const unsigned long number = strtoul(arch + strlen("sm_"), NULL, 10);
    struct ops_batch b = batch_for(arch, OPS_BATCH_MOST);
    need_nvrtc();
    for (const struct as_op *op = as_ops; op->name; op++) {
        struct as_op_sequence alone = as_op_alone(op, 0);
        as_op_sequence_pass(&alone);
        const struct ops_batch_part part = {.sequence = alone, .name = op->name, .ilp = ALU_ILP, .without = "LOP3"};
        if (op->passes && ops_batch_has_all(&b, &alone) && as_op_on_nvidia(op, number))
            ops_batch_add(&b, &part);
    }
    ops_batch_finish(&b, 5);
}

/* The compiler merges two chains of f16 into one of pairs, which the count must detect. */
static bool is_packed(const struct as_op_sequence *sequence)
{
    unsigned halves = 0;
    for (size_t i = 0; i < sequence->n; i++)
        halves += sequence->part[i].op->type == AS_OP_F16 ? sequence->part[i].count : 0;
    return halves * MIX_ILP > 1;
}

/* There are many of them, compiled separately: this compiles a sample. */
enum { PAIRS_STEP = 4 };
static bool is_pair(const struct as_op_sequence *sequence)
{
    return sequence->n == 2 && sequence->part[0].count == 1 && sequence->part[1].count == 1;
}

/* Reversing the bits twice does nothing, which the assembler detects in some sources that contain other operations:
 * compiles each separately, as the probe does. */
static bool undoes_itself(const struct as_op_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++)
        if (strncmp(sequence->part[i].op->name, "brev", 4) == 0)
            return true;
    return false;
}

/* Sequences of probe mix without operations that CUDA lacks; for one architecture, since each of their operations is
 * compiled for all. */
UNIT_TEST(test_sequences)
{
    need_nvrtc();
    struct ops_batch together = batch_for("sm_90a", OPS_BATCH_MOST), alone = batch_for("sm_90a", 1);
    size_t pairs = 0;
    for (const char *const *word = as_mix_words; *word; word++) {
        struct ops_batch_part part = {.name = *word, .ilp = MIX_ILP};
        struct as_error err = {0};
        if (as_op_sequence_parse(*word, &part.sequence, &err)) {
            assert_non_null(strstr(*word, "sin_pt_"));
            continue;
        }
        part.fails = is_packed(&part.sequence);
        if (ops_batch_has_all(&alone, &part.sequence) && !(is_pair(&part.sequence) && ++pairs % PAIRS_STEP))
            ops_batch_add(undoes_itself(&part.sequence) ? &alone : &together, &part);
    }
    assert_true(pairs > 100);
    ops_batch_finish(&together, 90);
    ops_batch_finish(&alone, 1);
}

int main(int argc, char **argv)
{
    const bool bodies = argc > 2 && strcmp(argv[2], "bodies") == 0;
    if (argc < 2 || (argc > 2 && !bodies && strcmp(argv[2], "brief") != 0))
        return 2;
    const struct CMUnitTest operations[] = {cmocka_unit_test_prestate(test_operations, argv)},
                            loops[] = {cmocka_unit_test_prestate(test_bodies, argv),
                                       cmocka_unit_test_prestate(test_without_links, argv)},
                            sequences[] = {cmocka_unit_test(test_sequences)};
    if (strcmp(argv[1], "sequences") == 0)
        return cmocka_run_group_tests(sequences, NULL, NULL);
    return bodies ? cmocka_run_group_tests(loops, NULL, NULL) : cmocka_run_group_tests(operations, NULL, NULL);
}
