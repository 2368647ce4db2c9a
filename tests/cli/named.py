"""Commands that documents, help texts and messages name exist: subcommands, their options, lists of 'assay list', verbs of
'assay fleet', probes and suites of 'assay run' and 'assay plan'. Arguments: the source tree, the program assay."""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
FOLDERS = ("bench", "charts", "docs", "include", "lib", "probes", "refs", "samples", "src", "suites", "tests")
SKIPPED = ("node_modules", "golden", "corpus")
# At the start of a line or after another command: "$ build/assay run quick && assay show".
CALL = r"(?:^|&& )\s*(?:\$ )?(?:[\w./-]*/)?assay ((?:--)?[a-z][^|;#&>]*)"


def assay(*args):
    with tempfile.TemporaryDirectory(prefix="assay-named-") as home:
        env = dict({k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "XDG_"))}, HOME=home, LC_ALL="C",
                   COLUMNS="200")
        return subprocess.run([PROGRAM, *args], env=env, capture_output=True, text=True, check=True, timeout=60).stdout


def known():
    """What exists: options by subcommand, lists, verbs, and what can be run."""
    commands = re.findall(r"^  ([a-z]+) ", assay("help").split("Subcommands:")[1].split("Exit codes")[0], re.M)
    helps = {c: assay("help", c) for c in commands}
    return {"options": {c: set(re.findall(r"^  (?:-\w, )?(--[a-z][a-z-]*)", text, re.M)) for c, text in helps.items()},
            "lists": set(re.findall(r"^assay list (\w+)", assay("list"), re.M)),
            "verbs": set(re.findall(r"(?:\. |\| |\]\.\.\. )([a-z]+)", re.search(r"^Usage: (.*)$", helps["fleet"], re.M)[1])),
            "runs": {json.loads(line)[what] for what in ("probe", "suite")
                     for line in assay("list", what + "s", "--json").splitlines()},
            "helps": helps}


def wrong_in(call, have):
    """What a command line, without its 'assay', names that does not exist. Words in capitals stand for something."""
    words = re.split(r"[|;#&>]", call)[0].split()
    command = words[0]
    if command.startswith("-"):
        return []
    if command not in have["options"]:
        return [f"no subcommand '{command}'"]
    wrong = [f"'{command}' has no option '{o}'" for o in re.findall(r"(?<=\s)--[a-z][a-z-]*", " " + " ".join(words[1:]))
             if o not in have["options"][command] and o != "--help"]
    plain = []
    for word in words[1:]:
        if not re.fullmatch(r"[a-z][a-z0-9_]*,?", word):
            break
        plain.append(word.rstrip(","))
    if command == "list":
        wrong += [f"no list '{w}'" for w in plain[:1] if w not in have["lists"]]
    if command == "help":
        wrong += [f"no subcommand '{w}'" for w in plain if w not in have["options"]]
    if command == "fleet":
        wrong += [f"'fleet' has no verb '{w}'" for w in plain[:1] if w not in have["verbs"]]
    if command in ("run", "plan"):
        wrong += [f"no probe or suite '{w}'" for w in plain if w not in have["runs"]]
    return wrong


def calls_in_markdown(text):
    """Of code spans and of blocks of code, which an empty line precedes."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.M | re.S) + re.findall(r"(?<=\n\n)(?: {4}[^\n]*\n)+", text)
    spans = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    code = [" ".join(s.split()) for s in spans] + [line for b in blocks for line in b.splitlines()]
    return [call.strip() for line in code for call in re.findall(CALL, line)]


def calls_in_source(text):
    """Quoted ones, where texts may go on in the next line's literal."""
    joined = re.sub(r'"\s*(?:\\\n)?\s*"', "", text).replace("\\n", " ")
    return re.findall(r"['`>]assay ((?:--)?[a-z][^'`\n<%]*)['`<%]", joined)


def texts():
    for name in sorted(os.listdir(ROOT)):
        if name.endswith(".md"):
            yield os.path.join(ROOT, name)
    for top in FOLDERS:
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = sorted(f for f in folders if f not in SKIPPED)
            for name in sorted(files):
                if name.endswith((".md", ".c", ".h", ".inc", ".ini", ".mjs", ".html", ".json")):
                    yield os.path.join(folder, name)


def test_faults_are_found(have):
    for call in ("list allocators", "lst probes", "run latncy", "fleet walk", "show --jsn", "help everything",
                 "plan latency nothing"):
        assert wrong_in(call, have), call
    for call in ("list refs h100", "run upm apps --device hip:0", "run latency --set size=1KiB", "help run", "fleet links --folder X",
                 "explain CELL", "show RUN cpu_operands", "--worker FD PARENT", "devices | head", "run my.ini"):
        assert not wrong_in(call, have), (call, wrong_in(call, have))
    assert calls_in_markdown("as `assay list ops` says\n\n```\n$ assay run quick   # x\n```\n\n    build/assay show && assay check\n") == [
        "list ops", "run quick", "show", "check"]
    assert calls_in_source('"; see \'assay list "\n  "probes\'"') == ["list probes"]


def main():
    have = known()
    test_faults_are_found(have)
    found = [("help " + c, line) for c, text in have["helps"].items() for line in re.findall(r"^  assay ([a-z].*)$", text, re.M)]
    for path in texts():
        with open(path, encoding="utf-8") as f:
            text = f.read()
        calls = calls_in_markdown(text) if path.endswith(".md") else calls_in_source(text)
        found += [(os.path.relpath(path, ROOT), call) for call in calls]
    wrong = [f"{where}: 'assay {call}': {w}" for where, call in found for w in wrong_in(call, have)]
    print("1..1")
    for w in wrong:
        print(f"# {w}")
    print(f"{'not ok' if wrong or len(found) < 100 else 'ok'} 1 - {len(found)} commands that are named exist")
    return 1 if wrong or len(found) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
