"""Faults planted in the sensor of Apple's chips, one at a time; the test on the stand-in has to see each.

mutants.py BUILD [NUMBER...]: BUILD is a folder that meson has set up and ninja has built. It takes minutes, so that no
suite runs it."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import planted_faults  # noqa: E402  (in tests/)

# File, text, what it becomes.
MUTANTS = (
    ("ioreport.c", "    drop(&r->api, &r->base);\n    drop(&r->api, &r->subscribed);\n", "    drop(&r->api, &r->subscribed);\n"),
    ("ioreport.c", "    drop(&r->api, &r->subscribed);\n", ""),
    ("ioreport.c", "    drop(&r->api, &r->subscription);\n", ""),
    ("ioreport.c", "    drop(&r->api, &r->key);\n", ""),
    ("ioreport.c", "    drop(a, &name);\n", ""),
    ("ioreport.c", "    drop(a, &part);\n", ""),
    ("ioreport.c", "    drop(&r->api, &desired);\n", ""),
    ("ioreport.c", "    drop(&r->api, &now);\n", ""),
    ("ioreport.c", "    drop(&r->api, &r->base);\n    r->base = sample", "    r->base = sample"),
    ("ioreport.c", "    if (s)\n        as_ioreport_close(r);\n", ""),
    ("ioreport.c", "r->key && name && (part || !subgroup)", "true"),
    ("ioreport.c", "if (!*out)\n", "if (false)\n"),
    ("ioreport.c", "!r->subscription || !r->subscribed", "!r->subscription"),
    ("ioreport.c", "!r->subscription || !r->subscribed", "!r->subscribed"),
    ("ioreport.c", "if (!s && n == 0)", "if (false)"),
    ("ioreport.c", "    if (!now)\n", "    if (false)\n"),
    ("ioreport.c", "    if (!r->base)\n", "    if (false)\n"),
    ("ioreport.c", "r->api.delta(r->base, now, NULL)", "r->api.delta(now, r->base, NULL)"),
    ("ioreport.c", "at - r->base_at", "at"),
    ("ioreport.c", "count > AS_IOREPORT_CHANNELS_MAX", "false"),
    ("ioreport.c", "!*list || a->type_of(*list) != a->array_type()", "!*list"),
    ("ioreport.c", "string && a->type_of(string) == a->string_type() &&", "string &&"),
    ("ioreport.c", "good ? text : \"\"", "text"),
    ("ioreport.c", "!out->ref || a->type_of(out->ref) != a->dictionary_type()", "!out->ref"),
    ("ioreport.c", "enum { UTF8 = 0x08000100 }", "enum { UTF8 = 0x0600 }"),
    ("rails.c", "{\"mJ\", 1e-3}", "{\"mJ\", 1e-6}"),
    ("rails.c", "{\"uJ\", 1e-6}", "{\"uJ\", 1e-3}"),
    ("rails.c", "{\"nJ\", 1e-9}", "{\"nJ\", 1e-6}"),
    ("rails.c", "    return NAN;\n}\n\nstatic void refuse", "    return 1e-3;\n}\n\nstatic void refuse"),
    ("rails.c", "        as_buf_terminal(&b, c->unit);", "        as_buf_str(&b, c->unit);"),
    ("rails.c", "count < 0", "false"),
    ("rails.c", "!is_die && sum[rail].whole_n && !rails[rail].is_numbered", "false"),
    ("rails.c", "sum[i].whole_n ? sum[i].whole : sum[i].dies", "sum[i].whole + sum[i].dies"),
    ("rails.c", "sum[i].whole_n ? sum[i].whole : sum[i].dies", "sum[i].whole"),
    ("rails.c", "    if (c->format != AS_IOREPORT_SIMPLE)\n", "    if (false)\n"),
    ("rails.c", "c->format == AS_IOREPORT_SIMPLE ? r->api.number(c->ref, NULL) : 0", "r->api.number(c->ref, NULL)"),
    ("rails.c", "[AS_RAIL_GPU] = {\"GPU\", \"GPU Energy\", false}", "[AS_RAIL_GPU] = {\"GPU\", \"GPU\", true}"),
    ("ioreport.c", "    drop(&r->api, &delta);\n", ""),
    ("rails.c", "        as_ioreport_close(r);\n        s = AS_UNSUPPORTED;\n", "        s = AS_UNSUPPORTED;\n"),
    ("rails.c", "strncmp(name, \"DIE\", 3) != 0", "true"),
    ("apple.c", "a->is_energy_refused = !isfinite(joule) || joule < a->last_j;", "a->is_energy_refused = !isfinite(joule);"),
    ("apple.c", "a->is_energy_refused = !isfinite(joule) || joule < a->last_j;", "a->is_energy_refused = joule < a->last_j;"),
    ("apple.c", " || joule == 0)", ")"),
    ("apple.c", "    a->last_j = joule;\n", ""),
    ("apple.c", "level > PRESSURE_LAST)\n        return -1", "false)\n        return -1"),
    ("apple.c", "level > PRESSURE_NOMINAL ?", "level > 1 ?"),
    ("apple.c", "a->get_state(a->pressure, &level) != 0 || level", "a->get_state(0, &level) != 0 || level"),
    ("apple.c", "        a->cancel(a->pressure);\n", "        (void)0;\n"),
    ("apple.c", "    as_ioreport_close(&a->states);\n    if (a->has", "    if (a->has"),
    ("apple.c", "busy += is_off ? 0 : (double)time;", "busy += (double)time;"),
    ("apple.c", "    if (time < 0 || !name[0])", "    if (!name[0])"),
    ("apple.c", " && n <= AS_IOREPORT_STATES_MAX", ""),
    ("apple.c", "c->format != AS_IOREPORT_STATE", "false"),
    ("apple.c", "    (void)as_ioreport_begin(&a->states, NULL);\n", ""),
    ("apple.c", "a->rail == AS_RAIL_CPU && stands_still(a)", "false"),
    ("apple.c", "a->rail == AS_RAIL_CPU && stands_still(a)", "stands_still(a)"),
    ("apple.c", "i < READINGS && !(joule > 0)", "i < 0 && !(joule > 0)"),
    ("demand_apple.c", "isdigit((unsigned char)name[3])", "false"),
    ("demand_apple.c", "strcmp(name, \"DCS RD\") == 0 ? 0", "strstr(name, \"DCS RD\") ? 0"),
    ("demand_apple.c", "bytes < 0)", "false)"),
    ("demand_apple.c", "    if (!is_count)\n", "    if (false)\n"),
    ("demand_apple.c", "    as_buf_terminal(&b, c->unit);", "    as_buf_str(&b, c->unit);"),
    ("demand_apple.c", "t.bytes[1] / seconds", "t.bytes[0] / seconds"),
    ("demand_apple.c", "used.joule[i] > 0", "used.joule[i] >= 0"),
    ("demand_apple.c", "{&out->cpu_power, &out->gpu_power,", "{&out->gpu_power, &out->cpu_power,"),
    ("demand_apple.c", "as_ioreport_close(ctx);\n", "(void)0;\n"),
    ("demand_apple.c", "t->n[0] && t->n[1]", "t->n[0] || t->n[1]"),
)


def environment(build):
    return {"LD_LIBRARY_PATH": os.path.join(build, "tests/sensor/apple"), "ASSAY_LISTS": os.path.join(HERE, "lists")}


if __name__ == "__main__":
    planted_faults.main("src/sensor", ["tests/sensor/test_sensor_apple"], MUTANTS, environment)
