/* Encoders of the stand-in: they write commands into command buffers, which hold the objects used. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

void fake_drop_command(struct command *c)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        fake_drop((id)c->buffers[i]); /* the object comes first in each */
    fake_drop((id)c->pipeline);
    fake_drop((id)c->from);
    fake_drop((id)c->to);
    for (unsigned i = 0; i < 3; i++)
        fake_drop((id)c->gemm.factors[i].buffer);
}

static void encoder_dealloc(id self)
{
    struct encoder *e = (struct encoder *)self;
    fake_drop_command(&e->state);
    if (!e->ended)
        fake_broke("released before endEncoding", "encoder");
    fake_drop(&e->commands->object);
}

struct fake_class fake_encoder_class = {
    .name = "FakeEncoder", .size = sizeof(struct encoder), .dealloc = encoder_dealloc};

static struct encoder *encoder_of(id self, bool compute, const char *sel)
{
    struct encoder *e = (struct encoder *)self;
    if (e->ended || e->compute != compute)
        fake_broke(e->ended ? "the encoder has ended" : "not for an encoder of this kind", sel);
    return e;
}

static void add(struct commands *to, struct command c)
{
    struct command *k = malloc(sizeof *k);
    if (!k)
        abort();
    *k = c;
    k->next = NULL;
    for (unsigned i = 0; i < BUFFERS; i++)
        fake_retain((id)k->buffers[i]);
    fake_retain((id)k->pipeline);
    fake_retain((id)k->from);
    fake_retain((id)k->to);
    for (unsigned i = 0; i < 3; i++)
        fake_retain((id)k->gemm.factors[i].buffer);
    *to->last = k;
    to->last = &k->next;
}

static void encoder_end(id self, SEL sel)
{
    struct encoder *e = (struct encoder *)self;
    if (e->ended)
        fake_broke("ended twice", sel);
    e->ended = true;
    e->commands->encoding = false;
}

static void encoder_pipeline(id self, SEL sel, id pipeline)
{
    struct encoder *e = encoder_of(self, true, sel);
    if (!fake_is(pipeline, &fake_pipeline_class)) {
        fake_broke("no pipeline", sel);
        return;
    }
    if (e->state.pipeline)
        fake_drop(&e->state.pipeline->object);
    e->state.pipeline = (struct pipeline *)fake_retain(pipeline);
}

static bool place(struct encoder *e, NSUInteger index, const char *sel)
{
    if (index >= BUFFERS) {
        fake_broke("an index beyond the last", sel);
        return false;
    }
    if (e->state.buffers[index])
        fake_drop(&e->state.buffers[index]->object);
    e->state.buffers[index] = NULL;
    e->state.in_bytes &= ~(1u << index);
    e->state.bound |= 1u << index;
    return true;
}

static void encoder_buffer(id self, SEL sel, id buffer, NSUInteger offset, NSUInteger index)
{
    struct encoder *e = encoder_of(self, true, sel);
    if (!fake_is(buffer, &fake_buffer_class) || offset >= ((struct buffer *)buffer)->length) {
        fake_broke("no buffer, or an offset beyond its end", sel);
        return;
    }
    if (place(e, index, sel)) {
        e->state.buffers[index] = (struct buffer *)fake_retain(buffer);
        e->state.offsets[index] = offset;
    }
}

static void encoder_bytes(id self, SEL sel, const void *bytes, NSUInteger length, NSUInteger index)
{
    struct encoder *e = encoder_of(self, true, sel);
    if (length == 0 || length > sizeof e->state.bytes[0]) {
        fake_broke("more bytes than this stand-in takes, or none", sel);
        return;
    }
    if (place(e, index, sel)) {
        memset(e->state.bytes[index], 0xa5, sizeof e->state.bytes[index]);
        memcpy(e->state.bytes[index], bytes, length);
        e->state.in_bytes |= 1u << index;
    }
}

static void encoder_dispatch(id self, SEL sel, MTLSize groups, MTLSize threads)
{
    struct encoder *e = encoder_of(self, true, sel);
    const NSUInteger most = fake_asked("registers") ? 448 : GROUP_MOST;
    if (!e->state.pipeline || groups.height != 1 || groups.depth != 1 || threads.height != 1 || threads.depth != 1 ||
        !groups.width || !threads.width || threads.width > most) {
        fake_broke("no pipeline, or a shape that it does not have", sel);
        return;
    }
    struct command c = e->state;
    c.what = DISPATCH;
    c.groups = (unsigned)groups.width;
    c.threads = (unsigned)threads.width;
    add(e->commands, c);
}

static bool inside(id buffer, NSUInteger at, NSUInteger size)
{
    const struct buffer *b = (struct buffer *)buffer;
    return fake_is(buffer, &fake_buffer_class) && at <= b->length && size <= b->length - at && size > 0;
}

static void encoder_copy(id self, SEL sel, id from, NSUInteger from_at, id to, NSUInteger to_at, NSUInteger size)
{
    struct encoder *e = encoder_of(self, false, sel);
    if (!inside(from, from_at, size) || !inside(to, to_at, size)) {
        fake_broke("a range that is not of its buffer", sel);
        return;
    }
    add(e->commands, (struct command){.what = COPY,
                                      .from = (struct buffer *)from,
                                      .from_at = from_at,
                                      .to = (struct buffer *)to,
                                      .to_at = to_at,
                                      .size = size});
}

static void encoder_synchronize(id self, SEL sel, id buffer)
{
    struct encoder *e = encoder_of(self, false, sel);
    if (!fake_is(buffer, &fake_buffer_class) || !((struct buffer *)buffer)->shown) {
        fake_broke("not managed memory", sel);
        return;
    }
    add(e->commands, (struct command){.what = SYNCHRONIZE, .from = (struct buffer *)buffer});
}

/* Commands encoded by a library, with its own encoders. */
void fake_encode_product(id commands, const struct fake_product *p, const char *sel)
{
    struct commands *c = (struct commands *)commands;
    if (c->encoding || c->status) {
        fake_broke(c->status ? "the command buffer is committed" : "the encoder before has not ended", sel);
        return;
    }
    add(c, (struct command){.what = PRODUCT, .gemm = *p});
}

static const struct fake_method methods[] = {
    FAKE_METHOD(&fake_encoder_class, "endEncoding", encoder_end),
    FAKE_METHOD(&fake_encoder_class, "setComputePipelineState:", encoder_pipeline),
    FAKE_METHOD(&fake_encoder_class, "setBuffer:offset:atIndex:", encoder_buffer),
    FAKE_METHOD(&fake_encoder_class, "setBytes:length:atIndex:", encoder_bytes),
    FAKE_METHOD(&fake_encoder_class, "dispatchThreadgroups:threadsPerThreadgroup:", encoder_dispatch),
    FAKE_METHOD(&fake_encoder_class, "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:", encoder_copy),
    FAKE_METHOD(&fake_encoder_class, "synchronizeResource:", encoder_synchronize),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&fake_encoder_class, NULL};
    fake_classes(list);
    fake_methods(methods);
}
