"""Environments that other programs and administrators leave: topologies from files, kernels for thousands of CPUs, filters of
system calls, processes without huge pages, folders that cannot be written, no /proc, memory that runs out."""
import ctypes
import json
import os
import resource
import shutil
import stat
import subprocess

import harness
from harness import FAILED, MEASURED, NOTHING, USAGE, Skip, expect, expect_refused
from machine import memory_group, remove_group

# Few cells, each over after few samples; pairs of CPUs are among the sentinels.
BRIEF = ["--device", "cpu", "--budget", "0", *harness.SHORT]
LATENCY = ["run", "latency", "--set", "size=4KiB", "--set", "pattern=random", "--set", "allocator=malloc", *BRIEF]
PR_SET_THP_DISABLE = 41


def host(**how):
    """The environment of another kind of host; what the sanitizers' builds do not have."""
    shim = os.environ.get("ASSAY_HOST_SHIM")
    if not shim:
        raise Skip("a build with a sanitizer takes no library before the sanitizer's")
    return dict({"LD_PRELOAD": shim}, **{f"ASSAY_HOST_{name.upper()}": value for name, value in how.items()})


def unsanitized():
    """A sanitizer maps terabytes, and reads /proc, before main()."""
    if not os.environ.get("ASSAY_HOST_SHIM"):
        raise Skip("a build with a sanitizer does not start like this")


def doctor(assay, what, **more):
    done = assay.run("doctor", "--json", **more)
    expect(done.code in (harness.OK, FAILED), "doctor", done)
    return next(f for f in map(json.loads, done.out.splitlines()) if f["what"] == what)


def device_cpu(assay, run=None):
    return next(d for d in assay.export(run)["run"]["devices"] if d["id"] == "cpu")


def test_topology_of_the_environment(assay):
    """Whatever topology hwloc is told to show, threads are pinned; the run and doctor name it."""
    expect(assay.run(*LATENCY).code in MEASURED, "a run")
    xml = assay.path("own.xml")
    done = assay.run("export", "--format", "hwloc", "-o", xml)
    if done.code == harness.NOTHING or "lacks hwloc" in done.err:
        raise Skip("this build lacks hwloc")
    expect(done.code == harness.OK, "this machine's topology as a file", done)
    cpus = max(os.sched_getaffinity(0)) + 1
    for name, value in ((None, None), ("HWLOC_XMLFILE", xml), ("HWLOC_SYNTHETIC", f"node:1 core:{cpus} pu:1"),
                        ("HWLOC_COMPONENTS", "no_os,stop")):
        log = assay.path(f"log-{name}")
        variables = {name: value} if name else {}
        done = assay.run(*LATENCY, env=dict(host(log=log), **variables))
        expect(done.code in MEASURED, f"measured with {name}", done)
        expect(os.path.exists(log) and os.path.getsize(log) > 0, f"threads are pinned with {name}", done)
        found = doctor(assay, "topology", env=variables)
        if name:
            expect(name in found["text"] and found["severity"] == "note", "doctor names it", found)
            expect(name in device_cpu(assay)["caveats"] and name in done.out, "the run names it", done)
        else:
            expect(found["severity"] == "fine" and "Note: cores" not in done.out, "nothing to say", found)


def test_topology_that_cannot_be_read(assay):
    """hwloc's reason is shown with the variable that is at fault."""
    done = assay.run(*LATENCY, env={"HWLOC_COMPONENTS": "stop"})
    expect(done.code not in MEASURED and "HWLOC_COMPONENTS='stop'" in done.out + done.err, "the variable", done)
    expect("Invalid argument" in done.out + done.err, "the reason", done)


def test_thousands_of_cpus(assay):
    """A kernel that may have more than 1024 CPUs refuses smaller sets: all is measured, and doctor counts."""
    env = host(cpus="8192")
    done = assay.run("run", "c2c", "latency", "--set", "latency.size=4KiB", *BRIEF, env=env)
    expect(done.code in MEASURED, "measured", done)
    expect(any(c["n"] for c in assay.cells()), "numbers are there", done)
    found = doctor(assay, "load", env=env)
    expect(f"on {len(os.sched_getaffinity(0))} usable CPUs" in found["text"], "doctor counts them", found)


