"""Counts the instructions of the native kernels: native_code.py OUT.c LIBRARY [OBJDUMP]...

Of the disassemblers and their options those that decode most; without one the table says so. A kernel with an
instruction that none decodes is left out.
"""
import re
import subprocess
import sys

# Since version 15, LLVM's objdump decodes all extensions unless given --mattr; before, only those given. Others reject it.
EVERYTHING = "--mattr=+sve2,+sme,+sme-i64,+sme-f64,+dotprod,+i8mm,+bf16,+lse,+fullfp16"
UNKNOWN = re.compile(r"<unknown>|\.inst\b|\(bad\)|\bundefined\b|\budf\b")
# Alignment padding before a loop.
NOTHING = re.compile(r"nop|xchg +(%?\w+), *\1$|data16\b|cs\b")
COUNTED = ("as_native_", "as_pair_")


def disassemble(tools, library):
    best, fewest = None, None
    for tool in tools:
        for options in (["-M", "intel"], [], ["-M", "intel", EVERYTHING], [EVERYTHING]):
            done = subprocess.run([tool, "-d", "--no-show-raw-insn", *options, library], capture_output=True, text=True,
                                  check=False)
            if done.returncode or not re.search("<_?as_native_", done.stdout):
                continue
            unknown = len(UNKNOWN.findall(done.stdout))
            if unknown == 0:
                return done.stdout
            if fewest is None or unknown < fewest:
                best, fewest = done.stdout, unknown
    return best


def count(text):
    """{symbol: {instruction: count}}"""
    codes, code, unknown = {}, None, set()
    for line in text.splitlines():
        start = re.match(r"[0-9a-f]+ <_?(as_\w+)>:", line)
        if start:
            symbol = start.group(1)
            code = codes.setdefault(symbol, {}) if symbol.startswith(COUNTED) else None
            continue
        if code is not None and UNKNOWN.search(line):
            unknown.add(symbol)
        one = re.match(r"\s+[0-9a-f]+:\s+(?:\{\w+\} )?(([a-z][\w.]*).*)", line)
        if one and code is not None and not NOTHING.match(one.group(1).strip()):
            code[one.group(2)] = code.get(one.group(2), 0) + 1
    return {symbol: code for symbol, code in codes.items() if symbol not in unknown}


def main():
    out, library, tools = sys.argv[1], sys.argv[2], sys.argv[3:]
    text = disassemble(tools, library)
    codes = count(text) if text else {}
    names = sorted({name for code in codes.values() for name in code})
    why = "" if codes else ("no disassembler for these kernels was there when assay was built, so that their "
                            "instructions are not counted")
    with open(out, "w", encoding="ascii") as f:
        f.write('#include "lib/ops/native.h"\n\n')
        f.write("const char *const as_native_names[] = {" + "".join(f'"{n}", ' for n in names) + "NULL};\n")
        f.write("const struct as_native_count as_native_counts[] = {\n")
        rows, first = [], 0
        for symbol in sorted(codes):
            code = codes[symbol]
            f.write("    " + "".join(f"{{{names.index(n)}, {code[n]}}}, " for n in sorted(code)) + "\n")
            rows.append(f'    {{"{symbol}", {first}, {len(code)}}},\n')
            first += len(code)
        f.write("    {0, 0},\n};\nconst struct as_native_code as_native_codes[] = {\n" + "".join(rows))
        f.write(f"    {{NULL, 0, 0}},\n}};\nconst size_t as_native_codes_n = {len(rows)};\n")
        f.write(f'const char as_native_codes_why[] = "{why}";\n')


main()
