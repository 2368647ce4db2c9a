/* Published figures beside facts. */
#ifndef AS_FACTS_REFS_FACTS_H
#define AS_FACTS_REFS_FACTS_H

#include "facts/facts.h"
#include "refs/refs.h"

/* Fails with AS_FORMAT where a figure names a fact that no relation makes. */
enum as_status as_refs_check_facts(const struct as_refs *refs, struct as_error *err);
/* as_refs_load followed by that check; *out is empty on failure. */
enum as_status as_refs_load_for_facts(const char *name, struct as_refs *out, struct as_error *err);
/* Does the figure belong beside this fact: one of its ids, the same unit, the same side of the machine? A count has
 * no unit: its id ends in the figure's unit ("onchip.unit.threads"). */
bool as_ref_is_beside(const struct as_ref *ref, const struct as_fact *fact);
/* Is a figure beside a fact of another size, number of pages or of elements than was measured? Then they are not
 * compared. Writes what was measured: "pages=1250000"; false, and nothing, where the figure names none or the same. */
bool as_ref_is_elsewhere(const struct as_ref *ref, const struct as_fact *fact, struct as_buf *out);
/* The measured value over the nearer end of a figure beside it: 1 within its range, and on the side that "at most" or
 * "at least" leaves open; NAN where the figure is 0, or elsewhere. */
double as_ref_ratio(const struct as_ref *ref, const struct as_fact *fact);
/* Is it within 2% of 1? */
bool as_ref_is_close(double ratio);
/* Counts the numbers that stand beside figures of their own size, and the close ones. */
struct as_refs_agreement {
    size_t beside, close;
};
struct as_refs_agreement as_refs_agree(const struct as_refs *refs, const struct as_fact *facts, size_t n);
/* " (measured: 0.83x)" where it is not close, " (not compared: measured at pages=1250000)" where it is
 * elsewhere, else nothing. */
void as_ref_deviation(const struct as_ref *ref, const struct as_fact *fact, struct as_buf *out);
/* "170 of 177 measured numbers are within 2% of the figure beside them.", or nothing without one. */
void as_refs_agreement_text(const struct as_refs_agreement *agreement, struct as_buf *out);
/* A JSON object of refs->v[i], with the facts that it stands beside; and the array of all of them. */
void as_ref_to_json(const struct as_refs *refs, size_t i, const struct as_fact *facts, size_t n, struct as_buf *out);
void as_refs_to_json(const struct as_refs *refs, const struct as_fact *facts, size_t n, struct as_buf *out);

#endif
