"""Every command refuses nonsense: exit code 2, one short message with the cause, no crash. Arguments: the program, a store."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

PROGRAM, STORE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# Commands and options up to the place where a name or value stands.
PLACES = [line.split() for line in """
run|plan|resume|replay|show|history|compare|compare 1|check|check --against|facts|facts 1|advise|explain|explain cell
report|export|import|delete|list|list refs|devices|doctor|help|version|fleet|fleet show
run --device|run --set|run --budget|run --precision|run --trials|run --seed|plan --device|plan --set|plan --budget
show --refs|show --device|facts --refs|history --device|export --format|check --tolerance|compare 1 1 --check
""".replace("\n", "|").split("|") if line]
NONSENSE = {"nothing": b"", "parent folder": b"..", "4 KiB": b"x" * 4096, "no UTF-8": b"lat\xff\xfe", "an option": b"--xyzzy",
            "a line end": b"\n", "a format": b"%s%n", "a slash": b"a/b", "a number": b"99999999999999999999", "a blank": b" ",
            "commas": b",,"}
# Files: whether they can be opened is the system's answer, no misuse.
SYSTEM = {("import", "4 KiB")}
READERS = ["show", "history", "facts", "advise", "export", "report", "list runs", "compare 1 1", "check --against 1", "delete 1", "replay 1", "resume"]


def start(folder, words, env=None):
    base = {"HOME": folder, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    return subprocess.run([PROGRAM, *words], cwd=folder, env=dict(base, **(env or {})), capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)


def refused(folder, words, codes=(2,), names=b""):
    done = start(folder, words)
    assert done.returncode in codes, f"exit {done.returncode}: {done.stderr[:300]}"
    assert done.stderr.startswith(b"assay: ") and len(done.stderr) < 1500, done.stderr[:300]
    assert names in done.stderr, f"{names} is not in {done.stderr[:300]}"
    assert b"\x1b" not in done.stderr and not done.stdout, "nothing on stdout, no escapes"
    done.stderr.decode()


def store_is_folder(folder, command):
    refused(folder, [*command.split(), "--store", folder], (1, 2), folder.encode())


def store_is_text(folder, command):
    with open(os.path.join(folder, "text.db"), "w", encoding="ascii") as f:
        f.write("just a text\n" * 1000)
    refused(folder, [*command.split(), "--store", "text.db"], (1, 2), b"text.db")


def store_is_missing(folder, command):
    refused(folder, [*command.split(), "--store", "none.db"], (2,), b"none.db")
    assert not os.path.exists(os.path.join(folder, "none.db")), "a store was made by reading"


def file_is_folder(folder, command):
    refused(folder, command.split(), (2,), b"it is a folder; give the name of a file in it")


def main():
    tests = [(f"{' '.join(place)}: {name}", refused,
              ([*(w.encode() for w in place), word] + ([b"--store", STORE.encode()] if place[0] not in ("help", "version") else []),
               (1, 2) if (place[0], name) in SYSTEM else (2,)))
             for place in PLACES for name, word in NONSENSE.items()]
    for name, function in (("a folder", store_is_folder), ("a text", store_is_text), ("missing", store_is_missing)):
        tests += [(f"the store is {name}: {command}", function, (command,)) for command in READERS]
    tests += [(f"a folder for a file: {command}", file_is_folder, (command,))
              for command in ("import ..", "run /", "list refs ..", "show --refs ..", "facts --refs .", "export -o ..")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, function, arguments) in enumerate(tests, 1):
        with tempfile.TemporaryDirectory(prefix="assay-nonsense-") as folder:
            shutil.copy(STORE, os.path.join(folder, "copy.db"))
            os.chmod(os.path.join(folder, "copy.db"), stat.S_IRUSR | stat.S_IWUSR)
            arguments = tuple([b"copy.db" if w == STORE.encode() else w for w in a] if isinstance(a, list) else
                              a for a in arguments)
            if function is file_is_folder:
                arguments = (arguments[0] + ("" if arguments[0].startswith("run") else " --store copy.db"),)
            try:
                function(folder, *arguments)
                print(f"ok {number} - {name}")
            except (AssertionError, subprocess.TimeoutExpired, ValueError) as why:
                failed += 1
                print(f"not ok {number} - {name}")
                print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")
    sys.exit(1 if failed else 0)


main()
