"""What `make bench BENCH=uops` counts, on made facts: uops.py ROOT."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "bench"))
import uops  # noqa: E402  (bench/)


def fact(name, value, sentence="takes"):
    return {"id": name, "value": value, "sentence": f"it {sentence} {value} cycles"}


def figure(name, low, high=None):
    return {"low": low, "high": low if high is None else high, "beside": [{"fact": name}]}


def document(*pairs):
    return {"facts": [f for f, _ in pairs], "references": [r for _, r in pairs]}


def verdicts(found):
    return {row["what"]: (row["value"], row["verdict"]) for row in uops.rows(found)}


def agreeing(n):
    return [(fact(f"operands.latency.op{i}.1to1", 3.01), figure(f"operands.latency.op{i}.1to1", 3)) for i in range(n)]


def test_share():
    wrong = (fact("operands.latency.slow.1to1", 4), figure("operands.latency.slow.1to1", 3))
    seen = verdicts(document(*agreeing(9), wrong))
    assert seen["latency, within 2%"] == ("9 of 10 (90%)", "met"), seen
    assert seen["  operands.latency.slow.1to1"] == ("4 cycles / 3: 1.333", ""), seen
    assert verdicts(document(*agreeing(8), wrong))["latency, within 2%"][1] == "not met"


def test_ranges():
    name = "operands.latency.mul.1torax"
    for value, ratio in ((3.5, 1), (4.04, 1.01), (2, 2 / 3)):
        assert abs(uops.ratio_of(value, 3, 4) - ratio) < 1e-9
        assert uops.is_within(uops.ratio_of(value, 3, 4)) == (value != 2)
    assert "3 to 4" in verdicts(document((fact(name, 9), figure(name, 3, 4))))[f"  {name}"][0]


def test_no_ratio():
    """Nothing is over a figure of 0, and a bound is no measurement of it."""
    name, bound = "operands.latency.xchg.1to2", "operands.latency.mov.2tomem"
    seen = verdicts(document((fact(name, 0.3), figure(name, 0)), (fact(bound, 9, "takes at most"), figure(bound, 3))))
    assert list(seen) == [f"  {name}"], seen
    assert seen[f"  {name}"][0].endswith("a figure of 0"), seen


def test_kinds():
    name = "operands.throughput.add"
    assert list(verdicts(document((fact(name, 0.25), figure(name, 0.25))))) == ["throughput, median ratio",
                                                                               "throughput, within 2%"]


def main():
    tests = [f for n, f in sorted(globals().items()) if n.startswith("test_")]
    print(f"1..{len(tests)}")
    for i, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {i} - {test.__name__}")
        except AssertionError as e:
            print(f"not ok {i} - {test.__name__}: {e}")


if __name__ == "__main__":
    main()
