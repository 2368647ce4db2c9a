"""What a fact advises is tested: each text that a rule gives to as_fact_act stands, at its beginning, in a test.

acts.py TOP prints each that does not, and fails where there is one. A text that begins with a value of the fact is left out."""
import os
import re
import subprocess
import sys

RULES = ("/rule.c", "src/facts/joint_")
TESTS = ("/test_rule.c", "tests/facts/")
ENOUGH = 12  # characters that tell one text from another
CALL = re.compile(r'\bas_fact_act\(\s*\w+,((?:[^;"]|"(?:[^"\\]|\\.)*")*);')
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
BROKEN = re.compile(r'"\s*\n\s*"')  # a text in several lines
MACRO = re.compile(r'^#define (\w+) "([^"\n]*)"$', re.M)
PLACE = re.compile(r"%[-.*\d]*[a-z]+|\{\w+\}")


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        text = f.read()
    for name, value in MACRO.findall(text):
        text = re.sub(rf'\b{name} "', f'"{value}', text)
    return BROKEN.sub("", text)


def paths_of(top):
    return subprocess.run(["git", "ls-files", "probes", "src/facts", "tests/facts"], cwd=top, capture_output=True, text=True,
                          check=True).stdout.split()


def check(top, paths):
    tests = "\n".join(read(top, p) for p in paths if any(t in p for t in TESTS))
    begins = [(p, PLACE.split(text)[0].strip()) for p in paths if any(r in p for r in RULES)
              for call in CALL.findall(read(top, p)) for text in TEXT.findall(call)]
    return [f"{p}: no test says what to do by '{b}'" for p, b in begins if len(b) >= ENOUGH and b[0].isupper() and b not in tests]


if __name__ == "__main__":
    wrong = check(sys.argv[1], paths_of(sys.argv[1]))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
