"""The stores under samples/: every reader of assay reads them, and what follows from their cells is what followed then."""
import csv
import hashlib
import html
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "robust"))
import harness  # noqa: E402  (beside the robust tests)
from harness import OK, expect  # noqa: E402

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
H200 = os.path.join(SAMPLES, "h200-quick.db")
MACHINE = os.path.join(SAMPLES, "h200-machine.db")
OPERATIONS = os.path.join(SAMPLES, "h200-alu.db")
MATRICES = os.path.join(SAMPLES, "h200-tensor.db")
SHARED = os.path.join(SAMPLES, "h200-upm.db")
WHOLE = os.path.join(SAMPLES, "h200-full.db")


def read(assay, *words, sample=H200, **env):
    """Runs a reader on the sample, which must not change."""
    with open(sample, "rb") as f:
        before = hashlib.sha256(f.read()).digest()
    done = assay.run(*words, "--store", sample, env=env)
    with open(sample, "rb") as f:
        expect(hashlib.sha256(f.read()).digest() == before, f"'{words[0]}' leaves the sample as it is")
    expect(done.code == OK, f"'{words[0]}' reads the sample", done)
    return done.out


def test_readme_shows_the_sample(assay):
    """What stands in the README as a machine's data sheet is what is shown of that machine now."""
    with open(os.path.join(SAMPLES, "..", "README.md"), encoding="utf-8") as f:
        block = re.search(r"<!-- sample:.*?-->\n(.*?)<!-- /sample -->", f.read(), re.S).group(1)
    shown = iter(assay.run("show", "--store", MACHINE, env={"COLUMNS": "100", "LC_ALL": "C.UTF-8"}).out.splitlines())
    wanted = [line[4:] for line in block.splitlines() if line.strip() not in ("", "...")]
    expect(len(wanted) > 20, "the README has a sample")
    for line in wanted:
        expect(line in shown, f"'{line}' is not shown, or not in this place")  # takes what stands before it, too


def test_sizes_do_not_follow_the_clock(assay):
    """The join of runs carries what follows the core's clock to one clock; a capacity is the same at every one."""
    sheet = json.loads(read(assay, "export", "1", "--format", "sheet", sample=os.path.join(SAMPLES, "h100-quick.db")))
    follows = {(line["group"], line["quantity"]): line["clock_exponent"] for device in sheet["devices"] for line in device["lines"]
               if device["id"] == "cpu"}
    expect(follows["L1", "latency"] == 1 and follows["L1", "capacity"] is None and follows["L2", "capacity"] is None,
           "latency follows it, capacity does not", follows)


def test_load_of_others_is_named(assay):
    """What others used of the CPUs stands above the CPU's sheet, of a run and of several."""
    path = assay.path("run.json")
    for load, text in ((1.5, "other processes or guests used 1.5 CPUs\n"), (0.1, None),
                       (2.25, "other processes or guests used up to 2.2 CPUs in 2 of 3 runs")):
        run = json.loads(read(assay, "export", "1", "--format", "json", sample=MACHINE))
        run["run"]["provenance"]["load"]["others_cpus"] = load
        run["run"]["uuid"] = f"{int(10 * load):08d}" + run["run"]["uuid"][8:]
        with open(path, "w", encoding="utf-8") as f:
            json.dump(run, f)
        expect(assay.run("import", path).code == OK, "a run with such a load")
        shown = assay.run("show", env={"COLUMNS": "120"}).out
        expect(not text or text in shown, text, shown[:2000])
        expect(text or "guests used" not in assay.run("show", "last").out, "the system's own background is nothing")


STALE = 1.08  # cards of a type differ by less in all but what neighbours of the host decide


def test_built_in_machines_are_of_today(assay):
    """What 'check --against h200' compares with is what samples of such cards have."""
    for chip, names in (("h100", ("quick", "full")), ("h200", ("quick", "full", "tensor", "machine"))):
        compared = 0
        for name in names:
            sample = os.path.join(SAMPLES, f"{chip}-{name}.db")
            checked = assay.run("check", "--against", chip, "--json", "--store", sample)
            for line in map(json.loads, checked.out.splitlines()):
                if not line.get("ratio") or line["group"] in ("Cache line", "L2"):  # cards have other slices switched off
                    continue
                compared += 1
                low, high = line["ratio_ci"]
                expect(high > 1 / STALE and low < STALE, f"{chip} beside {sample}", line)
        expect(compared > 20, "lines in common", chip)


