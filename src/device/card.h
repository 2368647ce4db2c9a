/* What backends of cards do alike, whatever the API. */
#ifndef AS_DEVICE_CARD_H
#define AS_DEVICE_CARD_H

#include "device/info.h"

/* Dialect source of a kernel as_clock(out, ns): in `out` the cycles and nanoseconds of a window of about ns, both 0
 * where the timer stands still. */
extern const char as_card_clock_source[];

/* The machine tree of one card, as far as its driver tells. unit: what its maker calls a unit. */
enum as_status as_card_topology(const struct as_device_info *info, const char *unit, struct as_buf *json,
                                struct as_error *err);

uint64_t as_card_round_up(uint64_t bytes, uint64_t unit);
/* Pages of the host's memory have so many bytes. */
uint64_t as_card_host_page(void);
/* s with "<api>: asked for 200 GiB, 139 GiB<what>" */
enum as_status as_card_too_much(enum as_status s, const char *api, uint64_t bytes, uint64_t limit, const char *what,
                                struct as_error *err);
/* AS_NOMEM where so much memory of the host would be more than half of what is left. */
enum as_status as_card_check_host(const char *api, uint64_t bytes, struct as_error *err);
/* Managed memory is at home on both sides and pushes others' pages out: AS_UNSUPPORTED for more than a tenth of what is
 * free on the side that has less. */
enum as_status as_card_check_managed(const char *api, uint64_t bytes, uint64_t free, struct as_error *err);
/* Whether so much fits into what is free of a device's memory, with some left alone: AS_UNSUPPORTED for what never
 * does, AS_NOMEM for what does not now. */
enum as_status as_card_check_free(const char *api, uint64_t bytes, uint64_t free, uint64_t total, struct as_error *err);
/* AS_USAGE unless count blocks of so many bytes can be counted. */
enum as_status as_card_check_count(const char *api, uint64_t bytes, uint64_t count, struct as_error *err);

#endif
