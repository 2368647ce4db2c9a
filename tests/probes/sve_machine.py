"""The instructions of SVE that the streams use, executed from the text for any length of vectors.

Memory is three arrays of so many elements: each access is counted, and one outside them is an error."""
import re

STEPS_MOST = 200000
AT = {"out": 0x100000, "x": 0x200000, "y": 0x300000}
CALLEE_SAVED = {f"x{i}" for i in range(18, 31)} | {f"z{i}" for i in range(8, 16)} | {f"p{i}" for i in range(4, 16)}


class Wrong(Exception):
    """What the code must not do."""


class Machine:
    """A call of a kernel; lanes: f64 in a vector."""

    def __init__(self, text, lanes, arrays):
        self.lanes, self.arrays = lanes, arrays
        self.loads = {name: [0] * len(a) for name, a in arrays.items()}
        self.stores = {name: [0] * len(a) for name, a in arrays.items()}
        self.by = {}  # vectors by instruction and kind of address
        self.r, self.less, self.equal = {}, False, False
        self.code, self.labels = [], {}
        for line in (l.strip() for l in text.splitlines()):
            if re.fullmatch(r"\d:", line):
                self.labels[line[:-1]] = len(self.code)
            elif line and not line.startswith((".", "begin_function", "end_function")):
                self.code.append(line)

    def call(self, n, scalar, reps):
        self.r = {"x0": AT["out"], "x1": AT["x"], "x2": AT["y"], "x3": n, "x4": reps, "d0": scalar}
        at, steps = 0, 0
        while self.code[at] != "ret":
            steps += 1
            if steps > STEPS_MOST:
                raise Wrong("it does not end")
            at = self.step(self.code[at], at)
        return self.r["x0"]

    def step(self, line, at):
        name, _, rest = line.partition(" ")
        words = [w.strip() for w in re.split(r",(?![^\[{]*[\]}])", rest)]
        if name.startswith("b.") or name == "cbz":
            taken = {"b.lo": self.less, "b.ls": self.less or self.equal, "b.eq": self.equal, "b.ne": not self.equal,
                     "cbz": name == "cbz" and self.r.get(words[0]) == 0}[name]
            return self.labels[words[-1][:-1]] if taken else at + 1
        method = getattr(self, "do_" + name, None)
        if not method:
            raise Wrong(f"unknown instruction {line}")
        method(*words)
        return at + 1

    def put(self, name, value):
        name = name.partition(".")[0]
        if name in CALLEE_SAVED:
            raise Wrong(f"{name} belongs to the caller")
        self.r[name] = value

    def get(self, word):
        if word.startswith("#"):
            return int(word[1:])
        return self.r[re.split(r"[./]", word)[0]]

    # ---- integers ----

    def do_mov(self, d, a):
        vector = d.startswith("z")
        self.put(d, [self.get(a)] * self.lanes if vector else self.get(a))

    def do_add(self, d, a, b):
        if d.startswith("z"):
            self.put(d, [x + y for x, y in zip(self.get(a), self.get(b))])
        else:
            self.put(d, self.get(a) + self.get(b))

    def do_cmp(self, a, b):
        self.less, self.equal = self.get(a) < self.get(b), self.get(a) == self.get(b)

    def do_subs(self, d, a, b):
        self.do_cmp(a, b)
        self.put(d, self.get(a) - self.get(b))

    def do_cntd(self, d, _="all", times="mul #1"):
        self.put(d, self.lanes * int(times.partition("#")[2]))

    def do_incd(self, d):
        self.put(d, self.get(d) + self.lanes)

    def do_incb(self, d, _, times):
        self.put(d, self.get(d) + 8 * self.lanes * int(times.partition("#")[2]))

    def do_dmb(self, _):
        self.by["fence"] = 1

    def do_fmov(self, d, a):
        self.put(d, self.get(a))

    # ---- predicates ----

    def do_ptrue(self, p):
        self.put(p, [True] * self.lanes)

    def do_whilelo(self, p, a, b):
        active = [self.get(a) + l < self.get(b) for l in range(self.lanes)]
        self.put(p, active)
        self.equal, self.less = not any(active), not active[-1]

    def do_incp(self, d, p):
        self.put(d, self.get(d) + sum(self.get(p)))

    # ---- vectors ----

    def place(self, word):
        """Array and element of the first lane, and the kind of address."""
        base, _, offset = word.strip("[]").partition(", ")
        by_length = "mul vl" in offset
        at = self.get(base) + (8 * self.lanes * int(re.findall(r"-?\d+", offset)[0]) if by_length else
                               8 * self.get(offset.partition(",")[0]))
        name = max((n for n in AT if AT[n] <= at), key=lambda n: AT[n], default=None)
        if name is None or at % 8:
            raise Wrong(f"no array is at {at:#x}")
        return name, (at - AT[name]) // 8, "whole" if by_length else "tail"

    def lane(self, name, i):
        if not 0 <= i < len(self.arrays.get(name, ())):
            raise Wrong(f"element {i} of {name} is outside")
        return self.arrays[name][i]

    def count(self, instruction, name, kind):
        self.by[instruction, name, kind] = self.by.get((instruction, name, kind), 0) + 1

    def do_ld1d(self, z, p, address):
        name, first, kind = self.place(address)
        self.count("load", name, kind)
        values = [0] * self.lanes
        for l, active in enumerate(self.get(p)):
            if active:
                values[l] = self.lane(name, first + l)
                self.loads[name][first + l] += 1
        self.put(z.strip("{}"), values)

    def do_st1d(self, z, p, address, instruction="st1d"):
        name, first, kind = self.place(address)
        self.count(instruction, name, kind)
        for l, (active, value) in enumerate(zip(self.get(p), self.get(z.strip("{}")))):
            if active:
                self.lane(name, first + l)
                self.arrays[name][first + l] = value
                self.stores[name][first + l] += 1

    def do_stnt1d(self, z, p, address):
        self.do_st1d(z, p, address, "stnt1d")

    def do_fadd(self, d, a, b):
        self.put(d, [x + y for x, y in zip(self.get(a), self.get(b))])

    def do_fmul(self, d, a, b):
        self.put(d, [x * y for x, y in zip(self.get(a), self.get(b))])

    def do_fmla(self, d, p, a, b):
        self.put(d, [z + x * y if on else z
                     for z, on, x, y in zip(self.get(d), self.get(p), self.get(a), self.get(b))])

    def do_faddv(self, d, p, a):
        self.put(d, sum(x for x, on in zip(self.get(a), self.get(p)) if on))

    do_uaddv = do_faddv
