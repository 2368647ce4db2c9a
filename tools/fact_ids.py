"""Facts are distinguished by their fields: only src/facts/relations.c makes ids and takes them apart.

fact_ids.py TOP prints each line elsewhere that looks into the id of a fact, each sentence of a rule that names a field that facts do
not have ("{levle}"), and each axis, value of an axis or value of a field in a rule that no other code has as a text, or that is not in the closed set of its field,
and fails where there is one. An id may be shown, copied and compared as a whole."""
import os
import re
import subprocess
import sys

MAKER = "src/facts/relations.c"
FIELDS = "src/facts/relations.h"
RULES = ("/rule.c", "src/facts/joint_")
COMPARED = ("src/facts/advice", "src/report/sheet/worth.c")
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
BY = re.compile(r"\bAS_BY\([^;]*|\{AS_FACT_[^\n]*")
VALUES = (re.compile(r'\bas_cell_is\((?:[^;"]*?), "(\w+)", "([^"]*)"\)'),
          re.compile(r'\bstrcmp\(as_(?:cell_axis|axes_text)\((?:[^;"]*?), "(\w+)"\), "([^"]*)"'))
FIELD = re.compile(r"\bFIELD\(\w+, (\w+)(?:, (\w+|\"[^\"]*\"))?\)")
FACTS = re.compile(r"\bstruct as_fact \*(?:const )?(\w+)")
CALLS = r"\b(?:strn(?:case)?cmp|str(?:r?chr|str|spn|cspn|pbrk|tok_r|dup)|sscanf|fnmatch|strlen|memcmp|\w*(?:starts|ends)_with)\s*\("


def looks_into(text):
    """Where a text takes the id of a fact apart: offsets."""
    names = set(FACTS.findall(text)) | {r"facts(?:_of)?"}
    id_of = r"(?:\b(?:%s)|facts?\w*(?:->v)?\[[^\]]*\])(?:->|\.)id\b" % "|".join(sorted(names))
    for pattern in (CALLS + r"[^;{]*?" + id_of, id_of + r"\s*(?:\[|\+)", r"\*\s*" + id_of):
        yield from (m.start() for m in re.finditer(pattern, text))
SAID = dict.fromkeys(("value", "tied", "wide"))  # of sentences: fields of every fact, by facts/rule.h


def fields_of(top):
    """{field: its closed set of values, None where it has none}"""
    path = os.path.join(top, FIELDS)
    if not os.path.exists(path):
        return SAID
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    lists = {name: "".join(TEXT.findall(line)) for name, line in re.findall(r"#define (\w+) +(\".*)", text)}
    return SAID | {name: set(lists.get(values, values.strip('"')).split("|")) if values not in ("", "NULL") else None
                              for name, values in FIELD.findall(text)}


def misnamed(text, fields):
    """Offsets and names of fields in sentences that facts do not have."""
    for call in re.finditer(r"\bas_fact_say\(.*?\);", text, re.S):
        for m in re.finditer(r"\{(\w*)\}", call.group(0)):
            if m.group(1) not in fields:
                yield call.start() + m.start(), m.group(1)


def words_of(top, paths):
    """Every text outside of rules, among them the words of axes and levels."""
    words = set()
    for path in paths:
        if not any(part in path for part in (*RULES, *COMPARED)) and not os.path.basename(path).startswith("test"):
            with open(os.path.join(top, path), encoding="utf-8") as f:
                words |= set(TEXT.findall(f.read()))
    return words


def misspelt(text, fields, words):
    """Offsets and values of axes and fields that are words of none."""
    of_fields = re.compile(r"\.(%s) = \"([^\"]*)\"" % "|".join(sorted(set(fields) - {*SAID, "counted"})))
    given = [(m.start(), m.groups(), words) for pattern in VALUES for m in pattern.finditer(text)]
    for by in BY.finditer(text):
        given += [(by.start() + m.start(), (m[2],), fields[m[1]] or words) for m in of_fields.finditer(by.group(0))]
    for at, values, known in given:
        yield from ((at, value) for value in values if value and not re.fullmatch(r"[0-9.]+", value) and value not in known)


def check(top, paths):
    wrong, fields, words = [], fields_of(top), words_of(top, paths)
    for path in paths:
        if path == MAKER:
            continue
        with open(os.path.join(top, path), encoding="utf-8") as f:
            text = f.read()
        wrong += [f"{path}:{text.count(chr(10), 0, at) + 1}: takes the id of a fact apart; compare its fields"
                  for at in looks_into(text)]
        if any(part in path for part in RULES):
            wrong += [f"{path}:{text.count(chr(10), 0, at) + 1}: facts have no field '{name}'" for at, name in misnamed(text, fields)]
        if any(part in path for part in (*RULES, *COMPARED)):
            wrong += [f"{path}:{text.count(chr(10), 0, at) + 1}: '{value}' is no word of an axis or field"
                      for at, value in misspelt(text, fields, words)]
    return sorted(set(wrong))


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", "src", "lib", "probes"], cwd=top, capture_output=True, text=True,
                            check=True).stdout.split()
    return [p for p in listed if p.endswith((".c", ".h")) and os.path.exists(os.path.join(top, p))]


def main():
    top = sys.argv[1]
    paths = paths_of(top)
    wrong = check(top, paths)
    print("\n".join(wrong) or f"{len(paths)} files compare the fields of facts")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
