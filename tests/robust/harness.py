"""What the robustness tests share: assay in a folder of its own, and results as TAP.

A test script defines functions test_*(assay) and ends with harness.main(globals()). The first argument of a script is
the assay program, the rest are names of tests to run (all when there are none). The device is the scripted one
(src/device/null/null.h), so that no test depends on the machine's timing."""
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

# The exit codes (src/cli/cli.h).
OK, FAILED, USAGE, REGRESSION, PARTLY, NOTHING = range(6)
MEASURED = (OK, PARTLY)
PATIENCE = 300  # seconds after which a command counts as hung: far more than any takes on a busy machine

# A device that gives its kernels one thread: the sentinel that watches over pairs of CPUs is left out. On the scripted
# device its two threads really wait for each other, which on a busy machine takes more time than all the rest of a run.
ONE_THREAD = {"threads": 1}
FAST = {"execute": "once", "noise": {"sd": 0.002}, "info": ONE_THREAD}  # scripted times that pass at once
SLOW = dict(FAST, sleep=True)  # launches take the time that they report, so that something can happen in the meantime
# A trial takes a second (its launches have 64 accesses), a run more than a minute: a busy machine may let the test act late.
LONG = dict(SLOW, levels=[{"size": 512, "ns": 1, "gbs": 9}, {"size": 4 << 20, "ns": 2e6, "gbs": 9},
                          {"size": 0, "ns": 9, "gbs": 9}])
# Latency of memory on a scripted device, one line of the data sheet.
ALLOCATORS = [{"name": "malloc"}, {"name": "mmap"}, {"name": "thp"}]
MEMORY_SUITE = """[suite]
trials = 3
precision = 20%
devices = null
[latency]
size = 16MiB
allocator = huge_pages
pattern = random
"""
# With stand-ins for drivers only the existence of numbers matters: three cells, each ends after few samples.
LAUNCH = ["launch", "--set", "what=roundtrip", "--set", "threads=1"]
SHORT = ["--trials", "1", "--precision", "100%"]


def memory_device(ns=90, **info):
    """Whose memory takes so long."""
    return {"execute": True, "noise": {"sd": 0.002}, "info": {"threads": 1, "allocators": ALLOCATORS, **info},
            "levels": [{"size": 0, "ns": ns, "gbs": 20}]}


def slow_memory_device(**more):
    """The same numbers, but a trial takes a second: its first launch does, which gives no number."""
    return {**memory_device(), "sleep": True, "faults": [{"do": "slow", "launch": 1, "factor": 1000}], **more}


# `make test` runs a part of what `make check` runs.
BRIEF = bool(os.environ.get("ASSAY_BRIEF"))
# Only what `make test` leaves out, where the other tests ran just before.
REST = bool(os.environ.get("ASSAY_REST"))


def shortened(test):
    """A test that `make test` runs on some of its cases."""
    test.shortened = True
    return test


def some(cases, every, first=0):
    """All of the cases, in brief one of so many."""
    return cases[first % every::every] if BRIEF else cases


def thorough(test):
    """A test that `make test` leaves out."""
    test.thorough = True
    return test


class Skip(Exception):
    pass


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out[-2000:]}\n--- stderr\n{self.err[-2000:]}"


