"""Names in kernels that a kernel language reserves: a kernel is compiled in several, and not everywhere each of its branches.

kernel_names.py TOP prints each variable, argument or function of a .kernel file whose name is a keyword of OpenCL C, of the
Metal Shading Language or of C++, in branches of any API, and fails where there is one."""
import os
import re
import subprocess
import sys

OPENCL = """half quad complex imaginary kernel global local constant private generic pipe uniform read_only write_only read_write
    sampler_t event_t queue_t ndrange_t reserve_id_t image1d_t image2d_t image3d_t uchar ushort uint ulong"""
METAL = """device threadgroup thread vertex fragment mesh object_data ray_data sampler visible intersection patch stitchable
    metal simd quadgroup"""
CXX = """class new delete this template typename public protected private operator virtual friend namespace using try catch throw
    and or not xor compl bitand bitor export explicit mutable auto alignas alignof constexpr decltype noexcept nullptr
    static_assert thread_local typeid wchar_t concept requires true false bool"""
RESERVED = {word: language for language, words in (("C++", CXX), ("Metal", METAL), ("OpenCL C", OPENCL)) for word in words.split()}
VECTORS = re.compile(r"(?:u?char|u?short|u?int|u?long|float|double|half|bool)(?:2|3|4|8|16)")
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
TYPE = r"(?:[uif](?:8|16|32|64)(?:x[24])?|atomic_[uf](?:32|64)|int|unsigned|float|double|void|REAL|ELEMENT|VALUE)"
NAMED = re.compile(rf"\b{TYPE}\s*[*&]*\s*\b(\w+)\s*[=;,)\[({{]|\bARG_\w+\(\s*\d+,[^,()]*,\s*(\w+)\s*\)|,\s*(\w+)\s*=[^=]|\bKERNEL\((\w+)\)")


def check(top, paths):
    wrong = []
    for path in paths:
        with open(os.path.join(top, path), encoding="utf-8") as f:
            text = NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), f.read())
        for m in NAMED.finditer(text):
            name = next(g for g in m.groups() if g)
            language = RESERVED.get(name, "OpenCL C" if VECTORS.fullmatch(name) else None)
            if language:
                wrong.append(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: '{name}' is a keyword of {language}")
    return wrong


def paths_of(top):
    listed = subprocess.run(["git", "ls-files", "*.kernel"], cwd=top, capture_output=True, text=True, check=True).stdout.split()
    return [p for p in listed if os.path.exists(os.path.join(top, p))]


def main():
    top = sys.argv[1]
    wrong = check(top, paths_of(top))
    print("\n".join(wrong) or "no kernel has a name that a kernel language reserves")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
