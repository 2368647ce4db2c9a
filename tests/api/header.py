"""The public header compiles alone, as C99, C17 and C++, without a warning. Arguments: include folder, compiler..."""
import shutil
import subprocess
import sys

include, compiler = sys.argv[1], sys.argv[2:]
flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", include, "-"]
ways = [[*compiler, "-xc", "-std=c99"], [*compiler, "-xc", "-std=c17"]]
for cxx in ("c++", "g++", "clang++"):
    if shutil.which(cxx):
        ways.append([cxx, "-xc++", "-std=c++11"])
        ways.append([cxx, "-xc++", "-std=c++17"])
        break
else:
    print("no C++ compiler: C only")
for way in ways:
    done = subprocess.run([*way, *flags], input="#include <assay.h>\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(way)}: {done.stderr}"
