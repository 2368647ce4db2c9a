"""The Metal Shading Language as C++, for tests:   msl.py CLANG++ IN.metal OUT.cpp [-DNAME=VALUE ...]

What the language refuses and C++ does not is refused here, with the file and the line: pointers without an address space,
arguments of kernels without an attribute, types and words that it does not have. What C++ refuses is left to clang, since
address spaces become types of their own (metal_library.h): what is cast from one to another, or written though it is constant.
Behind the program stands a table of its kernels, by which they are called.
"""
import os
import re
import subprocess
import sys

SCALARS = set("bool char uchar short ushort int uint long ulong float half bfloat size_t int8_t int32_t".split())
VECTORS = {t + n for t in "char uchar short ushort int uint long ulong float half".split() for n in "234"}
OPAQUE = set("atomic_uint atomic_int atomic_float atomic_ulong simd_vote void signed unsigned simdgroup_half8x8 simdgroup_float8x8 "
             "simdgroup_bfloat8x8 metal_fp8_e4m3_format metal_fp8_e5m2_format".split())
SPACES = {"device": "MSL_DEVICE", "constant": "MSL_CONSTANT", "threadgroup": "MSL_THREADGROUP", "thread": ""}
SPECIFIERS = {"const", "volatile", "static", "inline", "constexpr", "struct"}
# Words of C and C++ that kernels lack, and additional words of C++ compilers.
REFUSED = set("double asm __asm __asm__ goto new delete throw try catch virtual dynamic_cast typeid thread_local wchar_t "
              "__attribute__ __int128 _Float16 __bf16 restrict std".split())
# What a kernel may query about its thread: the member of struct msl_item.
KNOWN = {"thread_position_in_threadgroup": "thread", "threads_per_threadgroup": "threads",
         "threadgroup_position_in_grid": "group", "threadgroups_per_grid": "workgroups"}
BUFFERS = 31
TOKEN = re.compile(r'[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"(?:[^"\\]|\\.)*"|::|->|&&|\|\||<<|>>|[^\s\w]')


class Token:
    def __init__(self, text, before, place):
        self.text, self.before, self.place, self.out, self.after = text, before, place, text, ""


