/* Every operation, compiled by clang for AMD chips without a device: the program compiles, every step of its chains
 * contains the expected instruction, and machine code and assembly have the same names. With "brief" after the chip a
 * sample of the operations. Skipped without such a compiler. */
#include "../ops_batch.h"
#include "assembly.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two chains, so that a compiler might merge steps; one for operations of many instructions. */
enum { LONG = 8 };
static const char *arch;
static size_t step = 1;

static unsigned chains_of(const struct as_op *op)
{
    return op->weight > LONG || op->alone ? 1 : 2;
}

/* From the assembly. The machine code must agree. */
static enum as_status count_both_ways(const unsigned char *text, size_t bytes, const char *kernel,
                                      struct as_instructions *out, struct as_error *err)
{
    enum as_status st = assembly_instructions(text, kernel, out, err);
    return st ? st : assembly_compare(text, bytes, kernel, err);
}

UNIT_TEST(test_operations)
{
    struct ops_batch b = {.arch = arch,
                          .dialect = AS_DIALECT_HIP,
                          .defines = "-Wno-macro-redefined",
                          .together = OPS_BATCH_MOST,
                          .compile = assembly_of,
                          .count = count_both_ways};
    size_t known = 0;
    for (const struct as_op *op = as_ops; op->name; op++) {
        const struct ops_batch_part part = {.sequence = as_op_alone(op, 0), .name = op->name, .ilp = chains_of(op)};
        if (ops_batch_has_all(&b, &part.sequence) && as_op_on_amd(op, arch) && known++ % step == 0)
            ops_batch_add(&b, &part);
    }
    ops_batch_finish(&b, 100 / step);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations)};
    const char *clang = getenv("ASSAY_HIP_CLANG");
    if (argc < 2 || (argc > 2 && strcmp(argv[2], "brief") != 0))
        return 2;
    arch = argv[1];
    step = argc > 2 ? OPS_BATCH_BRIEF : 1;
    if (!clang || !clang[0]) {
        puts("skipped: no clang of version 17 or later, which compiles for AMD chips; install clang-19");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
