#include "sides.h"

#include <math.h>

static const double PATIENCE_S = 2;

/* ---- threads of the CPU ---- */

enum as_status as_cpu_side_make(struct cpu_side *s, const struct cpu_side_desc *desc, struct as_error *err)
{
    *s = (struct cpu_side){.pieces = 1};
    enum as_status st = as_host_work_make(&s->work, desc->op, desc->lines, desc->keeps, desc->threads, err);
    const struct crew_desc crew = {.threads = desc->threads,
                                   .cpus = desc->cpus,
                                   .priority = desc->priority,
                                   .load = desc->load,
                                   .piece = as_host_work_piece,
                                   .user = &s->work,
                                   .patience_s = PATIENCE_S};
    return st ? st : as_crew_create(&crew, &s->crew, err);
}

void as_cpu_side_finish(struct cpu_side *s)
{
    as_crew_destroy(s->crew);
    as_host_work_finish(&s->work);
    *s = (struct cpu_side){0};
}

static enum as_status cpu_work(void *self, struct as_error *err)
{
    struct cpu_side *s = self;
    (void)err;
    s->before = as_crew_work(s->crew);
    as_crew_begin(s->crew, s->pieces);
    return AS_OK;
}

static bool cpu_ended(void *self)
{
    return as_crew_ended(((struct cpu_side *)self)->crew);
}

static void cpu_wait(void *self, struct span *out)
{
    const struct cpu_side *s = self;
    as_crew_wait(s->crew, &out->from, &out->to);
    out->seconds = out->to - out->from;
    out->items = (double)(as_crew_work(s->crew) - s->before);
}

static enum as_status cpu_progress(void *self, struct as_error *err)
{
    return as_crew_progress(((struct cpu_side *)self)->crew, err);
}

static enum as_status cpu_start(void *self, struct as_error *err)
{
    as_crew_begin(((struct cpu_side *)self)->crew, 0);
    return cpu_progress(self, err);
}

static void cpu_stop(void *self)
{
    as_crew_stop(((struct cpu_side *)self)->crew);
}

static struct reading cpu_read(void *self)
{
    const double at = as_now();
    return (struct reading){.at = at, .items = (double)as_crew_work(((struct cpu_side *)self)->crew)};
}

const struct side_ops cpu_side_ops = {.work = cpu_work,
                                      .ended = cpu_ended,
                                      .wait = cpu_wait,
                                      .start = cpu_start,
                                      .progress = cpu_progress,
                                      .stop = cpu_stop,
                                      .read = cpu_read};

enum as_status as_cpu_side_calibrate(struct cpu_side *s, double seconds, struct as_error *err)
{
    struct span span = {.seconds = 0};
    for (int tries = 0; tries < 8; tries++) {
        enum as_status st = cpu_work(s, err);
        if (st)
            return st;
        cpu_wait(s, &span);
        if (span.seconds >= 0.6 * seconds)
            break;
        s->pieces = (uint64_t)ceil((double)s->pieces * fmin(fmax(seconds / span.seconds, 1.5), 100));
    }
    return AS_OK;
}

/* ---- a device ---- */

enum as_status as_device_side_make(struct device_side *s, const struct gpu_desc *desc, unsigned load,
                                   struct as_error *err)
{
    *s = (struct device_side){.load = load};
    return as_gpu_work_make(&s->work, desc, err);
}

void as_device_side_finish(struct device_side *s)
{
    as_gpu_work_finish(&s->work);
    *s = (struct device_side){0};
}

static enum as_status device_launch(void *self, struct as_error *err)
{
    struct device_side *s = self;
    s->from = as_now();
    enum as_status st = as_gpu_work_run(&s->work, &s->seconds, err);
    s->items += st ? 0 : as_gpu_work_items(&s->work);
    s->at = s->work.ended;
    return st;
}

static bool device_ended(void *self)
{
    (void)self;
    return true;
}

static void device_wait(void *self, struct span *out)
{
    const struct device_side *s = self;
    *out = (struct span){
        .from = s->from, .to = s->work.ended, .seconds = s->seconds, .items = as_gpu_work_items(&s->work)};
}

static enum as_status device_step(void *self, struct as_error *err)
{
    struct device_side *s = self;
    enum as_status st = device_launch(self, err);
    const double until = s->work.ended + (s->work.ended - s->from) * (100.0 / s->load - 1);
    while (!st && as_now() < until)
        as_relax();
    s->at = s->load < 100 ? as_now() : s->work.ended;
    return st;
}

static void device_stop(void *self)
{
    (void)self; /* each launch has ended when it returns */
}

static struct reading device_read(void *self)
{
    const struct device_side *s = self;
    return (struct reading){.at = s->at, .items = s->items};
}

const struct side_ops device_side_ops = {.work = device_launch,
                                         .ended = device_ended,
                                         .wait = device_wait,
                                         .start = device_step,
                                         .step = device_step,
                                         .stop = device_stop,
                                         .read = device_read};
