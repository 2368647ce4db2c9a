#include "report/fold.h"

#include <string.h>

/* Folding one or two would save nothing. */
enum { STAND = 6, MANY = 9 };

/* One matter each, whatever the allocators' names; and updates that are lost are not hidden behind rates of updates. */
static const struct {
    const char *id, *matter;
} matters[] = {{"alloc.", "what allocators cost"},
               {"page_events.", "events of pages"},
               {"accounting.", "who counts memory"},
               {"lost.", "lost updates"}};

static const char *matter_of(const struct as_fact *f)
{
    for (size_t i = 0; i < sizeof matters / sizeof *matters; i++)
        if (strncmp(f->id, matters[i].id, strlen(matters[i].id)) == 0)
            return matters[i].matter;
    return f->object;
}

static bool is_alike(const struct as_fact *a, const struct as_fact *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(matter_of(a), matter_of(b)) == 0;
}

struct alike {
    size_t all, decided; /* facts about the same matter */
    size_t before;       /* those that stand before it */
    size_t decided_before;
};

static struct alike count_alike(const struct as_fact *facts, size_t n, size_t i)
{
    struct alike a = {0};
    for (size_t k = 0; k < n; k++) {
        if (!is_alike(&facts[k], &facts[i]))
            continue;
        bool decided = facts[k].verdict != AS_UNDECIDED;
        a.all++;
        a.decided += decided;
        a.before += k < i;
        a.decided_before += k < i && decided;
    }
    return a;
}

/* What is not decided never takes the place of what is. */
bool as_fact_is_folded(const struct as_fact *facts, size_t n, size_t i)
{
    struct alike a = count_alike(facts, n, i);
    return a.all >= MANY && (facts[i].verdict == AS_UNDECIDED || a.decided_before >= STAND);
}

size_t as_folded_text(const struct as_fact *facts, size_t n, const char *device, struct as_buf *out)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        struct alike a = count_alike(facts, n, i);
        if (a.all < MANY || a.before > 0 || (device && strcmp(facts[i].device, device) != 0))
            continue;
        size_t folded = a.all - (a.decided < STAND ? a.decided : STAND);
        as_buf_printf(out, total ? ", %zu on %s" : "%zu more on %s", folded, matter_of(&facts[i]));
        total += folded;
    }
    return total;
}
