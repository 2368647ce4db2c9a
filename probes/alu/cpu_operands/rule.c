/* CPU instructions by operand: latencies, throughput, and shared ports. */
#include "facts/rule.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the time that a shared port costs at most, how much says that ports are shared, and how much that they are not. */
static const double SHARED = 0.75, APART = 0.25;
/* A mixture as dense as the densest is limited by dispatch, whatever ports it needs. */
static const double DENSE = 0.95;
/* A mixture uses each destination once per step, so it takes at least the latency of an instruction that reads its
 * destination. One that takes no more than this times it says nothing of ports. */
static const double CHAIN = 1.1;

struct cpu_cells {
    struct as_rule_context *c;
    const struct as_cell **cells;
    size_t n;
    double densest; /* instructions per cycle of all mixtures */
};

static bool operands_is_mixture(const struct as_cell *cell)
{
    return as_cell_note(cell, "first") > 0;
}

static const struct as_cell *operands_find(const struct cpu_cells *p, const char *form, const char *what)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(as_cell_axis(p->cells[i], "instruction"), form) == 0 && as_cell_is(p->cells[i], "what", what))
            return p->cells[i];
    return NULL;
}

/* Does the latency of the form from its destination to itself limit the mixture? */
static bool operands_is_chain(const struct cpu_cells *p, const struct as_cell *mixture, const char *form)
{
    const struct as_cell *latency = operands_find(p, form, "1to1");
    return latency && mixture->sum.median <= CHAIN * latency->sum.median;
}

static double operands_density(const struct as_cell *cell)
{
    return (as_cell_note(cell, "first") + as_cell_note(cell, "second")) / cell->sum.median;
}

/* What the table calls an end of a chain, and what people do; an operand is a number, other registers have their name.
 */
static const char *const ends[][2] = {{"base", "the base register"}, {"index", "the index register"}, {"mem", "memory"},
                                      {"cf", "the carry flag"},      {"zf", "the zero flag"},         {NULL, NULL}};

/* Of one end: so many characters. */
static void name_end(char *out, size_t size, const char *end, int length)
{
    for (size_t i = 0; ends[i][0]; i++)
        if ((int)strlen(ends[i][0]) == length && strncmp(ends[i][0], end, (size_t)length) == 0) {
            snprintf(out, size, "%s", ends[i][1]);
            return;
        }
    snprintf(out, size, "%s%.*s", isdigit((unsigned char)*end) ? "operand " : "", length, end);
}

/* Of "2to1" or "raxtordx". */
static void add_latency_text(struct as_fact *f, const struct as_cell *cell)
{
    const char *what = as_cell_axis(cell, "what"), *to = strstr(what, "to");
    char from[32], into[32];
    if (!to)
        return;
    name_end(from, sizeof from, what, (int)(to - what));
    name_end(into, sizeof into, to + 2, (int)strlen(to + 2));
    as_fact_say(f, "{instruction}: {value} from %s to %s", from, into);
}

static void add_operands_cell(const struct cpu_cells *p, const struct as_cell *cell)
{
    const bool throughput = as_cell_is(cell, "what", "throughput");
    struct as_fact *f =
        as_fact_add_cell(p->c, throughput ? AS_FACT_OPERANDS_THROUGHPUT : AS_FACT_OPERANDS_LATENCY, cell, NULL);
    if (!f)
        return;
    if (throughput)
        as_fact_say(f, "{instruction}: {value} each, independent of one another");
    else
        add_latency_text(f, cell);
}

/* The time that a mixture takes beyond the longer of its parts, over that of the shorter: 0 apart, 1 one after the
 * other. */
static void add_operands_ports(const struct cpu_cells *p, const struct as_cell *cell)
{
    const char *a = as_cell_axis(cell, "instruction"), *b = as_cell_axis(cell, "what");
    const struct as_cell *one = operands_find(p, a, "throughput"), *two = operands_find(p, b, "throughput");
    if (!one || !two)
        return;
    const double first = as_cell_note(cell, "first"), second = as_cell_note(cell, "second");
    const struct as_interval ci = as_cell_interval(cell), a_ci = as_cell_interval(one), b_ci = as_cell_interval(two);
    const bool is_first = first * one->sum.median >= second * two->sum.median;
    const double longer = is_first ? first * one->sum.median : second * two->sum.median,
                 shorter = is_first ? second * two->sum.median : first * one->sum.median;
    const double longest = is_first ? first * a_ci.hi : second * b_ci.hi,
                 least = is_first ? first * a_ci.lo : second * b_ci.lo;
    struct as_fact *f = as_fact_add(p->c, AS_FACT_OPERANDS_PORTS, cell, AS_BY(.instruction = a, .other = b));
    if (!f)
        return;
    as_fact_number(f, (cell->sum.median - longer) / shorter,
                   (struct as_interval){(ci.lo - longest) / shorter, (ci.hi - least) / shorter});
    const bool part = f->ci.lo > APART && f->ci.hi < SHARED;
    const bool dense = operands_density(cell) >= DENSE * p->densest && f->value < SHARED;
    const bool apart = f->ci.hi < APART,
               chain = !apart && (operands_is_chain(p, cell, a) || operands_is_chain(p, cell, b));
    const bool same = f->ci.lo > SHARED && !chain;
    f->verdict = same || apart ? AS_SUPPORTED : AS_UNDECIDED; /* either is an answer */
    as_fact_say(
        f,
        chain ? "Whether %s and %s share ports is inconclusive: the mixture takes no longer than the latency of one of "
                "them; interleaving adds {value} of the shorter loop's time"
        : same  ? "%s and %s use the same ports: interleaving adds {value} of the shorter loop's time"
        : apart ? "%s and %s do not compete for ports: interleaving adds {value} of the shorter loop's time"
        : dense
            ? "%s and %s reach the highest instruction rate of all mixtures: interleaving adds {value} of the shorter "
              "loop's time"
        : part ? "%s and %s share some ports: interleaving adds {value} of the shorter loop's time"
               : "Whether %s and %s share ports is inconclusive: {wide}interleaving adds {value} of the shorter loop's "
                 "time",
        a, b);
    as_fact_evidence(f, cell);
    as_fact_evidence(f, one);
    as_fact_evidence(f, two);
}

static void operands_derive(struct as_rule_context *c)
{
    struct cpu_cells p = {.c = c};
    p.n = as_cells_of(c, "cpu_operands", &p.cells);
    for (size_t i = 0; i < p.n; i++)
        if (operands_is_mixture(p.cells[i]))
            p.densest = fmax(p.densest, operands_density(p.cells[i]));
    for (size_t i = 0; i < p.n; i++)
        if (operands_is_mixture(p.cells[i]))
            add_operands_ports(&p, p.cells[i]);
        else
            add_operands_cell(&p, p.cells[i]);
    free(p.cells);
}

const struct as_rule as_rules_cpu_operands[] = {
    {"instructions by operand", operands_derive,
     "cycles per instruction of chains from one operand to another, and of independent instructions; of two in "
     "turn, the time beyond the longer one's over the shorter one's: the same ports from 0.75 on, none in common "
     "below 0.25",
     "a chain or mixture of the same instructions with another time that passes the same gates"},
    {0},
};
