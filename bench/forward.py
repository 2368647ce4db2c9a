"""The HIP backend beside the CUDA backend on the same GPU: the same cells by both, interleaved. HIP's library is the one of
the tests that forwards to the CUDA driver (tests/device/hip/forward), so that what differs is what the backends do."""
import json
import os
import statistics
import sys

from common import ratio_interval, row

FOLDER = "folder of the libamdhip64.so.7 that forwards to CUDA"
SAYS = "HIP forwarded to CUDA: "
DEVICES = ("cuda:0", "hip:0")
# The same memory by its two names.
SAME = {
    "hipMallocManaged XNACK": "cuMemAllocManaged",
    "hipHostRegister malloc": "cuMemHostRegister malloc",
    "hipHostMalloc": "cuMemHostAlloc",
    "hipMalloc": "cuMemAlloc",
}
BOTH = "hipMalloc,hipHostMalloc"
WORK = (
    ("latency", {"size": "32KiB,2MiB,256MiB", "pattern": "random", "stride": 128, "allocator": BOTH,
                 "instrument": "timed"}),
    ("bandwidth", {"op": "triad,read,write", "level": "memory", "size": "1GiB", "threads": 0, "way": "best",
                   "width": "best", "touch": "device", "allocator": BOTH}),
    ("roofline", {"type": "f32,f64", "threads": 0, "width": "best"}),
    ("copy", {"from": BOTH, "to": BOTH, "direction": "one", "how": "engine,kernel", "size": "64MiB"}),
    ("alloc", {"op": "alloc,free", "allocator": BOTH, "size": "1MiB,128MiB"}),
    ("fault", {"scenario": "device-major,device-minor", "allocator": "hipMallocManaged XNACK", "pages": "100,10000"}),
    ("tlb", {"pages": "64,1024", "stride": "2MiB", "allocator": "hipMalloc"}),
    ("launch", {"what": "roundtrip", "threads": 1}),
)
NEAR = 0.02
# A cell that fails is missing, and counted as such.
WHATEVER_IS_MEASURED = (0, 1, 4, 5)


def by_cuda(text):
    for hip, cuda in SAME.items():
        text = text.replace(hip, cuda)
    return text


def environment(folder):
    """Of both, so that nothing but the device differs."""
    there = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": os.path.abspath(folder) + (":" + there if there else "")}


def check_library(assay, env):
    lines = [json.loads(line) for line in assay.command("devices", "--json", env=env)[0].splitlines()]
    infos = {d["id"]: d["info"] for d in lines if d.get("usable")}
    names = {i: infos[i]["name"] for i in DEVICES if i in infos}
    if DEVICES[0] not in names:
        sys.exit(f"there is no {DEVICES[0]} on this machine")
    if not names.get(DEVICES[1], "").startswith(SAYS):
        sys.exit(f"{DEVICES[1]} is not the forwarding library: give its folder with --forward-library")
    if infos[DEVICES[0]]["bus_id"] != infos[DEVICES[1]]["bus_id"]:
        sys.exit(f"{DEVICES[0]} and {DEVICES[1]} are not the same card")
    return names


def cells(assay, env, device, probe, axes):
    """By what both call the same: the median of each cell that is ok."""
    sets = [f"{name}={value}" for name, value in axes.items()]
    if device == DEVICES[0]:
        sets = [by_cuda(s) for s in sets]
    assay.command("run", "probe:" + probe, "--device", device, "--quiet", "--precision", "1%", "--budget", "10s",
                  *[word for s in sets for word in ("--set", s)], env=env, allow=WHATEVER_IS_MEASURED)
    found = [c for c in assay.cells() if c["status"] == "ok" and c["median"]]
    return {by_cuda(json.dumps([probe, c["axes"]], sort_keys=True)): c["median"] for c in found}


def describe(key):
    probe, axes = json.loads(key)
    return f"{probe} " + " ".join(str(v) for v in axes.values() if v not in ("", None))


def measure(assay, folder, rounds):
    env = environment(folder)
    names = check_library(assay, env)
    rows = [row(d, names[d], "", None) for d in DEVICES]
    found = {d: {} for d in DEVICES}
    for number in range(rounds):
        for probe, axes in WORK:
            for device in DEVICES if number % 2 == 0 else DEVICES[::-1]:
                print(f"round {number + 1} of {rounds}: {probe} on {device}", file=sys.stderr, flush=True)
                for key, median in cells(assay, env, device, probe, axes).items():
                    found[device].setdefault(key, {})[number] = median
    near = compared = 0
    for key in sorted(set(found[DEVICES[0]]) & set(found[DEVICES[1]])):
        cuda, hip = found[DEVICES[0]][key], found[DEVICES[1]][key]
        both = sorted(set(cuda) & set(hip))
        if not both:
            continue
        ratio, low, high = ratio_interval([hip[n] for n in both], [cuda[n] for n in both])
        compared += 1
        near += abs(ratio - 1) <= NEAR
        rows.append(row(describe(key), f"{statistics.median(hip[n] for n in both):.5g} / "
                        f"{statistics.median(cuda[n] for n in both):.5g} = {ratio:.4f} ({low:.4f} to {high:.4f})",
                        "1 within 2%", abs(ratio - 1) <= NEAR))
    alone = len(set(found[DEVICES[0]]) ^ set(found[DEVICES[1]]))
    rows.append(row("cells that are ok by one of the two only", str(alone), "", None))
    rows.append(row("hip:0 beside cuda:0", f"{near} of {compared} within 2%", "all", compared > 0 and near == compared))
    return rows
