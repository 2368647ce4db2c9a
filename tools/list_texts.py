"""Writes the list of built-in texts: list_texts.py OUT.c LIST PREFIX NAME [NAME ...]; tools/embed.py writes each text."""
import sys

out, table, prefix, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "base/builtin.h"\n')
    f.write("".join(f"extern const char {prefix}{n}[];\n" for n in names))
    f.write(f"extern const struct as_builtin_text {table}[];\nconst struct as_builtin_text {table}[] = {{\n")
    f.write("".join(f'    {{"{n}", {prefix}{n}}},\n' for n in names))
    f.write("    {0}};\n")
