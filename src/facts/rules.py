"""Writes the table of all tables of rules: rules.py OUT.c NAME [NAME ...]"""
import sys

out, names = sys.argv[1], sys.argv[2:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "facts/rule.h"\n')
    f.write("".join(f"extern const struct as_rule as_rules_{n}[];\n" for n in names))
    f.write("const struct as_rule *const as_rule_tables[] = {\n")
    f.write("".join(f"    as_rules_{n},\n" for n in names))
    f.write("    NULL};\n")
