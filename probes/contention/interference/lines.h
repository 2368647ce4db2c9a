/* Memory of one side, as lines of eight words of known content: reads can be checked, and writes to a shared allocation
 * store what is there already. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_LINES_H
#define AS_PROBES_CONTENTION_INTERFERENCE_LINES_H

#include "lib/chase/chase.h"

/* What a side does. */
enum op { OP_READ, OP_WRITE, OP_WRITE_NT, OP_ATOMIC, OP_CHASE, OP_H2D, OP_D2H, OPS };

enum { LINE_BYTES = 64, LINE_WORDS = 8, ATOMIC_WORD = 1, PIECE_LINES = 1024 };
#define LINE_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Word w of line i is mark + i * LINE_FACTOR; in a chase, word 0 is the number of the next line. */
struct lines {
    struct as_device *dev; /* NULL: host memory unknown to any API */
    struct as_memory *memory;
    uint64_t *host; /* address on the CPU, NULL if it has none */
    uint64_t n, mark;
    bool chased, mapped;
    struct as_cycle cycle;
};
struct lines_desc {
    struct as_device *dev;
    const char *allocator; /* of dev */
    const char *use;       /* in dev's arena: sides do not share an arena */
    uint64_t bytes, seed;
    bool chased;
    bool mapped; /* the CPU accesses it too */
};
enum as_status as_lines_make(struct lines *l, const struct lines_desc *desc, struct as_error *err);
void as_lines_finish(struct lines *l); /* accepts a zeroed or incomplete one */

static inline uint64_t line_value(uint64_t mark, uint64_t line)
{
    return mark + line * LINE_FACTOR;
}
/* Word 0 of a line, which no side changes in a chase. */
uint64_t as_lines_first(const struct lines *l, uint64_t line, uint64_t mark);
/* Sum of all words of lines [first, first + count) as filled. */
uint64_t as_lines_sum(const struct lines *l, uint64_t first, uint64_t count);

#endif
