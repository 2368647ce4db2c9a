"""Generates the registry of probes: registry.py OUT.c NAME [NAME ...]"""
import sys

out, names = sys.argv[1], sys.argv[2:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "probe/probe.h"\n')
    f.write("".join(f"extern const struct as_probe as_probe_{n};\n" for n in names))
    f.write("const struct as_probe *const as_probes[] = {\n")
    f.write("".join(f"    &as_probe_{n},\n" for n in names))
    f.write("    NULL};\n")
