"""Words that this field does not use, or uses for something else: docs/words.md says what to write instead.

words.py TOP prints each use of a word of the table in docs/words.md: in comments and string literals of C, in kernels, in
Python, in Markdown and in suites. A row of the table is | `pattern` | write | note |; the pattern is a regular expression on whole
words, in any case. `words: ok` on a line lets it pass."""
import os
import re
import subprocess
import sys

TABLE = "docs/words.md"
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|", re.M)
IN_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
# In strings for users a cell is a measurement; its number, which 'explain CELL' takes, may be named so.
USER_WORDS = [(re.compile(r"\b[Cc]ells?\b"), "measurement")]
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'|"((?:\\.|[^"\\\n])*)"', re.S)
EXEMPT_STRING = re.compile(r"\bcells? (?:%|of run|w%|[0-9])|\[cell\]|\bno cell %|SELECT |UPDATE |INSERT |CREATE |FROM |class=")
EXEMPT_PATHS = ("src/store/",)
ENDINGS = (".c", ".h", ".kernel", ".py", ".md", ".ini", ".js", ".html", ".json")
NOT_PROSE = ("tests/fuzz/corpus/", "tests/lint/")
FOLDERS = ("src", "lib", "probes", "include", "docs", "suites", "tools", "bench", "tests", "README.md", "CONTRIBUTING.md", "samples")


def read_table(top):
    with open(os.path.join(top, TABLE), encoding="utf-8") as f:
        return [(re.compile(rf"\b(?:{pattern})\b".replace(r"\|", "|"), re.I), instead.strip())
                for pattern, instead in ROW.findall(f.read())]


def people_read(path, text):
    """The text with everything blanked out that is code."""
    if not path.endswith((".c", ".h", ".kernel")):
        return text
    kept, at = [], 0
    for m in IN_C.finditer(text):
        kept += [re.sub(r"[^\n]", " ", text[at:m.start()]), m.group(0)]
        at = m.end()
    return "".join(kept) + re.sub(r"[^\n]", " ", text[at:])


def said_wrong(path, text):
    """Words that C strings for users do not use."""
    if not path.endswith(".c") or not path.startswith(("src/", "probes/", "lib/")) or path.startswith(EXEMPT_PATHS) or "/test" in path:
        return
    for m in C_TOKEN.finditer(text):
        if m.group(1) and " " in m.group(1) and not EXEMPT_STRING.search(m.group(1)):
            for word, instead in USER_WORDS:
                for found in word.finditer(m.group(1)):
                    at = m.start(1) + found.start()
                    if "words: ok" not in text[at:text.find("\n", at)]:
                        yield f"{path}:{text.count(chr(10), 0, at) + 1}: '{found.group(0)}' in a text for users: write {instead}"


def check(top, paths):
    table, wrong = read_table(top), []
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            text = f.read()
        lines = text.splitlines()
        wrong += said_wrong(path, text)
        for number, line in enumerate(people_read(path, text).splitlines(), 1):
            if "words: ok" in lines[number - 1]:
                continue
            wrong += [f"{path}:{number}: '{m.group(0)}': write {instead}" for word, instead in table
                      for m in word.finditer(line)]
    return wrong


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=top, capture_output=True, text=True, check=True).stdout.split()
    return [p for p in listed if p.endswith(ENDINGS) and p != TABLE and not p.startswith(NOT_PROSE) and
            os.path.exists(os.path.join(top, p)) and "package-lock" not in p]


def main():
    top = sys.argv[1]
    paths = paths_of(top)
    wrong = check(top, paths)
    print("\n".join(wrong) or f"{len(paths)} files have no word that {TABLE} replaces")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
