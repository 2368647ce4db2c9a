"""section.json: probes are sorted by place, and what is wrong with one is refused by its path. Of a probe's C files the tests
are told from what the program is made of, and none is missing."""
import glob
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
    ("a lead", {"a/one": ["A", 10, 1], "a/two": ["A", 20]}, "a/one\na/two\n", ""),
    ("one lead for two", {"a/one": ["A", 10, 1], "a/two": ["A", 20, 1]}, None, "have one lead, 1"),
    ("a lead that is no number", {"a/one": ["A", 10, "first"]}, None, "a/one/section.json"),
]


def run(folders):
    with tempfile.TemporaryDirectory() as top:
        for folder, values in folders.items():
            os.makedirs(os.path.join(top, folder))
            with open(os.path.join(top, folder, "section.json"), "w", encoding="utf-8") as f:
                json.dump(dict(zip(("heading", "place", "lead"), values)), f)
        return subprocess.run([sys.executable, REGISTRY, "list", top], capture_output=True, text=True, check=False)


def files_are_told():
    texts = {"section.json": '{"heading": "A", "place": 1}', "probe.c": "", "rule.c": "", "tested.c": "", "test.c": "",
             "test_rule.c": 'getenv("ASSAY_BRIEF")'}
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(os.path.join(top, "a", "one"))
        for name, text in texts.items():
            with open(os.path.join(top, "a", "one", name), "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run([sys.executable, REGISTRY, "files", top], capture_output=True, text=True, check=True)
    told = [line.split() for line in done.stdout.splitlines()]
    return told == [["source", "a/one/probe.c"], ["rule", "a/one/rule.c"], ["test", "a/one/test.c", "probes,one"],
                    ["test", "a/one/test_rule.c", "facts,one,repetitions"], ["source", "a/one/tested.c"]]


def none_is_missing():
    """Each probe has a test.c, and each rule.c a test_rule.c."""
    done = subprocess.run([sys.executable, REGISTRY, "files", os.path.dirname(REGISTRY)], capture_output=True, text=True, check=True)
    paths = {line.split()[1] for line in done.stdout.splitlines()}
    wanted = {os.path.join(os.path.dirname(path), name) for path in paths
              for source, name in (("probe.c", "test.c"), ("rule.c", "test_rule.c")) if os.path.basename(path) == source}
    for path in sorted(wanted - paths):
        print(f"# probes/{path} is missing")
    return wanted <= paths


def compilers_have_time():
    """A probe whose device compiles kernels says how long a trial may take: the default is too short for many drivers."""
    wrong = []
    for probe in glob.glob(os.path.join(os.path.dirname(REGISTRY), "*", "*", "probe.c")):
        with open(probe, encoding="utf-8") as f:
            text = f.read()
        compiles = glob.glob(os.path.join(os.path.dirname(probe), "*.kernel")) or "AS_CAP_SOURCE" in text
        if compiles and ".patience" not in text:
            wrong.append(probe)
    for probe in sorted(wrong):
        print(f"# {probe}: compiles a kernel, and has no patience")
    return not wrong


def write_with(roles):
    """What the registry says where there is a probe for each of these roles; "": it is written."""
    with tempfile.TemporaryDirectory() as top:
        for place, role in enumerate(roles, 1):
            os.makedirs(os.path.join(top, "a", f"p{place}"))
            with open(os.path.join(top, "a", f"p{place}", "section.json"), "w", encoding="utf-8") as f:
                json.dump({"heading": "A", "place": place, "role": role}, f)
        done = subprocess.run([sys.executable, REGISTRY, "write", os.path.join(top, "out.c"), top], capture_output=True, text=True,
                              check=False)
        return done.stderr if done.returncode else ""


def roles_are_checked():
    """Each role of a view is one probe's."""
    sys.path.insert(0, os.path.dirname(REGISTRY))
    from registry import ROLES  # pylint: disable=import-outside-toplevel
    return not write_with(ROLES) and "'gem' is not a role" in write_with([*ROLES, "gem"]) and \
        "have one role, 'gemm'" in write_with([*ROLES, "gemm"]) and "no section.json has the role 'gemm'" in write_with(
            [role for role in ROLES if role != "gemm"])


MORE = [("tests and sources", files_are_told), ("roles of views", roles_are_checked), ("no test is missing", none_is_missing),
        ("time for compilers", compilers_have_time)]
print(f"1..{len(CASES) + len(MORE)}")
for i, (title, folders, out, err) in enumerate(CASES, 1):
    done = run(folders)
    good = (done.returncode == 0 and done.stdout == out) if out else (done.returncode != 0 and err in done.stderr)
    print(f"{'ok' if good else 'not ok'} {i} - {title}")
    if not good:
        print(f"# {done.returncode} {done.stdout!r} {done.stderr!r}")
for i, (title, holds) in enumerate(MORE, len(CASES) + 1):
    print(f"{'ok' if holds() else 'not ok'} {i} - {title}")
