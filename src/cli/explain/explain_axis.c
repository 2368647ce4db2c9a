/* Axes: the values that they take, and the probes that have them. */
#include "cli/explain/explain.h"

#include "base/text.h"
#include "device/device.h"
#include "device/process_state.h"
#include "report/terminal/terminal.h"

#include <string.h>

/* Axes with more than MANY words show the first FEW and name the command that lists the rest. */
enum { MANY = 40, FEW = 6 };

static void axis_words(const struct as_probe *p, const struct as_axis *a, bool all, struct as_buf *out)
{
    size_t n = 0;
    while (a->words && a->words[n])
        n++;
    const size_t shown = all || n <= MANY ? n : FEW;
    for (size_t i = 0; i < shown; i++)
        as_buf_printf(out, "%s%s", i ? ", " : "", a->words[i]);
    if (shown < n && as_probe_word(p, a->words[0]))
        as_buf_printf(out, " and %zu more, see 'assay list ops'", n - shown);
    else if (shown < n)
        as_buf_printf(out, " and %zu more, see 'assay explain %s --all'", n - shown, p->name);
}

void as_explain_axis_range(const struct as_probe *p, const struct as_axis *a, bool all, struct as_buf *out)
{
    static const char *const domains[] = {[AS_DOMAIN_ALLOCATOR] =
                                              "allocators or their roles, largest_pages, first, all",
                                          [AS_DOMAIN_THREADS] = "1 to the device's logical CPUs",
                                          [AS_DOMAIN_CPU] = "logical CPUs",
                                          [AS_DOMAIN_NODE] = "numbers of NUMA nodes"};
    if (a->domain == AS_DOMAIN_THREADS && (p->needs & AS_CAP_SOURCE)) {
        as_buf_str(out, "1 to the largest workgroup"); /* CPUs compile no kernels */
    } else if (a->domain != AS_DOMAIN_NONE) {
        if (a->domain == AS_DOMAIN_NODE && a->words) {
            axis_words(p, a, all, out);
            as_buf_str(out, ", ");
        }
        as_buf_str(out, domains[a->domain]);
    } else if (a->type == AS_AXIS_WORD) {
        axis_words(p, a, all, out);
    } else if (a->type == AS_AXIS_SIZE) {
        as_format_size(out, a->min);
        as_buf_str(out, " to ");
        if (a->max)
            as_format_size(out, a->max);
        else
            as_buf_str(out, "what memory allows");
    } else {
        as_buf_printf(out, "%llu to ", (unsigned long long)a->min);
        if (a->max)
            as_buf_printf(out, "%llu", (unsigned long long)a->max);
        else
            as_buf_str(out, "any");
    }
}

/* "link: host, every_host; default host; what the device is linked with" */
static void explain_axis_of(const struct as_probe *p, const struct as_axis *a, const struct as_table_style *style,
                            struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    as_explain_axis_range(p, a, false, &text);
    if (a->def[0])
        as_buf_printf(&text, "; default %s", a->def);
    as_buf_printf(&text, "; %s", a->help);
    as_explain_member(out, p->name, as_buf_get(&text), style);
    out->failed |= text.failed;
    as_buf_finish(&text);
}

bool as_explain_axis(const char *name, const struct as_table_style *style, struct as_buf *out)
{
    bool found = strcmp(name, AS_STATE_AXIS) == 0;
    if (found)
        as_text_hang(out,
                     "state: axis of every probe: environment variables of a runtime with which a worker process is "
                     "started; to set it: --set state=VARIABLE=VALUE, several joined by '+'",
                     style->width, 2, 0);
    for (size_t i = 0; as_probes[i]; i++) {
        const struct as_axis *a = as_probes[i]->hidden ? NULL : as_probe_axis(as_probes[i], name);
        if (a && !found)
            as_buf_printf(out, "%s: axis of the probes below; to set it: --set PROBE.%s=VALUE\n", name, name);
        if (a)
            explain_axis_of(as_probes[i], a, style, out);
        found |= a != NULL;
    }
    return found;
}
