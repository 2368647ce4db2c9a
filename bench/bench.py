#!/usr/bin/env python3
"""assay against its peers, and the overhead of assay: measured on this machine, with a target and a verdict for each.

bench.py --assay PROGRAM [PART]... [paths of peers]     parts: overheads store sampling calibration peers upm displace gpu forward aa
                                                        slowdown planted rules counterless fleet uops
                                                        (default: overheads, and peers when a path of one for the CPU is given)
No part is a test: noise may change a verdict. The exit code is 0 when everything could be measured."""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import agreement  # noqa: E402  (beside this file)
import calibration  # noqa: E402
import counterless  # noqa: E402
import displace  # noqa: E402
import fleet  # noqa: E402
import forward  # noqa: E402
import gpu  # noqa: E402
import overheads  # noqa: E402
import peers  # noqa: E402
import planted  # noqa: E402
import sampling  # noqa: E402
import store  # noqa: E402
import tool_rules  # noqa: E402
import uops  # noqa: E402
import upm  # noqa: E402
from common import Assay, print_table  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART",
                        help="overheads, store, sampling, calibration, peers, upm, displace, gpu, forward, aa, slowdown, planted, rules, "
                        "counterless, fleet, uops")
    parser.add_argument("--assay", required=True, help="the assay program")
    parser.add_argument("--rounds", type=int, default=10, help="interleaved rounds with peers (default 10)")
    parser.add_argument("--runs", type=int, default=10, help="runs of quick for aa and calibration (default 10)")
    parser.add_argument("--budget", default="55s", help="time budget for sampling and uops, and of each run of counterless (default 55s)")
    parser.add_argument("--trials", type=int, default=60, help="trials for slowdown and planted (default 60)")
    parser.add_argument("--launches", type=int, default=3, help="for fleet: launches with and without a slow rank (default 3)")
    parser.add_argument("--big-store", help="a store of many runs, for the times of show and report")
    parser.add_argument("--make-store", help="for store: what makes one (default: tests/store/make-store beside assay)")
    parser.add_argument("--of", action="append", choices=gpu.PARTS, help="for gpu: only this (may be repeated)")
    parser.add_argument("--suite", default="quick", help="for gpu: the suite that is run twice (default quick)")
    parser.add_argument("--forward-library", metavar="FOLDER", help="for forward: " + forward.FOLDER)
    for name, what in {**peers.PROGRAMS, **gpu.PROGRAMS}.items():
        parser.add_argument("--" + name, metavar="PATH", help=what)
    options = parser.parse_args()
    paths = {n: getattr(options, n.replace("-", "_")) for n in {**peers.PROGRAMS, **gpu.PROGRAMS}}
    given = {n: p for n, p in paths.items() if p}
    of_cpu = {n: p for n, p in given.items() if n in peers.PROGRAMS}
    known = {"overheads": lambda a: overheads.measure(a, options.big_store),
             "store": lambda a: store.measure(a, options.make_store),
             "sampling": lambda a: sampling.measure(a, options.budget),
             "calibration": lambda a: calibration.measure(a, options.runs, options.budget),
             "peers": lambda a: peers.measure(a, of_cpu, options.rounds),
             "upm": lambda a: upm.measure(a, options.rounds),
             "displace": lambda a: displace.measure(a, options.rounds),
             "gpu": lambda a: gpu.measure(a, given, min(options.rounds, 3), options.suite, options.of or gpu.PARTS),
             "forward": lambda a: forward.measure(a, options.forward_library, min(options.rounds, 3)),
             "aa": lambda a: agreement.same_machine(a, options.runs),
             "rules": lambda a: tool_rules.measure(a, given, options.rounds),
             "counterless": lambda a: counterless.measure(a, options.budget),
             "slowdown": lambda a: agreement.scripted_slowdown(a, options.trials),
             "fleet": lambda a: fleet.measure(a, options.launches),
             "uops": lambda a: uops.measure(a, options.budget),
             "planted": lambda a: planted.measure(a, options.trials)}
    chosen = options.parts or ["overheads"] + (["peers"] if of_cpu else [])
    for part in chosen:
        if part not in known:
            parser.error(f"no part '{part}'; there are {', '.join(known)}")
    if "forward" in chosen and not options.forward_library:
        parser.error("forward needs --forward-library FOLDER, the folder of the library")
    for name, path in paths.items():
        if path and not os.access(path, os.X_OK):
            parser.error(f"--{name}: '{path}' is not a program")
    for part in chosen:
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
            print_table(part, known[part](Assay(options.assay, folder)))
    if not any(paths.values()):
        print("No peers were given: " + " ".join(f"--{n} PATH" for n in paths))


if __name__ == "__main__":
    main()