def documented(row, column):
    """Lane and place of an element of A of mma.m16n8k16 as NVIDIA's PTX documentation has them."""
    return row % 8 * 4 + column % 8 // 2, column % 2 + row // 8 * 2 + column // 8 * 4


def test_reasons_are_whole(assay):
    """A line without a number says why in whole words: no reason ends where a field does."""
    fields = {95, 96, 127, 128, 191, 192}
    for name in sorted(os.listdir(SAMPLES)):
        if not name.endswith(".db"):
            continue
        sheet = json.loads(read(assay, "export", "1", "--format", "sheet", sample=os.path.join(SAMPLES, name)))
        reasons = {line["reason"] for device in sheet["devices"] for line in device["missing"]}
        expect(all(len(r.encode()) not in fields for r in reasons), name, [r for r in reasons if len(r.encode()) in fields])


def test_layout_of_fragments(assay):
    """From row and column to lane and place, and back, in the export and in the words of 'explain'."""
    rows = list(csv.DictReader(read(assay, "export", "1", "--format", "layout", sample=MATRICES).splitlines()))
    mine = [r for r in rows if r["instruction"] == "mma_m16n8k16_f16_f32" and r["operand"] == "a"]
    expect(len(mine) == 16 * 16, "each element once", mine[:2])
    for r in mine:
        place = int(r["lane"]), int(r["place"])
        expect(place == documented(int(r["row"]), int(r["column"])), "as documented", r)
    text = read(assay, "explain", mine[0]["cell"], sample=MATRICES)
    for row in range(16):
        shown = " ".join("%d.%d" % documented(row, column) for column in range(16))
        expect(re.search(rf"^row {row} +{re.escape(shown)}$", text, re.M), f"row {row}", text)
    expect(re.search(r"^lane 5 +1,2 1,3 9,2 9,3 1,10 1,11 9,10 9,11$", text, re.M), "lane 5", text)


def test_facts_of_an_earlier_run(assay):
    """A subject is taken from the last run with facts about it; a probe is a subject, too."""
    for subject, wanted, run in (("alu.latency", "alu.latency.ffma32", 2), ("alu.fill", "alu.fill.fadd16.1", 2), ("pipes.rot32", "pipes.rot32.xor32", 1)):
        facts = json.loads(read(assay, "facts", subject, "--json", sample=OPERATIONS))
        expect(facts["run"] == run and wanted in {f["id"] for f in facts["facts"]}, f"{subject}: {wanted}", facts["run"])


def middle(fact):
    """A capacity is its range."""
    return (fact["ci_low"] * fact["ci_high"]) ** 0.5 if fact["value"] is None else fact["value"]


def test_facts_of_the_h200(assay):
    facts = {f["id"]: f for f in json.loads(read(assay, "facts", "--json"))["facts"]}
    for name, low, high, unit in (("onchip.L1.latency", 31.9, 32.1, "cycles"), ("onchip.L1.size", 181 << 10, 256 << 10, "B"),
                                  ("bandwidth.memory.read.all", 4550, 4600, "GB/s"),
                                  ("bandwidth.memory.triad.all", 4350, 4450, "GB/s")):
        expect(name in facts, f"fact {name}", sorted(facts))
        fact = facts[name]
        expect(fact["unit"] == unit and low <= middle(fact) <= high and fact["verdict"] == "supported", name, fact)
        expect(fact["evidence"], f"{name} has evidence", fact)


