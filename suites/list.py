"""Writes the list of built-in suites: list.py OUT.c NAME [NAME ...]"""
import sys

out, names = sys.argv[1], sys.argv[2:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "core/plan.h"\n')
    f.write("".join(f"extern const char as_suite_{n}[];\n" for n in names))
    f.write("const struct as_builtin_text as_suite_texts[] = {\n")
    f.write("".join(f'    {{"{n}", as_suite_{n}}},\n' for n in names))
    f.write("    {0}};\n")
