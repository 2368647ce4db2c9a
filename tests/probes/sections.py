"""section.json: probes are sorted by place, and what is wrong with one is refused by its path."""
import json
import os
import subprocess
import sys
import tempfile

REGISTRY = sys.argv[1]
CASES = [
    ("sorted by place", {"b/two": ["B", 20], "a/one": ["A", 10]}, "a/one\nb/two\n", ""),
    ("one place for two", {"a/one": ["A", 10], "a/two": ["A", 10]}, None, "have one place, 10"),
    ("a heading that is taken apart", {"a/one": ["A", 10], "b/two": ["B", 20], "a/three": ["A", 30]}, None, "probes/a/three"),
    ("no number", {"a/one": ["A", "first"]}, None, "a/one/section.json"),
    ("no heading", {"a/one": ["", 10]}, None, "a/one/section.json"),
]


def run(folders):
    with tempfile.TemporaryDirectory() as top:
        for folder, (heading, place) in folders.items():
            os.makedirs(os.path.join(top, folder))
            with open(os.path.join(top, folder, "section.json"), "w", encoding="utf-8") as f:
                json.dump({"heading": heading, "place": place}, f)
        return subprocess.run([sys.executable, REGISTRY, "list", top], capture_output=True, text=True, check=False)


print(f"1..{len(CASES)}")
for i, (title, folders, out, err) in enumerate(CASES, 1):
    done = run(folders)
    good = (done.returncode == 0 and done.stdout == out) if out else (done.returncode != 0 and err in done.stderr)
    print(f"{'ok' if good else 'not ok'} {i} - {title}")
    if not good:
        print(f"# {done.returncode} {done.stdout!r} {done.stderr!r}")
