/* Command buffers and their encoders, shared by the files of the stand-in. */
#ifndef AS_TESTS_FAKE_COMMANDS_H
#define AS_TESTS_FAKE_COMMANDS_H

#include "metal.h"

struct queue;
enum what { DISPATCH, COPY, SYNCHRONIZE, PRODUCT };
/* A command and the objects that it holds. */
struct command {
    struct command *next;
    enum what what;
    struct pipeline *pipeline;
    struct buffer *buffers[BUFFERS];
    NSUInteger offsets[BUFFERS];
    unsigned bound, in_bytes; /* one bit per index */
    unsigned char bytes[BUFFERS][16];
    unsigned groups, threads;
    struct buffer *from, *to;
    NSUInteger from_at, to_at, size;
    struct fake_product gemm;
};
struct commands {
    struct fake_object object;
    struct queue *queue;
    struct commands *next;
    struct command *first, **last;
    bool encoding, hangs, timeless;
    NSUInteger status;
    id error;
    NSInteger planned; /* MTLCommandBufferError to report; 0: none */
    double start, end;
    unsigned number; /* with "scripted": the n-th one takes from second n to n + 0.5 */
};
struct encoder {
    struct fake_object object;
    struct commands *commands;
    bool compute, ended;
    struct command state;
};

extern struct fake_class fake_encoder_class;
void fake_drop_command(struct command *c); /* objects held */

#endif
