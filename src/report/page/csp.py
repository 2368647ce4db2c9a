"""Writes the hashes of the page's style and scripts as C: csp.py OUT.c NAME=FILE [NAME=FILE ...]

The page's content security policy admits exactly these texts, so they are hashed when they are built in.
Files of one name follow one another, as embed.py writes them.
"""
import base64
import hashlib
import sys


def main():
    out, pairs = sys.argv[1], [p.split("=", 1) for p in sys.argv[2:]]
    texts = {}
    for name, path in pairs:
        with open(path, "rb") as src:
            texts[name] = texts.get(name, b"") + src.read()
    with open(out, "w", encoding="ascii") as f:
        for name, text in texts.items():
            digest = base64.b64encode(hashlib.sha256(text).digest()).decode("ascii")
            f.write(f'extern const char *const {name};\nconst char *const {name} = "sha256-{digest}";\n')


main()
