"""Generates the sequences of probe mix: sequences.py OUT.c SEQUENCES.ini

Every operation of the file alone, then the file's sequences, then all pairs of [pairs].
"""
import configparser
import itertools
import re
import sys

SECTIONS = ("published", "weighted", "pairs")
PART = re.compile(r"(?:([1-9][0-9]?)\*)?([a-z][a-z0-9_]*)")


def fail(what):
    sys.exit(f"sequences.py: {what}")


def parts(sequence):
    """Sorted (operation, count): equal for sequences that differ in order only."""
    counts = {}
    for part in sequence.split("+"):
        found = PART.fullmatch(part) or fail(f"'{sequence}' is no sequence")
        counts[found[2]] = counts.get(found[2], 0) + int(found[1] or 1)
    return tuple(sorted(counts.items()))


def read(path):
    parser = configparser.ConfigParser(allow_no_value=True, delimiters=("=",), comment_prefixes=(";",),
                                       interpolation=None)
    parser.optionxform = str
    with open(path, encoding="ascii") as f:
        parser.read_file(f)
    if tuple(parser.sections()) != SECTIONS:
        fail(f"the sections are not {', '.join(SECTIONS)}")
    return [list(parser[name]) for name in SECTIONS]


def main():
    out, path = sys.argv[1:]
    published, weighted, single = read(path)
    listed = published + weighted
    alone = dict.fromkeys(single + [op for s in listed for op, _ in parts(s)])
    have = set()
    for s in listed:
        if parts(s) in have:
            fail(f"'{s}' is defined twice")
        have.add(parts(s))
    pairs = [f"{a}+{b}" for a, b in itertools.combinations(single, 2) if parts(f"{a}+{b}") not in have]
    with open(out, "w", encoding="ascii") as f:
        f.write("extern const char *const as_mix_words[];\nconst char *const as_mix_words[] = {\n")
        f.write("".join(f'    "{w}",\n' for w in (*alone, *listed, *pairs)) + "    (void *)0,\n};\n")


main()
