"""The probes of this build, by their folders: each FAMILY/NAME under probes/ that has a section.json.

registry.py list PROBES prints the folders in the order of the report; registry.py write OUT.c PROBES SECTION... writes the
registry (the sections are those below PROBES; the build names them so that it writes again when there are others).
registry.py files PROBES prints a line for each of their C files: "KIND PATH", where KIND is source, rule or test, and for tests
"SUITE,..." behind it: the kind of test, the probe's name, and "repetitions" where the test does less in brief.
section.json is {"heading": under which the report groups the probe, "place": a number by which probes are sorted}, of a
probe whose picture is among the main curves "lead": its place among them, from 1, and of a probe that a view of several probes
reads "role": what it is to that view. ROLES lists the roles; each is one probe's."""
import glob
import json
import os
import sys

# What views look for: enum as_view_role (src/probe/view_role.h), in lower case.
ROLES = ("operation_throughput", "operation_latency", "operation_sequences", "instruction_operands", "roofline",
         "matrix_instructions", "gemm", "matrix_arithmetic", "operand_layout", "fused_epilogues", "attention",
         "link_bandwidth", "link_latency", "latency", "bandwidth", "host_latency", "host_bandwidth")


def is_section(section):
    numbers = [section[key] for key in ("place", "lead") if key in section]
    return {"heading", "place"} <= set(section) <= {"heading", "place", "lead", "role"} and \
        all(isinstance(n, int) and n > 0 for n in numbers) and section["heading"] and section["heading"].isascii()


def read_roles(top):
    """The name of the probe that has each role."""
    probes = {}
    for path in sorted(glob.glob(os.path.join(top, "*", "*", "section.json"))):
        name = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as f:
            role = json.load(f).get("role")
        if role is None:
            continue
        if role not in ROLES:
            sys.exit(f"{path}: '{role}' is not a role; the roles are {', '.join(ROLES)}")
        if role in probes:
            sys.exit(f"probes {probes[role]} and {name} have one role, '{role}'")
        probes[role] = name
    for role in ROLES:
        if role not in probes:
            sys.exit(f"no section.json has the role '{role}', which a view of the report needs")
    return {role: probes[role] for role in ROLES}


def read_sections(top):
    """(place, heading, folder, lead) of each, sorted; lead is 0 where the probe is not among the main curves."""
    found = []
    for path in glob.glob(os.path.join(top, "*", "*", "section.json")):
        folder = os.path.relpath(os.path.dirname(path), top)
        with open(path, encoding="utf-8") as f:
            section = json.load(f)
        if not is_section(section):
            sys.exit(f"{path}: needs an ASCII \"heading\" and a whole number \"place\", may have \"lead\" and \"role\", nothing else")
        found.append((section["place"], section["heading"], folder, section.get("lead", 0)))
    found.sort()
    for before, after in zip(found, found[1:]):
        if before[0] == after[0]:
            sys.exit(f"probes/{before[2]} and probes/{after[2]} have one place, {after[0]}")
        if before[1] != after[1] and after[1] in (s[1] for s in found if s[0] < before[0]):
            sys.exit(f"probes/{after[2]}: its place separates it from the others under '{after[1]}'")
    leads = sorted((s[3], s[2]) for s in found if s[3])
    for before, after in zip(leads, leads[1:]):
        if before[0] == after[0]:
            sys.exit(f"probes/{before[1]} and probes/{after[1]} have one lead, {after[0]}")
    return found


# A C file that is not part of the program's probes: its kind and, for a test, the suite.
KINDS = {"rule.c": ("rule",), "test.c": ("test", "probes"), "test_rule.c": ("test", "facts")}


def read_files(top):
    """(kind, path below top, suites) of each C file, probe by probe."""
    for _, _, folder, _ in read_sections(top):
        for path in sorted(glob.glob(os.path.join(top, folder, "*.c"))):
            kind, *suites = KINDS.get(os.path.basename(path), ("source",))
            if kind == "test":
                suites.append(os.path.basename(folder))
                with open(path, encoding="utf-8") as f:
                    suites += ["repetitions"] if "ASSAY_BRIEF" in f.read() else []
            yield kind, os.path.relpath(path, top), suites


def write(out, sections, roles):
    names = [os.path.basename(folder) for _, _, folder, _ in sections]
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "probe/probe.h"\n#include "probe/view_role.h"\n')
        f.write("".join(f"extern const struct as_probe as_probe_{n};\n" for n in names))
        f.write("const struct as_probe *const as_probes[] = {\n")
        f.write("".join(f"    &as_probe_{n},\n" for n in names))
        for table, text in ("as_probe_methods", "as_method_html_"), ("as_probe_texts", "as_method_"):
            f.write("    NULL};\n" + "".join(f"extern const char {text}{n}[];\n" for n in names))
            f.write(f"const char *const {table}[] = {{\n")
            f.write("".join(f"    {text}{n},\n" for n in names))
        f.write("    NULL};\nconst char *const as_probe_headings[] = {\n")
        f.write("".join(f"    {json.dumps(heading)},\n" for _, heading, _, _ in sections))
        f.write("    NULL};\nconst unsigned as_probe_leads[] = {")
        f.write(", ".join(str(lead) for _, _, _, lead in sections) + "};\n")
        f.write(f'_Static_assert(AS_VIEW_ROLES == {len(roles)}, "ROLES of probes/registry.py are enum as_view_role");\n')
        f.write("const char *const as_view_probes[] = {\n")
        f.write("".join(f'    [AS_VIEW_{role.upper()}] = "{name}",\n' for role, name in roles.items()) + "};\n")


if __name__ == "__main__":
    if sys.argv[1] == "list":
        print(*(folder for _, _, folder, _ in read_sections(sys.argv[2])), sep="\n")
    elif sys.argv[1] == "files":
        for kind, path, suites in read_files(sys.argv[2]):
            print(kind, path, ",".join(suites))
    else:
        write(sys.argv[2], read_sections(sys.argv[3]), read_roles(sys.argv[3]))