def test_cells_of_the_h200(assay):
    run = json.loads(read(assay, "export", "--format", "json"))
    cells = run["cells"]
    count = {s: sum(c["status"] == s for c in cells) for s in ("ok", "wide", "rejected", "unsupported")}
    expect(count == {"ok": 122, "wide": 3, "rejected": 0, "unsupported": 6}, "as many of each kind as there were", count)
    for cell in (c for c in cells if c["status"] == "ok"):
        expect(cell["ci_low"] <= cell["median"] <= cell["ci_high"], "the interval holds the median", cell["axes"])
        expect(all(g["state"] != "fail" for g in cell["gates"].values()), "no gate fails", cell["gates"])
        expect(cell["gates"]["checksum"]["state"] != "fail" and cell["trials_counted"] >= 3, "checked", cell["axes"])


def test_page_of_the_h200(assay):
    page = os.path.join(assay.folder, "page.html")
    read(assay, "report", "-o", page)
    with open(page, encoding="utf-8") as f:
        text = f.read()
    expect(os.path.getsize(page) < 3e6, "a page of less than 3 MB", os.path.getsize(page))
    for words in ("NVIDIA H200", "132", "4.57 TB/s", "32.0 cycles", "Peak arithmetic", "PCIe 5.0 x16"):
        expect(words in text, f"the page says '{words}'")
    expect(not re.search(r"(?:src|href)=[\"']?https?:", text), "and asks no network")


def test_who_reaches_which_memory(assay):
    """Joined from several probes, on the page and in the terminal."""
    text = read(assay, "show", "last", "link_latency", sample=WHOLE)
    numbers = ("339 ns", "51.4 GB/s", "4.57 TB/s")
    expect("Who reaches which memory" in text and all(n in text for n in numbers), "in the terminal", text)
    page = os.path.join(assay.folder, "page.html")
    read(assay, "report", "-o", page, sample=WHOLE)
    with open(page, encoding="utf-8") as f:
        table = re.search(r'aria-label="Who reaches which memory".*?</table>', f.read().replace("\u00a0", " "), re.DOTALL)
    expect(table and all(n in table.group(0) for n in numbers), "on the page", table)


def test_tables_of_the_h200(assay):
    shown = read(assay, "show", "last")
    expect("131 measurements: 122 ok, 3 imprecise, 6 unsupported" in shown, "the count", shown[:400])
    same = read(assay, "compare", "1", "1")
    expect(same.startswith("a and b are the same run") and same.count("\n") == 1, "a run does not differ from itself", same[-300:])


def test_comparison_of_two_gpus(assay):
    """The verdict first, then what differs, most first; the rest only when asked for, and nothing that both runs lack."""
    pair = ("compare", WHOLE, os.path.join(SAMPLES, "h100-full.db"))
    text, whole = read(assay, *pair, COLUMNS="160"), read(assay, *pair, "--all", COLUMNS="160")
    pairs = [json.loads(line) for line in read(assay, *pair, "--json").splitlines()]
    differing = [p for p in pairs if p.get("verdict") in ("faster", "slower")]
    expect(re.match("a: .*\nb: .*\n\n[0-9]+ measurements compared: ", text), "the verdict leads", text[:400])
    expect(len(differing) > 100 and len(text.splitlines()) < 80, "what differs most", len(text.splitlines()))
    listed = re.sub(r"\n    ", " ", whole.rpartition("Slower in b:")[2].partition("Only in b")[0])
    ends = [[float(end) for end in pair] for pair in re.findall(r"b/a [0-9.]+x \(([0-9.]+) to ([0-9.]+)x\)", listed)]
    certain = [min(max(end, 1 / end) for end in pair) for pair in ends]
    expect(len(certain) > 100 and all(x >= 0.99 * y for x, y in zip(certain, certain[1:], strict=False)), "certainly most first", certain[:20])
    table = whole.partition("Only in b")[2]
    expect(len(re.findall(r"\bsame$", table, re.M)) == sum(p.get("verdict") == "same" for p in pairs), "all that are the same")
    expect("unsupported  unsupported" not in re.sub(" +", "  ", table), "nothing that both lack")
    for word in ("same", "inconclusive"):
        expect(len(re.findall(rf"\b{word}\b", text)) <= 3, f"'{word}' is only counted", text)


