"""Plants faults in copies of sources, one at a time, and runs the tests that have to see them; for scripts that list faults.

A changed copy of one source, or of a header for all, is compiled as the build compiles it, put into a copy of the module's
library, and the tests are linked with that; nothing in the build or the sources changes."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Module:
    """A folder of sources that meson makes a static library of. tests: targets of ninja, in the order to try them."""

    def __init__(self, build, scratch, folder, tests, environment, timeout_s):
        self.build, self.scratch, self.folder = os.path.abspath(build), scratch, folder
        self.timeout_s = timeout_s
        self.library = os.path.join(folder, f"lib{os.path.basename(folder)}.a")
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as f:
            entries = {os.path.abspath(os.path.join(c["directory"], c["file"])): c for c in json.load(f)}
        self.compiles = {p: c for p, c in sorted(entries.items()) if os.path.dirname(p) == os.path.join(TOP, folder)}
        self.links = {t: self.link_of(t) for t in tests}
        self.environment = {**os.environ, **environment(self.build)}

    def link_of(self, test):
        made = subprocess.run(["ninja", "-C", self.build, "-t", "commands", test], capture_output=True, text=True,
                              check=True).stdout
        return shlex.split(made.strip().splitlines()[-1])

    def copy_with(self, name, old, new):
        """The root of a copy of the folder, with the fault; None where its text is not there once."""
        root = os.path.join(self.scratch, "copies")
        to = os.path.join(root, os.path.relpath(self.folder, "src"))
        os.makedirs(to, exist_ok=True)
        for file in os.listdir(os.path.join(TOP, self.folder)):
            with open(os.path.join(TOP, self.folder, file), encoding="utf-8") as f:
                text = f.read()
            if file == name:
                if text.count(old) != 1:
                    return None
                text = text.replace(old, new)
            with open(os.path.join(to, file), "w", encoding="utf-8") as f:
                f.write(text)
        return root

    def archive(self, changed, root):
        """The library with one source, or all for a header, compiled from the copy; None where it does not compile."""
        objects = []
        for path, c in self.compiles.items():
            words = shlex.split(c["command"])
            out = os.path.join(c["directory"], words[words.index("-o") + 1])
            if changed.endswith(".h") or os.path.basename(path) == changed:
                out = os.path.join(self.scratch, os.path.basename(path) + ".o")
                at = words.index("-MD")  # with two options that have an argument
                words = words[:at] + words[at + 5:-1] + [os.path.join(root, os.path.relpath(path, os.path.join(TOP, "src")))]
                words[words.index("-o") + 1] = out
                first = 2 if os.path.basename(words[0]) == "ccache" else 1
                words[first:first] = ["-I" + root, "-w"]
                if subprocess.run(words, cwd=c["directory"], capture_output=True, check=False).returncode:
                    return None
            objects.append(out)
        library = os.path.join(self.scratch, os.path.basename(self.library))
        if os.path.exists(library):
            os.unlink(library)
        subprocess.run(["ar", "cr", library, *objects], check=True)
        return library

    def seen_by(self, library):
        """The first test that fails with the library; None."""
        for test, link in self.links.items():
            words = [library if w.endswith(self.library) else w for w in link]
            out = os.path.join(self.scratch, os.path.basename(test))
            words[words.index("-o") + 1] = out
            subprocess.run(words, cwd=self.build, check=True, capture_output=True)
            try:
                done = subprocess.run([out], env=self.environment, capture_output=True, timeout=self.timeout_s, check=False)
            except subprocess.TimeoutExpired:
                return os.path.basename(test) + " hangs"
            if done.returncode:
                return os.path.basename(test)
        return None


def main(folder, tests, faults, environment, timeout_s=60):
    """The command line of a list of faults: BUILD [NUMBER...]. faults: file, text, what it becomes. environment: of the
    tests, by the build's folder. Fails where a fault is not seen."""
    chosen = [int(n) for n in sys.argv[2:]] or range(len(faults))
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        module = Module(sys.argv[1], scratch, folder, tests, environment, timeout_s)
        for n in chosen:
            name, old, new = faults[n]
            root = module.copy_with(name, old, new)
            library = module.archive(name, root) if root else None
            by = module.seen_by(library) if library else None
            missed += not by
            print(f"{n:2} {name}: {old.strip()!r}: {by or ('NOT SEEN' if library else 'NOT PLANTED')}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults are seen")
    sys.exit(missed > 0)