def test_no_thread_can_be_bound(assay):
    """Then threads run where the system puts them: cells are measured and say so, as the run and doctor do."""
    env = host(bind="no")
    done = assay.run("run", "c2c", "latency", "bandwidth", "--set", "latency.size=4KiB", "--set", "bandwidth.size=64KiB",
                     "--set", "bandwidth.op=read", "--set", "bandwidth.level=sweep", *BRIEF, env=env)
    expect(done.code in MEASURED, "measured", done)
    expect("sched_setaffinity" in done.out, "the run says so", done)
    by_probe = {}
    for cell in assay.cells():
        by_probe.setdefault(cell["probe"], []).append(cell)
    for probe in ("latency", "bandwidth"):
        cells = [c for c in by_probe[probe] if "unusable" not in c["reason"] and c["axes"].get("allocator") != "hugetlb"]
        expect(any(c["n"] for c in cells), f"{probe} is measured", cells)
        for cell in cells:
            expect(not cell["n"] or "sched_setaffinity" in json.dumps(cell["detail"]), "a note on the cell", cell)
    pairs = by_probe["c2c"]
    expect([c["status"] for c in pairs] == ["unsupported"], "pairs of CPUs need pinned threads", pairs)
    found = doctor(assay, "pinning", env=env)
    expect(found["severity"] == "note" and "sched_setaffinity" in found["text"] and found["remedy"], "doctor", found)


def test_no_huge_pages_for_this_process(assay):
    """A parent may have taken them from all that it starts (PR_SET_THP_DISABLE)."""
    libc = ctypes.CDLL(None)
    if libc.prctl(42, 0, 0, 0, 0) < 0:
        raise Skip("no such call on this system")

    def deny():
        libc.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    found = doctor(assay, "thp", preexec_fn=deny)
    if "has no transparent" in found["text"]:
        raise Skip("the kernel has no transparent huge pages")
    expect("PR_SET_THP_DISABLE" in found["text"] and found["severity"] == "warning", "doctor", found)
    done = assay.run("run", "latency", "--set", "size=4KiB", "--set", "allocator=malloc,thp", *BRIEF, preexec_fn=deny)
    expect(done.code in MEASURED and "PR_SET_THP_DISABLE" in done.out, "the run says so", done)
    reasons = [c["reason"] for c in assay.cells() if c["axes"]["allocator"] == "thp"]
    expect(reasons and all(reasons), "cells of 'thp' give a reason", reasons)


def test_little_address_space_is_named(assay):
    """What does not fit names the limit and its remedy; doctor and the device see the same limit."""
    unsanitized()

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    found = doctor(assay, "memory limit", preexec_fn=limit)
    if "'/" in found["text"]:
        raise Skip("a control group limits memory more")
    expect("RLIMIT_AS" in found["text"], "doctor names the limit", found)
    done = assay.run("run", "latency", "--set", "size=4KiB,64GiB", "--set", "allocator=malloc", *BRIEF, preexec_fn=limit)
    expect(done.code in MEASURED, "the small one is measured", done)
    large = [c for c in assay.cells() if float(c["axes"]["size"]) > 2**31]
    expect(large and all("RLIMIT_AS (ulimit -v); raise" in c["reason"] for c in large), "the limit is named", large)
    expect(device_cpu(assay)["memory_bytes"] == 2 << 30, "the device's memory is the limit")


def test_doctor_and_device_see_one_limit(assay):
    group = memory_group()
    if not group:
        raise Skip("no permission to make a memory cgroup")
    try:
        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write(str(os.getpid()))
        found = doctor(assay, "memory limit", preexec_fn=enter)
        expect("256 MiB" in found["text"] and group in found["text"], "doctor names the group's file", found)
        done = assay.run("devices", "--json", preexec_fn=enter)
        cpu = next(d for d in map(json.loads, done.out.splitlines()) if d["id"] == "cpu")
        expect(cpu["info"]["memory_bytes"] == 256 << 20, "the device", cpu)
    finally:
        remove_group(group)