def test_history_has_the_clock_of_the_cpu(assay):
    """Beside the CPU's lines, and beside none of a GPU."""
    lines = [json.loads(line) for line in read(assay, "history", "--json", sample=os.path.join(SAMPLES, "h100-quick.db")).splitlines()]
    runs = [line for line in lines if "clock_hz" in line]
    expect(any(line["clock_hz"] for line in runs), "lines of the CPU", runs[:3])
    expect(any(line["device"] != "cpu" for line in runs), "lines of a GPU", runs[:3])
    expect(not [line for line in runs if line["clock_hz"] and line["device"] != "cpu"], "no CPU clock beside them", runs[:3])


def test_operations_of_the_h200(assay):
    """What the architecture's documents say of one SM: warps of 32, so many lanes for each kind of operation."""
    cells = json.loads(read(assay, "export", "2", "--format", "json", sample=OPERATIONS))["cells"]
    best, wait = {}, {}
    for cell in (c for c in cells if c["status"] == "ok"):
        op = cell["axes"].get("op")
        if cell["probe"] == "alu":
            best[op] = max(best.get(op, 0), cell["median"])
        elif cell["probe"] == "alu_latency":
            wait[op] = cell["median"]
    for op, lanes in (("ffma32", 128), ("fadd32", 128), ("ffma64", 64), ("imad32", 64), ("idp4a32", 64), ("shl32", 64),
                      ("rsqrt32", 16), ("exp2_32", 16), ("ffma2_f16", 256), ("ffma2_bf16", 256), ("fadd2_f16", 256), ("popc64", 8), ("cvt_f32_f64", 16), ("cvt_i32_f32", 64)):
        expect(abs(best[op] / lanes - 1) < 0.015, f"{op} on {lanes} lanes", best[op])
    for op, cycles in (("ffma32", 4), ("fmul32", 4), ("imad32", 4), ("ffma64", 8)):
        expect(abs(wait[op] - cycles) < 0.1, f"{op} waits {cycles} cycles", wait[op])
    both = set(best) & set(wait)
    expect(len(both) >= 120, "operations with both", len(both))
    code = [c["gates"]["code"]["state"] for c in cells if c["probe"].startswith("alu") and c["median"] is not None]
    expect(code.count("pass") >= 0.98 * len(code), "the code gate", code.count("pass"))


def test_pages_of_operations(assay):
    page = os.path.join(assay.folder, "page.html")
    read(assay, "report", "2", "-o", page, sample=OPERATIONS)
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for words in ("Operations", "Pipes", "rsqrt32", "ops/cycle"):
        expect(words in text, f"the page says '{words}'")
    told = read(assay, "explain", "alu/ffma32", sample=OPERATIONS)
    expect("128" in told and "FFMA" in told, "explain has what was measured", told)


def test_pipes_of_the_h200(assay):
    """As this architecture's documents have them: f32, integers, 64 bits and special functions each for themselves, four
    instructions per cycle; and what all that comes to is what sequences cost."""
    facts = {f["id"]: f for f in json.loads(read(assay, "facts", "1", "--json", sample=OPERATIONS))["facts"]}
    graph = facts["pipes"]
    expect(graph["verdict"] == "supported" and graph["value"] == 5, "five pipes that tell what sequences cost", graph)
    expect(abs(facts["pipes.issue"]["value"] / 4 - 1) < 0.01, "instructions per cycle", facts["pipes.issue"])
    for pair in ("imad32.fadd32", "cvt_f32_f64.fadd32", "cvt_f32_f64.imad32", "fadd32.ffma64", "cvt_f32_f64.ffma64"):
        apart = facts["pipes." + pair]
        expect(apart["verdict"] == "supported" and apart["value"] < 0.2, f"{pair} side by side", apart)
    for pair in ("imad32.idp4a32", "rot32.xor32", "rot32.perm32", "cvt_f32_f64.popc32", "cvt_f32_f64.recip32"):
        shared = facts["pipes." + pair]
        expect(abs(shared["value"] - 1) < 0.05, f"{pair} one after the other", shared)
    expect(abs(facts["pipes.cvt_f32_f64"]["value"] - 2) < 0.02, "conversions at a quarter of the rate", facts["pipes.cvt_f32_f64"])


