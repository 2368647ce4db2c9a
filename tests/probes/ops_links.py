"""Chains of integer divisions on devices: by their references and links every step divides by a short divisor, so that no
quotient becomes a long divisor and the next quotient short."""
import os
import random
import sys

LIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib", "ops")
sys.path.insert(0, LIB)
import ops  # noqa: E402

STEPS = 200
DIVISOR = (3, 17)  # AS_OP_DIVISOR
MOST = 31  # of which an or with such a divisor makes at most


def divisors(op, rng):
    """Those of a chain: dividends in their domain, the masks of links that too."""
    top = 0xffff << ops.TYPES[op.type].bits - 16
    masks, dividends = ([f(*DIVISOR) for _ in range(4)] for f in (rng.randint, lambda *_: top | rng.getrandbits(32)))
    reference = op.get("host").replace("/", "//")
    a = rng.randint(*DIVISOR)
    for step in range(STEPS):
        yield a
        r = eval(reference, {"a": a, "b": dividends[step % 4]})  # pylint: disable=eval-used
        a = eval(op.get("link"), {"r": r, "m": masks[step % 4]})  # pylint: disable=eval-used


def fault_of(op, rng):
    if (op.domain("a"), op.domain("b"), op.domain("m")) != ("divisor", "high", "divisor"):
        return "other domains"
    wrong = [a for _ in range(20) for a in divisors(op, rng) if not DIVISOR[0] <= a <= MOST]
    return f"divides by {wrong[0]}" if wrong else ""


divisions = [o for o in ops.read(os.path.join(LIB, "integer.ini")) if o.base in ("idiv", "irem")]
print(f"1..{len(divisions)}")
for i, division in enumerate(divisions, 1):
    fault = fault_of(division, random.Random(i))
    print(f"{'not ok' if fault else 'ok'} {i} - {division.name}{': ' if fault else ''}{fault}")