def test_killed_for_lack_of_memory(assay):
    """The kernel's killer is named with the limit, not as signal 9 alone."""
    group = memory_group()
    if not group:
        raise Skip("no permission to make a memory cgroup")
    eater = assay.path("eater")
    with open(eater, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\nexec python3 -c 'b = bytearray(1 << 30); b[::4096] = bytes(1 << 18)'\n")
    os.chmod(eater, 0o700)
    try:
        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write(str(os.getpid()))
        done = assay.run(*LATENCY, env={"ASSAY_WORKER": eater}, preexec_fn=enter)
        text = done.out + done.err
        if "signal 9" not in text:
            raise Skip("this kernel kills nobody here (swap, or a killer of its own)")
        expect(done.code not in MEASURED and "lack of memory" in text and "256 MiB" in text, "the limit", done)
        expect(os.path.basename(group) in text and "raise that limit" in text, "and its remedy", done)
    finally:
        remove_group(group)


def test_no_folder_is_made_for_a_store_that_is_named(assay):
    """A misspelt path would make a store where nobody looks for it; only the default one gets its folders."""
    path, words = assay.path(os.path.join("misspelt", "a.db")), ("run", "launch", "--device", "null", "--set", "threads=1", "--trials", "1")
    fast = assay.script(harness.FAST)
    expect_refused(assay.run(*words, env={**fast, "ASSAY_STORE": path}), FAILED, f"there is no folder '{os.path.dirname(path)}'", "--store")
    expect_refused(assay.run(*words, "--store", path, env=fast), FAILED, f"there is no folder '{os.path.dirname(path)}'", "--store")
    expect(not os.path.exists(os.path.dirname(path)), "no folder is made")
    home = assay.path("home")
    os.mkdir(home)
    expect(assay.run(*words, env={**fast, "ASSAY_STORE": "", "XDG_DATA_HOME": home}).code in harness.MEASURED, "the default store is made")
    expect(os.path.exists(os.path.join(home, "assay", "assay.db")), "in its folders")


def test_folder_of_the_store(assay):
    """The reason why it cannot be made is the system's, not that it is not there."""
    locked = assay.path("locked")
    os.mkdir(locked, 0o500)
    if os.access(locked, os.W_OK):
        done = namespace(assay, "mount -t tmpfs -o ro none /mnt", "run", "latency", "--device", "null",
                         env={"ASSAY_STORE": "", "XDG_DATA_HOME": "", "HOME": "/mnt"})
        expect_refused(done, FAILED, "'/mnt/.local' cannot be created: Read-only file system", "--store")
        return
    done = assay.run("run", "latency", "--device", "null", env={"ASSAY_STORE": "", "XDG_DATA_HOME": "", "HOME": locked})
    expect_refused(done, FAILED, "cannot be created: Permission denied", "--store")
    os.chmod(locked, stat.S_IRWXU)


def namespace(assay, prepare, *arguments, env=None):
    """assay with mounts of its own; skipped where that is forbidden."""
    if not shutil.which("unshare"):
        raise Skip("no unshare(1) here")
    whose = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-m", "-r"]
    probe = subprocess.run([*whose, "sh", "-c", prepare], capture_output=True, check=False)
    if probe.returncode:
        raise Skip("this process may not have mounts of its own")
    program, assay.program = assay.program, whose[0]
    try:
        return assay.run(*whose[1:], "sh", "-c", f'{prepare} && exec "$@"', "sh", program, *arguments, env=env)
    finally:
        assay.program = program


def test_no_proc(assay):
    """Without /proc the program does not find itself: the file is named, and the remedy."""
    unsanitized()
    for arguments in (["devices"], ["run", "latency", "--device", "cpu"]):
        done = namespace(assay, "mount -t tmpfs none /proc", *arguments)
        expect("'/proc/self/exe'" in done.out + done.err and "/proc mounted?" in done.out + done.err, "the cause", done)
    done = namespace(assay, "mount -t tmpfs none /proc", "devices", env={"ASSAY_WORKER": assay.program})
    expect("/proc/meminfo" in done.out + done.err, "what the device lacks", done)


def test_workers_that_die_say_how(assay):
    done = assay.run("devices", env={"ASSAY_WORKER": "/bin/true"})
    expect("the process that loaded it died: the worker ended with exit code 0" in " ".join(done.out.split()), "how", done)


def test_unknown_allocator(assay):
    """The ones that there are are listed."""
    done = assay.run("run", "latency", "--device", "cpu", "--set", "allocator=foo")
    expect_refused(done, USAGE, "no allocator 'foo'; it has malloc, mmap, thp, hugetlb")


if __name__ == "__main__":
    harness.main(globals())
