"""The library exports what the header declares and nothing else. Arguments: library, header."""
import re
import shutil
import subprocess
import sys

library, header = sys.argv[1:3]
if not shutil.which("nm"):
    sys.exit(77)
listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listed.splitlines() if line.split()[-2] in "TDBRVW"}
exported -= {"_init", "_fini", "__bss_start", "_edata", "_end"}
with open(header, encoding="utf-8") as f:
    declared = set(re.findall(r"ASSAY_API[^;(]*?\b(assay_\w+)\(", f.read()))
exported = {name for name in exported if not name.startswith(("__asan", "__ubsan", "__odr_asan", "__sanitizer"))}
assert declared, "no declarations were found"
assert exported == declared, f"only exported: {exported - declared}; only declared: {declared - exported}"
