"""Writes text files into a C source as constant strings: embed.py OUT.c NAME=FILE [NAME=FILE ...]

Files of one name follow one another. Each name becomes `const char NAME[]` (terminated) and `const unsigned NAME_size`
(without the terminator). Numbers are used instead of a string literal, since C compilers need not take literals of this
length.
"""
import sys


def main():
    texts = {}
    for pair in sys.argv[2:]:
        name, path = pair.split("=", 1)
        with open(path, "rb") as src:
            texts[name] = texts.get(name, b"") + src.read()
    with open(sys.argv[1], "w", encoding="ascii") as f:
        for name, data in texts.items():
            f.write(f"extern const char {name}[];\nextern const unsigned {name}_size;\n")
            f.write(f"const char {name}[] = {{\n")
            for i in range(0, len(data), 24):
                f.write("".join(f"{b if b < 128 else b - 256}," for b in data[i : i + 24]) + "\n")
            f.write(f"0}};\nconst unsigned {name}_size = {len(data)};\n")


main()