def test_matrices_of_the_h200(assay):
    """Peaks, products, arithmetic and layouts, as this architecture's documents and publications have them."""
    cells = json.loads(read(assay, "export", "--format", "json", sample=MATRICES))["cells"]
    expect(not any(c["status"] in ("failed", "crashed", "timeout") for c in cells), "no cell failed")
    good = [(c["probe"], c["axes"], c["median"]) for c in cells if c["status"] == "ok"]
    peak = {a["instruction"]: v for p, a, v in good if p == "matmul_peak" and a["n"] == 0 and a["operands"] == "random"}
    for name, documented in (("wgmma_f16_f32", 4096), ("wgmma_bf16_f32", 4096), ("wgmma_tf32_f32", 2048),
                             ("wgmma_e4m3_f32", 8192), ("wgmma_e5m2_f32", 8192), ("wgmma_s8_s32", 8192)):
        expect(abs(peak[name] / documented - 1) < 0.005, f"{name} does {documented} operations per cycle", peak[name])
    rate = {(a["path"], a["type"], a["hold"]): v for p, a, v in good
            if p == "matmul" and a["size"] == 8192 and a["operands"] == "random"}
    for form in ("f16", "e4m3", "s8"):
        own, library = rate["wgmma", form, "burst"], rate["library", form, "burst"]
        expect(own > 0.9 * library, f"our product of {form} beside the library's", (own, library))
    found = {(a["instruction"], a["property"]): v for p, a, v in good if p == "numerics"}
    for name, bits in (("wgmma_f16_f32", 24), ("wgmma_e4m3_f32", 14), ("wgmma_e5m2_f32", 14), ("mma_m8n8k4_f64", 53)):
        expect(found[name, "accumulator"] == bits, f"{name} adds with {bits} bits", found[name, "accumulator"])
    told = [v for (_, what), v in found.items() if what == "explained"]
    expect(len(told) >= 8 and min(told) == 100, "what was found gives every result bit for bit", told)
    elsewhere = [v for p, _, v in good if p == "layout"]
    expect(len(elsewhere) >= 20 and not any(elsewhere), "all layouts are as documented", elsewhere)


def test_page_of_matrices(assay):
    page = os.path.join(assay.folder, "page.html")
    read(assay, "report", "-o", page, sample=MATRICES)
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for words in ("wgmma_e4m3_f32", "8192", "Attention"):
        expect(words in text, f"the page says '{words}'")


def test_shared_memory_of_the_h200(assay):
    """Memory of CPU and GPU over PCIe: what is pinned stays with the host and knows no atomics of both; what is managed
    moves, and knows them where their scope is the system. Who counts a block of 64 MiB."""
    cells = json.loads(read(assay, "export", "--format", "json", sample=SHARED))["cells"]
    expect(len(cells) == 1917 and not any(c["status"] in ("failed", "crashed", "timeout") for c in cells), "no cell failed")
    facts = {f["id"]: f for f in json.loads(read(assay, "facts", "--json", sample=SHARED))["facts"] if f["device"] == "cuda:0"}
    for name in ("cuMemAllocManaged", "cuMemAllocManaged_prefer_host", "cuMemAllocManaged_read_mostly", "__managed__"):
        kept, control = facts["lost.both." + name], facts["lost.control.both." + name]
        expect(kept["verdict"] == "supported" and kept["value"] == 0, f"no update is lost in {name}", kept)
        expect(control["value"] > 0, f"without atomics some are, in {name}", control)
    for name in ("cuMemHostAlloc.u32.system", "cuMemHostRegister_malloc.u64.system", "cuMemAllocManaged_prefer_host.u32.device"):
        lost = facts["lost.both." + name]
        expect(lost["verdict"] == "supported" and lost["value"] > 1000, f"updates are lost in {name}, as expected", lost)
    good = [(c["probe"], c["axes"], c["median"]) for c in cells if c["status"] == "ok" and c["device"] == "cuda:0"]
    counted = {(a["allocator"], a["counter"], a["step"]): v - 1 for p, a, v in good if p == "accounting"}
    for name, counter, moment, share in (("cuMemAlloc", "driver", "allocated", 1), ("cuMemAlloc", "VmRSS", "device-touched", 0),
                                         ("cuMemAllocManaged", "VmRSS", "allocated", 0), ("cuMemHostAlloc", "VmRSS", "allocated", 1),
                                         ("cuMemAllocManaged", "VmRSS", "cpu-touched", 1),
                                         ("cuMemAllocManaged", "VmRSS", "device-touched", 0)):
        seen = counted[name, counter, moment]
        expect(abs(seen - share) < 0.02, f"{counter} of {name} when {moment}", seen)
    copies = {a["from"]: v for p, a, v in good if p == "copy" and a["to"] == "cuMemAlloc" and a["how"] == "engine"}
    expect(abs(copies["cuMemHostAlloc"] / 55.4 - 1) < 0.01, "copies over PCIe", copies)


