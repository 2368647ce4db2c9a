"""Writes text files into a C source as constant strings: embed.py OUT.c NAME=FILE [NAME=FILE ...]

Each becomes `const char NAME[]` (terminated) and `const unsigned NAME_size` (without the terminator). Numbers are used
instead of a string literal, since C compilers need not take literals of this length.
"""
import sys


def main():
    out, pairs = sys.argv[1], [p.split("=", 1) for p in sys.argv[2:]]
    with open(out, "w", encoding="ascii") as f:
        for name, path in pairs:
            with open(path, "rb") as src:
                data = src.read()
            f.write(f"extern const char {name}[];\nextern const unsigned {name}_size;\n")
            f.write(f"const char {name}[] = {{\n")
            for i in range(0, len(data), 24):
                f.write("".join(f"{b if b < 128 else b - 256}," for b in data[i : i + 24]) + "\n")
            f.write(f"0}};\nconst unsigned {name}_size = {len(data)};\n")


main()
