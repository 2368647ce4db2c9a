#include "sensor/demand.h"

#include "base/clock.h"

#include <math.h>

extern const struct as_demand_source as_demand_uncore, as_demand_resctrl, as_demand_gpm, as_demand_amdgpu,
    as_demand_amc, as_demand_rails, as_demand_rapl, as_demand_scopes;
const struct as_demand_source *const as_demand_sources[] = {&as_demand_uncore, &as_demand_resctrl, &as_demand_gpm,
                                                            &as_demand_amdgpu, &as_demand_amc,     &as_demand_rails,
                                                            &as_demand_rapl,   &as_demand_scopes,  NULL};

void as_demand_open(struct as_demand *d, const char *root, const struct as_device_info *info, struct as_buf *available,
                    struct as_buf *why_not)
{
    *d = (struct as_demand){.began = NAN};
    for (size_t i = 0; as_demand_sources[i]; i++) {
        const struct as_demand_source *s = as_demand_sources[i];
        struct as_error err = {0};
        if (!s->serves(info))
            continue;
        if (s->open(root, info, &d->ctx[i], &err))
            as_buf_printf(why_not, "%s%s: %s", why_not->len ? "; " : "", s->title, err.text);
        else
            as_buf_printf(available, "%s%s", available->len ? ", " : "", s->name);
    }
}

void as_demand_begin(struct as_demand *d)
{
    for (size_t i = 0; as_demand_sources[i]; i++)
        if (d->ctx[i])
            as_demand_sources[i]->begin(d->ctx[i]);
    d->began = as_now();
}

void as_demand_tick(struct as_demand *d)
{
    const double seconds = as_now() - d->began;
    for (size_t i = 0; as_demand_sources[i]; i++)
        if (d->ctx[i] && as_demand_sources[i]->tick && seconds > 0)
            as_demand_sources[i]->tick(d->ctx[i], seconds);
}

void as_demand_end(struct as_demand *d, struct as_demand_seen *out)
{
    const double seconds = as_now() - d->began;
    *out = (struct as_demand_seen){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    d->began = NAN;
    if (!(seconds > 0))
        return;
    for (size_t i = 0; as_demand_sources[i]; i++)
        if (d->ctx[i])
            as_demand_sources[i]->end(d->ctx[i], seconds, out);
}

void as_demand_close(struct as_demand *d)
{
    for (size_t i = 0; as_demand_sources[i]; i++) {
        if (d->ctx[i])
            as_demand_sources[i]->close(d->ctx[i]);
        d->ctx[i] = NULL;
    }
}