def test_data_sheet(assay):
    """One number per quantity, the same in the terminal and on the page."""
    text, page = read(assay, "show", "last"), read(assay, "report", "-o", "-")
    for label, value in (("read", "4.57 TB/s"), ("triad", "4.38 TB/s"), ("FP64", "33.4 TFLOP/s")):
        expect(any(label in line and value in line for line in text.splitlines()), f"{label} in the terminal", text)
        expect(value in page.replace("\u00a0", " "), f"{label} on the page")
    expect(text.count("4.57 TB/s") == 1 and "Worth knowing" in text and len(text.splitlines()) < 80, "short", text)


def test_data_sheet_for_other_programs(assay):
    """As JSON by its schema, and as constants that a compiler takes."""
    sheet, header = read(assay, "export", "--format", "sheet"), read(assay, "export", "--format", "header")
    with open(assay.path("sheet.json"), "w", encoding="utf-8") as f:
        f.write(sheet)
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    subprocess.run([sys.executable, os.path.join(tests, "store", "schema.py"),
                    os.path.join(tests, "..", "docs", "sheet.schema.json"), assay.path("sheet.json")], check=True)
    lines = {(line["group"], line["quantity"]): line for line in json.loads(sheet)["devices"][0]["lines"]}
    value = lines["Memory", "read"]["value"]
    expect(4500 < value < 4650 and lines["Memory", "read"]["unit"] == "GB/s", "memory read", lines)
    with open(assay.path("machine.h"), "w", encoding="utf-8") as f:
        f.write(header)
    with open(assay.path("use.c"), "w", encoding="utf-8") as f:
        f.write('#include "machine.h"\n#include "machine.h"\n_Static_assert((int)ASSAY_CUDA_0_MEMORY_READ_GB_PER_S == '
                f'{float(f"{value:.3g}"):.0f}, "");\n')
    done = subprocess.run(["cc", "-Wall", "-Werror", "-fsyntax-only", assay.path("use.c")], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 0, "a compiler takes the constants", done.stderr + header)


def test_page_of_shared_memory(assay):
    page = os.path.join(assay.folder, "page.html")
    read(assay, "report", "-o", page, sample=SHARED)
    with open(page, encoding="utf-8") as f:
        text = f.read()
    expect(os.path.getsize(page) < 3e6, "a page of less than 3 MB", os.path.getsize(page))
    for words in ("Porting advice", "UPDATES ARE LOST", "Allocation and first touch", "Page faults", "Memory accounting",
                  "Page faults and TLB misses", "What compilers emit", "Two backends, one device"):
        expect(words in text, f"the page says '{words}'")
    found = [f["id"] for f in json.loads(read(assay, "facts", "--json", sample=SHARED))["facts"]]
    expect(any(f.startswith("bandwidth.") for f in found), "facts on bandwidth", found)
    expect(not any(f.startswith("bandwidth.L2.") for f in found), "nothing was measured of L2", found)