class Program:
    def __init__(self, text):
        self.errors, self.tokens, self.kernels, self.shared = [], [], [], []
        self.types = SCALARS | VECTORS | OPAQUE
        self.split(text)
        self.closing = self.match()

    def fail(self, token, what):
        self.errors.append(f"{token.place}: error: {what}")

    # ---- reading ----

    def split(self, text):
        """Tokens with the space before them; lines that begin with # are space."""
        file, line, before = "program", 0, ""
        for row in text.split("\n"):
            line += 1
            if row.lstrip().startswith("#"):
                if marker := re.match(r'#\s*(?:line )?(\d+) "([^"]*)"', row):
                    file, line = os.path.basename(marker[2]), int(marker[1]) - 1
                if row.startswith("#pragma msl include "):  # of a header of the stand-in
                    row = f'#include "{row.split()[3]}"'
                before += row + "\n"
                continue
            end = 0
            for m in TOKEN.finditer(row):
                self.tokens.append(Token(m[0], before + row[end:m.start()], f"{file}:{line}"))
                before, end = "", m.end()
            before += row[end:] + "\n"
        self.tokens.append(Token("", before, f"{file}:{line}"))

    def match(self):
        """Where what opens at a token closes."""
        closing, open_ones = {}, []
        for i, t in enumerate(self.tokens):
            if t.text in ("(", "[", "{"):
                open_ones.append(i)
            elif t.text in (")", "]", "}") and open_ones:
                closing[open_ones.pop()] = i
        return closing

    def find_types(self):
        for i, t in enumerate(self.tokens):
            if t.text == "typedef":
                k = i
                while self.tokens[k].text not in (";", ""):
                    k += 1
                    if self.tokens[k].text in (",", ";") and re.match(r"[A-Za-z_]", self.tokens[k - 1].text):
                        self.types.add(self.tokens[k - 1].text)
            elif t.text in ("struct", "typename", "class") and re.match(r"\w", self.tokens[i + 1].text):
                self.types.add(self.tokens[i + 1].text)

    # ---- what is refused, what is spelled otherwise ----

    def check_word(self, t):
        if t.text in REFUSED or t.text.startswith("__builtin"):
            self.fail(t, f"'{t.text}' is not supported in Metal")

    def check_pointer(self, i):
        """A * or & behind a type declares; the type must name where it points to."""
        k = i - 1
        while self.tokens[k].text in self.types | SPECIFIERS | set(SPACES):
            k -= 1
        words = {t.text for t in self.tokens[k + 1:i]}
        if words & self.types and not words & set(SPACES):
            self.fail(self.tokens[i], "pointer type must have explicit address space qualifier")

    def is_cast(self, i):
        """Is what opens at i the type of a pointer to cast to?"""
        inside = [t.text for t in self.tokens[i + 1:self.closing.get(i, i + 1)]]
        named = re.fullmatch(r"\w+|[)\]>]", self.tokens[i - 1].text) and self.tokens[i - 1].text != "return"
        return (not named and len(inside) > 1 and inside[-1] == "*" and
                set(inside[:-1]) <= self.types | SPECIFIERS | set(SPACES))

    def operand(self, i):
        """The last token of what a cast in front of i is of."""
        while self.tokens[i].text in ("*", "&", "-", "+", "!", "~"):
            i += 1
        if self.tokens[i].text == "(":
            inside = {t.text for t in self.tokens[i + 1:self.closing[i]]}
            if inside <= self.types | SPECIFIERS | set(SPACES) | {"*"}:
                return self.operand(self.closing[i] + 1)
            i = self.closing[i]
        while self.tokens[i + 1].text in ("(", "[", ".", "->", "::"):
            i = self.closing.get(i + 1, i + 2)
        return i

    def spell_cast(self, i):
        """C++ would let C's way of casting lose the address space."""
        end = self.closing[i]
        self.tokens[i].out, self.tokens[end].out = "reinterpret_cast<", ">("
        self.tokens[self.operand(end + 1)].after += ")"

    def is_pointer(self, i):
        """Does the declaration that begins with the address space at i declare a pointer or a reference?"""
        while self.tokens[i].text in self.types | SPECIFIERS | set(SPACES):
            i += 1
        return self.tokens[i].text in ("*", "&")

    def spell_space(self, i, depth, in_kernel):
        t = self.tokens[i]
        t.out = SPACES[t.text]
        if t.text != "threadgroup" or self.is_pointer(i):
            return
        if depth != 1 or not in_kernel:
            self.fail(t, "memory of a group is declared in the outermost block of a kernel only")
        t.out = "static thread_local " + t.out
        self.shared.append(self.size_of(i + 1))

    def size_of(self, i):
        """Of the arrays or variables that a declaration makes whose type begins at i."""
        first = i
        while self.tokens[i].text in self.types | SPECIFIERS:
            i += 1
        kind, sizes, size = " ".join(t.text for t in self.tokens[first:i]), [], ""
        while self.tokens[i].text not in (";", ""):
            if self.tokens[i].text == "[":
                size += " * (" + " ".join(t.text for t in self.tokens[i + 1:self.closing[i]]) + ")"
                i = self.closing[i]
            elif self.tokens[i].text == ",":
                sizes, size = sizes + [size], ""
            i += 1
        return " + ".join(f"sizeof({kind}){s}" for s in sizes + [size])

    def spell_number(self, t):
        """What has a point is float unless it is half."""
        m = re.fullmatch(r"((?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)([fFhH]?)", t.text)
        if m:
            t.out = f"((half){m[1]}f)" if m[2] in ("h", "H") else m[1] + "f"
        elif re.search(r"\d(ll|LL|ull|ULL|uLL|Ull)$", t.text) or (re.search(r"[lL]$", t.text) and "." in t.text):
            self.fail(t, f"'{t.text}' is of a type that is not supported in Metal")

    def check_scope(self, i):
        """A statement at program scope that begins at i and declares a variable: of constant memory."""
        words = []
        while self.tokens[i].text not in (";", "(", "{", "=", ""):
            words.append(self.tokens[i].text)
            i += 1
        plain = words and words[0] not in ("typedef", "using", "struct", "template", "namespace", "enum", "constexpr")
        if plain and self.tokens[i].text in (";", "=") and "constant" not in words:
            self.fail(self.tokens[i], "variables at program scope must be in constant memory")

    def walk(self):
        depth, i, kernel_until, begins = 0, 0, -1, True
        while i < len(self.tokens):
            t, after = self.tokens[i], self.tokens[min(i + 1, len(self.tokens) - 1)].text
            if depth == 0 and begins and t.text not in ("", ";"):
                self.check_scope(i)
            begins = t.text in (";", "}")
            self.check_word(t)
            if t.text == "kernel":
                kernel_until = self.take_kernel(i)
            elif t.text == "(" and self.is_cast(i):
                self.spell_cast(i)
            elif t.text in SPACES:
                self.spell_space(i, depth, i < kernel_until)
            elif t.text in ("*", "&", "&&"):
                self.check_pointer(i)
            elif t.text in VECTORS and after == "(":
                t.out = f"msl_make<{t.text}>"
            elif t.text in ("long", "unsigned") and after == "long":
                self.fail(t, "'long long' is not supported in Metal")
            elif t.text[:1].isdigit() or (t.text[:1] == "." and t.text[1:]):
                self.spell_number(t)
            depth += (t.text == "{") - (t.text == "}")
            i += 1

    # ---- kernels ----

    def take_kernel(self, i):
        """Arguments lose their attributes, and the kernel comes into the table. Where its body ends."""
        result, name, opening = self.tokens[i + 1:i + 4]
        end = self.closing.get(i + 3, -1)
        if result.text != "void" or opening.text != "(" or end < 0:
            self.fail(result, "a kernel returns void and has arguments")
            return -1
        self.tokens[i].out = "static"
        arguments, taken, first = [], set(), i + 4
        for k in range(i + 4, end + 1):
            if self.tokens[k].text == "," or k == end:
                arguments.append(self.argument(name, first, k, taken))
                first = k + 1
        self.shared = []
        bits = sum(1 << int(n) for kind, n in taken if kind == "buffer" and n)
        self.kernels.append((name.text, arguments, bits, self.shared))
        return self.closing.get(end + 1, -1)

    def argument(self, kernel, first, end, taken):
        """The tokens of one, from first to end: what it is called with."""
        at = next((k for k in range(first, end) if self.tokens[k].text == "["), end)
        name = self.tokens[at - 1]
        attribute = "".join(t.text for t in self.tokens[at:end])
        for t in self.tokens[at:end]:
            t.out = ""
        m = re.fullmatch(r"\[\[(\w+)(?:\((\d+)\))?\]\]", attribute)
        if not m:
            self.fail(name, f"argument '{name.text}' of kernel '{kernel.text}' has no attribute")
            return "0"
        if (m[1], m[2]) in taken:
            self.fail(name, f"argument '{name.text}' of kernel '{kernel.text}' has the place of another one")
        taken.add((m[1], m[2]))
        declared = [t.text for t in self.tokens[first:at - 1]]
        return self.buffer(kernel, name, declared, m[2]) if m[1] == "buffer" else self.known(kernel, name, declared, m[1])

    def buffer(self, kernel, name, declared, number):
        if number is None or int(number) >= BUFFERS:
            self.fail(name, f"kernels have buffers 0 to {BUFFERS - 1}, '{name.text}' of '{kernel.text}' is none of them")
        if not declared or declared[-1] not in ("*", "&") or not {"device", "constant"} & set(declared):
            self.fail(name, f"buffer '{name.text}' of kernel '{kernel.text}' must point to device or constant memory")
            return "0"
        kind = " ".join(SPACES.get(word, word) for word in declared[:-1])
        return f"{'*' if declared[-1] == '&' else ''}({kind} *)(unsigned long)buffers[{number}]"

    def known(self, kernel, name, declared, attribute):
        if attribute not in KNOWN:
            self.fail(name, f"nothing is known of the attribute '{attribute}'")
        if len(declared) != 1 or declared[0] not in ("uint", "ushort"):
            self.fail(name, f"'{name.text}' of kernel '{kernel.text}' must be a uint")
        return f"msl_runtime.item->{KNOWN.get(attribute)}"

    def table(self):
        calls = "".join(f"static void msl_call_{n}(void *const *buffers)\n{{\n    {n}({', '.join(a)});\n}}\n"
                        for n, a, _, _ in self.kernels)
        rows = "".join(f'    {{"{n}", msl_call_{n}, {bits}u, {" + ".join(shared) or "0"}}},\n'
                       for n, _, bits, shared in self.kernels)
        return f'{calls}extern "C" const struct msl_kernel msl_kernels[] = {{\n{rows}    {{nullptr, nullptr, 0, 0}},\n}};\n'

    def translated(self):
        self.find_types()
        self.walk()
        return '#include "metal_library.h"\n' + "".join(t.before + t.out + t.after for t in self.tokens) + "\n" + self.table()


def main():
    clang, source, out, *options = sys.argv[1:]
    include = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
    made = subprocess.run([clang, "-E", "-x", "c++", "-std=c++17", "-nostdinc", "-I", include, *options, source],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stderr)
    program = Program(made.stdout)
    text = program.translated()
    if program.errors:
        sys.exit("\n".join(program.errors))
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
