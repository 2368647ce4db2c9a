/* Metal Performance Shaders of the stand-in: matrices, and multiplication by definition. */
#include "metal.h"

#include <math.h>
#include <stdlib.h>

API BOOL MPSSupportsMTLDevice(id device);

struct descriptor {
    struct fake_object object;
    NSUInteger rows, columns, row_bytes;
    uint32_t type;
};
struct matrix {
    struct fake_object object;
    struct buffer *buffer;
    struct descriptor as; /* its object is not one */
};
struct gemm {
    struct fake_object object;
    BOOL left, right;
    NSUInteger rows, columns, inner;
};

static void matrix_dealloc(id self)
{
    fake_drop((id)((struct matrix *)self)->buffer);
}

static struct fake_class descriptor_class = {.name = "MPSMatrixDescriptor", .size = sizeof(struct descriptor)};
static struct fake_class matrix_class = {.name = "MPSMatrix", .size = sizeof(struct matrix), .dealloc = matrix_dealloc};
static struct fake_class product_class = {.name = "MPSMatrixMultiplication", .size = sizeof(struct gemm)};

BOOL MPSSupportsMTLDevice(id device)
{
    if (!fake_is(device, &fake_device_class))
        fake_broke("no device", "MPSSupportsMTLDevice");
    return !fake_asked("nomps");
}

static id matrix_alloc(id self, SEL sel)
{
    (void)sel;
    return fake_new((const struct fake_class *)self);
}

static id descriptor_make(id self, SEL sel, NSUInteger rows, NSUInteger columns, NSUInteger row_bytes, uint32_t type)
{
    const unsigned bits = type & 0xffu;
    (void)self;
    if (rows == 0 || columns == 0 || (type != (0x10000000u | 16) && type != (0x10000000u | 32)) ||
        row_bytes < columns * bits / 8 || row_bytes % (bits / 8))
        fake_broke("a matrix of a kind that there is not", sel);
    struct descriptor *d = (struct descriptor *)fake_new(&descriptor_class);
    d->rows = rows;
    d->columns = columns;
    d->row_bytes = row_bytes;
    d->type = type;
    return fake_autorelease(&d->object);
}

static id matrix_init(id self, SEL sel, id buffer, id descriptor)
{
    struct matrix *m = (struct matrix *)self;
    if (!fake_is(buffer, &fake_buffer_class) || !fake_is(descriptor, &descriptor_class)) {
        fake_broke("no buffer, or no descriptor", sel);
        return self;
    }
    m->as = *(struct descriptor *)descriptor;
    m->buffer = (struct buffer *)fake_retain(buffer);
    if (m->as.rows * m->as.row_bytes > m->buffer->length)
        fake_broke("a matrix beyond its buffer", sel);
    return self;
}

static id product_init(id self, SEL sel, id device, BOOL left, BOOL right, NSUInteger rows, NSUInteger columns,
                       NSUInteger inner, double alpha, double beta)
{
    struct gemm *p = (struct gemm *)self;
    if (!fake_is(device, &fake_device_class) || alpha != 1.0 || beta != 0.0)
        fake_broke("no device, or factors that nobody asked for", sel);
    if (fake_asked("noproduct")) {
        fake_drop(self);
        return NULL;
    }
    p->left = left;
    p->right = right;
    p->rows = rows;
    p->columns = columns;
    p->inner = inner;
    return self;
}

/* f16 without a compiler's type, which may be missing. */
static float of_half(uint16_t code)
{
    const int exponent = code >> 10 & 31, digits = code & 1023;
    const double x = exponent == 31 ? (digits ? NAN : INFINITY)
                     : exponent     ? ldexp(1024 + digits, exponent - 25)
                                    : ldexp(digits, -24);
    return (float)(code >> 15 ? -x : x);
}
static uint16_t to_half(float x)
{
    int exponent;
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x))
        return 0x7e00;
    frexpf(x, &exponent);
    /* exponent of the last place, and the value in these units, rounded to nearest even */
    const int unit = exponent - 11 < -24 || x == 0 ? -24 : exponent - 11;
    const double units = rint(ldexp(fabs((double)x), -unit));
    const double code = units + (unit + 24) * 1024.0;
    return (uint16_t)(sign | (isinf(x) || code > 0x7c00 ? 0x7c00 : (uint16_t)code));
}

static float get(const struct fake_factor *f, NSUInteger row, NSUInteger column)
{
    const char *at = f->buffer->at + row * f->row_bytes;
    return f->bits == 16 ? of_half(((const uint16_t *)at)[column]) : ((const float *)at)[column];
}

static void multiply(const struct fake_product *p)
{
    const struct fake_factor *a = &p->factors[0], *b = &p->factors[1], *d = &p->factors[2];
    for (NSUInteger i = 0; i < p->rows; i++)
        for (NSUInteger j = 0; j < p->columns; j++) {
            float sum = 0;
            for (NSUInteger k = 0; k < p->inner; k++)
                sum += (p->left ? get(a, k, i) : get(a, i, k)) * (p->right ? get(b, j, k) : get(b, k, j));
            char *to = d->buffer->at + i * d->row_bytes;
            if (d->bits == 16)
                ((uint16_t *)to)[j] = to_half(sum);
            else
                ((float *)to)[j] = sum;
        }
}

static bool has(const struct matrix *m, NSUInteger rows, NSUInteger columns)
{
    return m->as.rows == rows && m->as.columns == columns;
}

static void product_encode(id self, SEL sel, id commands, id left, id right, id result)
{
    const struct gemm *p = (struct gemm *)self;
    const id all[] = {left, right, result};
    struct fake_product made = {
        .left = p->left, .right = p->right, .rows = p->rows, .columns = p->columns, .inner = p->inner};
    for (int i = 0; i < 3; i++) {
        const struct matrix *m = (const struct matrix *)all[i];
        if (!fake_is(all[i], &matrix_class)) {
            fake_broke("no matrix", sel);
            return;
        }
        made.factors[i] = (struct fake_factor){m->buffer, m->as.row_bytes, m->as.type & 0xffu};
    }
    if (!has((struct matrix *)left, p->left ? p->inner : p->rows, p->left ? p->rows : p->inner) ||
        !has((struct matrix *)right, p->right ? p->columns : p->inner, p->right ? p->inner : p->columns) ||
        !has((struct matrix *)result, p->rows, p->columns))
        fake_broke("matrices of other sizes than the product's", sel);
    made.perform = multiply;
    fake_encode_product(commands, &made, sel);
}

static const struct fake_method methods[] = {
    FAKE_CLASS_METHOD(&matrix_class, "alloc", matrix_alloc),
    FAKE_CLASS_METHOD(&product_class, "alloc", matrix_alloc),
    FAKE_CLASS_METHOD(&descriptor_class, "matrixDescriptorWithRows:columns:rowBytes:dataType:", descriptor_make),
    FAKE_METHOD(&matrix_class, "initWithBuffer:descriptor:", matrix_init),
    FAKE_METHOD(&product_class,
                "initWithDevice:transposeLeft:transposeRight:resultRows:resultColumns:interiorColumns:alpha:beta:",
                product_init),
    FAKE_METHOD(&product_class, "encodeToCommandBuffer:leftMatrix:rightMatrix:resultMatrix:", product_encode),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&descriptor_class, &matrix_class, &product_class, NULL};
    fake_classes(list);
    fake_methods(methods);
}