def test_whole_run_of_the_h200(assay):
    """Caches and arithmetic as this architecture's documents have them, found without being told; and what one run says
    twice, by several probes, agrees."""
    cells = json.loads(read(assay, "export", "--format", "json", sample=WHOLE))["cells"]
    count = {s: sum(c["status"] == s for c in cells) for s in ("ok", "wide", "rejected", "unsupported")}
    expect(count == {"ok": 1346, "wide": 52, "rejected": 0, "unsupported": 63}, "as many of each kind as there were", count)
    facts = {f["id"]: f for f in json.loads(read(assay, "facts", "--json", sample=WHOLE))["facts"]}
    for name, low, high in (("onchip.L1.size", 215 << 10, 256 << 10), ("onchip.L1.latency", 31.9, 32.1),
                            ("onchip.whole.L2.size", 52 << 20, 64 << 20), ("onchip.L2.part.size", 26 << 20, 64 << 20),
                            ("onchip.L1.bandwidth", 126, 128), ("onchip.shared.banks", 32, 32),
                            ("onchip.unit.shared", 226 << 10, 231 << 10), ("arithmetic.peak.f64", 33.1e12, 33.5e12),
                            ("arithmetic.peak.f32", 66.2e12, 66.9e12), ("arithmetic.peak.f16", 131e12, 134e12),
                            ("bandwidth.memory.read.all", 4550, 4600), ("link.host-0.to", 54, 56)):
        fact = facts[name]
        expect(fact["verdict"] == "supported" and low <= middle(fact) <= high, name, fact)
    for one, other in (("cache.L2.latency_cycles", "onchip.L2.latency"), ("memory.latency", "onchip.memory.latency"),
                       ("cache.L1.latency_cycles", "onchip.L1.latency")):
        ratio = facts[one]["value"] / facts[other]["value"]
        expect(abs(ratio - 1) < 0.02, f"{one} beside {other}", ratio)


def sentences(page):
    """What the page tells first of its devices, those that are folded too."""
    told = [re.sub("<[^>]*>", "", li).removesuffix("why") for part in re.findall(r'<ul class="worth">(.*?)</ul>', page, re.S)
            for li in re.findall(r"<li[^>]*>(.*?)</li>", part, re.S)]
    return {html.unescape(t).replace("\u00a0", " ").strip() for t in told}


def bullets(shown, *titles):
    """The entries of the lists below the titles."""
    lists = (part.partition("\n\n")[0].replace("\n  ", " ") for title in titles for part in shown.split(f"\n{title}\n")[1:])
    return {line[2:] for part in lists for line in part.splitlines() if line.startswith("• ")}


def test_page_and_terminal_tell_the_same_first(assay):
    """What is worth knowing, or, of a device of which nothing is, its main results; and the open part of the page explains nothing twice."""
    told = 0
    for name in sorted(s for s in os.listdir(SAMPLES) if s.endswith(".db")):
        sample = os.path.join(SAMPLES, name)
        shown = read(assay, "show", "last", sample=sample, LC_ALL="C.UTF-8")
        read(assay, "report", "last", "-o", assay.path("page.html"), sample=sample)
        with open(assay.path("page.html"), encoding="utf-8") as f:
            page = f.read()
        own = bullets(shown, "Main results", "Worth knowing")
        expect(own == sentences(page), f"page and terminal of {name} tell the same", own ^ sentences(page))
        told += len(own)
        meta = [re.sub("<[^>]*>", "", p) for p in re.findall(r'<p class="meta">(.*?)</p>', page.partition('class="folds"')[0], re.S)]
        expect("~" not in re.sub("<[^>]*>", "", page.partition("<footer>")[0].partition("<body")[2].partition("<script")[0]) or "~ marks one wider" in page,
               f"the page of {name} explains its mark")
        twice = {p for p in meta if len(p) > 60 and meta.count(p) > 1}
        expect(not twice, f"the page of {name} explains nothing twice", twice)
    expect(told > 20, "samples tell something", told)


def test_facts_have_names_of_their_own(assay):
    for sample in sorted(os.listdir(SAMPLES)):
        if sample.endswith(".db"):
            told = json.loads(read(assay, "facts", "1", "--json", sample=os.path.join(SAMPLES, sample)))["facts"]
            names = [(f["device"], f["id"]) for f in told]
            expect(len(names) == len(set(names)), f"no two facts of {sample} have one name",
                   sorted(n for n in set(names) if names.count(n) > 1))


if __name__ == "__main__":
    harness.main(globals())