class Assay:
    """One store in one folder."""

    def __init__(self, program, folder):
        self.program, self.folder = os.path.abspath(program), folder
        self.processes = []
        self.store = os.path.join(folder, "store.db")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "ASSAY_", "XDG_"))}
        self.env.update(ASSAY_STORE=self.store, HOME=folder, XDG_DATA_HOME=folder, TERM="dumb", LC_ALL="C",
                        **self.script(FAST))

    def script(self, members):
        """The environment in which the scripted device behaves so."""
        with tempfile.NamedTemporaryFile("w", dir=self.folder, prefix="script", delete=False, encoding="utf-8") as f:
            json.dump(members, f)
        return {"ASSAY_NULL": f.name}

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *args, env=None, stdin=subprocess.DEVNULL, stdout=None, stderr=None, **more):
        """A command left running; stdout and stderr go to files that finish() reads unless they are given."""
        out = tempfile.TemporaryFile(dir=self.folder) if stdout is None else stdout
        err = tempfile.TemporaryFile(dir=self.folder) if stderr is None else stderr
        process = subprocess.Popen([self.program, *args], env=dict(self.env, **(env or {})), cwd=self.folder,
                                   stdin=stdin, stdout=out, stderr=err, **more)
        self.processes.append(process)
        process.files = (out if stdout is None else None, err if stderr is None else None)
        return process

    def end_all(self):
        """Ends what a test that failed has left running in its folder."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    @staticmethod
    def ends(process, timeout):
        """Whether it ends in that time, without Popen's polling every 50 ms."""
        if process.poll() is not None:
            return True
        descriptor = os.pidfd_open(process.pid)
        try:
            return bool(select.select([descriptor], [], [], timeout)[0])
        finally:
            os.close(descriptor)

    @staticmethod
    def finish(process, timeout=PATIENCE):
        if Assay.ends(process, timeout):
            code = process.wait()
        else:
            process.kill()
            process.wait()
            raise AssertionError(f"hangs: no end after {timeout} s: {' '.join(process.args)}")
        texts = []
        for file in process.files:
            if file:
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
                file.close()
            else:
                texts.append("")
        return Result(code, *texts)

    def run(self, *args, timeout=PATIENCE, **more):
        return self.finish(self.start(*args, **more), timeout)

    def null(self, script, *args, **more):
        """assay run on the scripted device that behaves so."""
        env = dict(more.pop("env", {}) or {}, **self.script(script))
        return self.run("run", *args, "--device", "null", env=env, **more)

    def export(self, run=None):
        done = self.run("export", *([str(run)] if run else []), "--format", "json")
        expect(done.code == OK, "export", done)
        return json.loads(done.out)

    def cells(self, run=None):
        return self.export(run)["cells"]


