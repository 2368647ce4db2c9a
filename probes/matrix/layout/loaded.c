/* Operands of unspecified layout: their own load instruction reads a matrix with one nonzero element, and the registers
 * show its slots. */
#include "layout_unit.h"

#include <stdlib.h>
#include <string.h>

struct loading {
    struct layout_unit *u;
    const struct as_matrix *matrix;
    struct as_kernel_timer timer;
    size_t count;                              /* problems: elements of the largest operand */
    struct as_memory *in[AS_MATRIX_OPERANDS];  /* matrices */
    struct as_memory *out[AS_MATRIX_OPERANDS]; /* registers */
};

static size_t elements_of(const struct loading *l, enum as_matrix_operand which)
{
    return as_matrix_count(l->matrix, which, l->u->fragments.n);
}

static unsigned bits_of(const struct loading *l, enum as_matrix_operand which)
{
    return as_matrix_format(l->matrix, which)->bits;
}

/* Problem i has a one in element i. */
static enum as_status loading_write(struct loading *l, enum as_matrix_operand which, struct as_error *err)
{
    struct as_device *dev = l->timer.dev;
    const size_t each = as_image_bytes(l->matrix, which, l->u->fragments.n), elements = elements_of(l, which);
    uint64_t *one = calloc(elements, sizeof *one);
    unsigned char *image = calloc(l->count, each);
    enum as_status st = one && image ? AS_OK : as_nomem(err, l->count * each, "matrices of one element");
    for (size_t i = 0; i < elements && !st; i++) {
        one[i] = as_number_nearest(as_matrix_format(l->matrix, which), 1);
        as_image_pack(l->matrix, which, l->u->fragments.n, 0, one, image + i * each);
        one[i] = 0;
    }
    if (!st)
        st = as_kernel_timer_keep_memory(&l->timer, l->count * each, &l->in[which], err);
    if (!st)
        st = as_kernel_timer_keep_memory(&l->timer, l->count * l->u->fragments.bytes[which], &l->out[which], err);
    if (!st)
        st = dev->memory->write(dev, l->in[which], 0, image, l->count * each, err);
    free(one);
    free(image);
    return st;
}

static enum as_status loading_launch(struct loading *l, struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(l->in[AS_MATRIX_A]),  as_memory_arg(l->in[AS_MATRIX_B]),
                                  as_memory_arg(l->in[AS_MATRIX_C]),  as_memory_arg(l->out[AS_MATRIX_A]),
                                  as_memory_arg(l->out[AS_MATRIX_B]), as_memory_arg(l->out[AS_MATRIX_C])};
    return as_kernel_timer_once(&l->timer, "loaded", args, sizeof args / sizeof *args, l->count, l->matrix->lanes, err);
}

static bool is_nonzero(const unsigned char *image, size_t slot, unsigned bits)
{
    bool any = false;
    for (size_t bit = slot * bits; bit < (slot + 1) * bits; bit++)
        any |= image[bit / 8] >> bit % 8 & 1;
    return any;
}

/* Slots that the one element fills: the first gets its row and column, the others are copies of it. */
static enum as_status take_element(const struct loading *l, enum as_matrix_operand which, size_t element,
                                   const unsigned char *image, struct as_error *err)
{
    struct layout_unit *u = l->u;
    const unsigned columns = as_matrix_cols(l->matrix, which, u->fragments.n), bits = bits_of(l, which);
    const size_t slots = u->fragments.bytes[which] * 8 / bits;
    size_t first = slots;
    for (size_t s = 0; s < slots; s++) {
        if (!is_nonzero(image, s, bits))
            continue;
        if (u->first[which][s] != s || u->loaded[which][s].row != AS_SLOT_NONE)
            return as_fail(err, AS_FAILED,
                           "the load instruction puts two elements into register slot %zu of operand %c", s,
                           "abc"[which]);
        first = first == slots ? s : first;
        u->first[which][s] = (uint32_t)first;
        if (first == s)
            u->loaded[which][s] = (struct as_slot){(uint16_t)(element / columns), (uint16_t)(element % columns)};
    }
    return first < slots ? AS_OK
                         : as_fail(err, AS_FAILED, "the load instruction drops row %zu, column %zu of operand %c",
                                   element / columns, element % columns, "abc"[which]);
}

static enum as_status loading_take(struct loading *l, enum as_matrix_operand which, struct as_error *err)
{
    struct layout_unit *u = l->u;
    struct as_device *dev = l->timer.dev;
    const size_t each = u->fragments.bytes[which], slots = each * 8 / bits_of(l, which);
    unsigned char *image = malloc(l->count * each);
    u->first[which] = calloc(slots, sizeof *u->first[which]);
    u->loaded[which] = calloc(slots, sizeof *u->loaded[which]);
    enum as_status st =
        image && u->first[which] && u->loaded[which] ? AS_OK : as_nomem(err, l->count * each, "loaded registers");
    for (size_t s = 0; s < slots && !st; s++) {
        u->first[which][s] = (uint32_t)s;
        u->loaded[which][s] = (struct as_slot){AS_SLOT_NONE, AS_SLOT_NONE};
    }
    if (!st)
        st = dev->memory->read(dev, l->out[which], 0, image, l->count * each, err);
    for (size_t i = 0; i < elements_of(l, which) && !st; i++)
        st = take_element(l, which, i, image + i * each, err);
    free(image);
    return st;
}

static enum as_status loading_build(struct loading *l, struct as_device *dev, struct as_error *err)
{
    extern const char as_kernel_loaded[];
    struct as_buf text = AS_BUF_INIT;
    as_matrix_source(l->matrix, l->u->fragments.n, NULL, &text);
    as_buf_str(&text, as_kernel_loaded);
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_kernel_timer_prepare(&l->timer, dev, l->matrix->name, "", as_buf_get(&text), NULL, 1, err);
    as_buf_finish(&text);
    return st;
}

enum as_status as_layout_load(struct layout_unit *u, struct as_device *dev, const struct as_matrix *matrix,
                              struct as_error *err)
{
    struct loading l = {.u = u, .matrix = matrix};
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        const size_t elements = elements_of(&l, (enum as_matrix_operand)which);
        l.count = elements > l.count ? elements : l.count;
    }
    enum as_status st = loading_build(&l, dev, err);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS && !st; which++)
        st = loading_write(&l, (enum as_matrix_operand)which, err);
    if (!st)
        st = loading_launch(&l, err);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS && !st; which++)
        st = loading_take(&l, (enum as_matrix_operand)which, err);
    as_kernel_timer_finish(&l.timer);
    return st;
}
