"""Faults planted in quantities.ini end the build, with the section and what is wrong."""
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "quantity")
PLANTED = (
    ("unit = GB/s", "unit = GBs", "unit 'GBs'"),
    ("kind = latency", "kind = latencies", "kind 'latencies'"),
    ("level = L2", "level = L22", "level 'L22'"),
    ("both.fact =", "both.fat =", "unknown key 'both.fat'"),
    ("beside = launch.wait", "beside = launch.waits", "launch.waits"),
    ("bound = roofline type=f64", "bound = roofline", "'roofline' is not a probe with axes"),
    ("bound = roofline type=f64", "bound = roofline type=f64 /1", "'roofline type=f64 /1' is not a probe with axes"),
    ("bound = roofline type=f64", "bound10 = roofline type=f64", "unknown key 'bound10'"),
    ("${words:curve}", "${words:curves}", "words:curves"),
    ("[launch.submit]", "[launch.wait]", "launch.wait"),
    ("cpu2 =", "cpu4 =", "comes before 'cpu2'"),
    ("first = yes", "first = yess", "'first' can only be 'yes'"),
    ("first = yes", "frist = yes", "unknown key 'frist'"),
    ("both = clock.core", "both = roofline type", "neither a fact nor a probe"),
)


def generate(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "quantities.ini")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return subprocess.run([sys.executable, os.path.join(FOLDER, "quantities.py"), path, path + ".c"], capture_output=True,
                              text=True, check=False)


def main():
    with open(os.path.join(FOLDER, "quantities.ini"), encoding="ascii") as f:
        text = f.read()
    if generate(text).returncode:
        sys.exit("quantities.ini itself is refused")
    for before, after, said in PLANTED:
        done = generate(text.replace(before, after, 1))
        if done.returncode == 0 or said not in done.stderr:
            sys.exit(f"'{after}' is not refused with '{said}': {done.stderr}")


main()