def peak(assay, *command):
    """Largest resident memory of a command in MiB."""
    # AddressSanitizer keeps what was freed.
    env = dict(assay.env, ASAN_OPTIONS=assay.env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
    process = subprocess.Popen([assay.program, *command], env=env, cwd=assay.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    process.returncode = 0
    return usage.ru_maxrss / 1024


def expect(holds, what, result=None):
    """The one assertion: what must hold, and what was seen when it does not."""
    if not holds:
        raise AssertionError(f"{what}\n{result}" if result is not None else what)


def expect_refused(result, code, *words):
    """Refused with this exit code and a message on stderr that holds the words; no crash, nothing left half said."""
    expect(result.code == code, f"exit {code} expected", result)
    for word in words:
        expect(word in result.err, f"'{word}' expected in the message", result)
    expect(result.err.strip(), "a message expected", result)


def command_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read()


def children(pid):
    """Programs that pid has started. A sanitizer looks for leaks at the end of a process from a copy of it, and one that
    is killed then holds the process up for ever: a child with its parent's command line is no worker (yet)."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                    if int(f.read().rsplit(")", 1)[1].split()[1]) == pid and command_of(name) != command_of(pid):
                        found.append(int(name))
    return found


def written(file):
    """What a command has written so far. The place at which it goes on to write is not moved, as seek() would."""
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)


def lines(process):
    """Events that a run with --json has written so far."""
    return written(process.files[0]).count(b"\n")


def wait_for(condition, what, process=None):
    """The first true value of condition(); process: whoever is to bring it about, who must not end before."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended = process is not None and process.poll() is not None
        value = condition()
        if value:
            return value
        expect(not ended, f"ended before {what}", ended and Assay.finish(process))
        time.sleep(0.002)
    raise AssertionError(f"waited {PATIENCE} s in vain for {what}")


def interrupt(assay, process):
    """As Ctrl-C does: the run keeps what it has, and says how it is resumed."""
    kill(process.pid, signal.SIGINT)
    done = assay.finish(process)
    expect(done.code == FAILED and "resume" in done.err, "interrupted in the middle", done)
    return done


def kill(pid, number=signal.SIGKILL):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def measured(cells):
    return [c for c in cells if c["status"] in ("ok", "wide", "rejected") and c["n"] > 0]


def stand_in_worker(assay, script):
    """The environment in which this shell script is started in the place of workers; 3 is its socket."""
    path = assay.path("fake")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(path, 0o700)
    return {"ASSAY_WORKER": path}


def once(assay):
    """A file that a stand-in removes when it does the one wrong thing that it is asked for."""
    with open(assay.path("once"), "w", encoding="ascii"):
        return assay.path("once")


def expect_one_lost(assay, done, status, words):
    """Of three cells the one in which the device or the worker was lost; the next worker starts anew."""
    cells = assay.cells(1)
    lost = [c for c in cells if c["status"] == status]
    expect(done.code in MEASURED and len(lost) == 1, "one cell is lost", done)
    expect(words in lost[0]["reason"], "with the reason", lost)
    expect(len(measured(cells)) == 2, "the others are measured", done)


def kill_while_hanging(assay, process, flag, meanwhile=None):
    """Kills the worker whose kernel never ends."""
    wait_for(lambda: not os.path.exists(flag), "a kernel that hangs", process)
    if meanwhile:
        expect_refused(meanwhile(), FAILED, "another run is measuring")
    for worker in children(process.pid):
        kill(worker)
    expect_one_lost(assay, assay.finish(process), "crashed", "signal 9")


def host_of_nodes(assay, cpus, buses, other, memory=None):
    """The environment of a host with memory nodes, by the library ASSAY_NODES_SHIM: cpus is the list of CPUs of each node,
    the first node is that of the devices at these buses, and memory that nobody binds is on the node `other`. memory is the
    list of nodes that have any."""
    shim = os.environ.get("ASSAY_NODES_SHIM")
    if not shim:
        raise Skip("a build with a sanitizer takes no library before the sanitizer's")
    root = assay.path("root")
    files = {f"sys/devices/system/node/node{node}/cpulist": of_node for node, of_node in cpus.items()}
    files.update({f"sys/bus/pci/devices/{bus}/local_cpulist": cpus[min(cpus)] for bus in buses})
    if memory:
        files["sys/devices/system/node/has_memory"] = memory
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "w", encoding="ascii") as f:
            f.write(text + "\n")
    return {"LD_PRELOAD": shim, "ASSAY_HOST_ROOT": root, "ASSAY_HOST_NODE": str(other)}


def identity(cell):
    return (cell["device"], cell["probe"], json.dumps(cell["axes"], sort_keys=True))


def main(names):
    # 'nohup' and shells that start something in the background leave signals ignored, and a run would inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tests = [(n, f) for n, f in names.items() if n.startswith("test_") and not (BRIEF and hasattr(f, "thorough"))]
    if REST and any(hasattr(f, "thorough") for _, f in tests):
        tests = [(n, f) for n, f in tests if hasattr(f, "thorough") or hasattr(f, "shortened")]
    wanted = sys.argv[2:]
    tests = [(n, f) for n, f in tests if not wanted or n in wanted]
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        title = name[5:].replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="assay-robust-") as folder:
            assay = Assay(sys.argv[1], folder)
            try:
                function(assay)
                print(f"ok {number} - {title}", flush=True)
            except Skip as why:
                print(f"ok {number} - {title} # SKIP {why}", flush=True)
            except Exception:  # a test's own mistake is a failure like any other
                failed += 1
                print(f"not ok {number} - {title}")
                print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), flush=True)
            assay.end_all()
    sys.exit(1 if failed else 0)
