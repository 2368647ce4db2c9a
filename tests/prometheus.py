"""Reads Prometheus text format 0.0.4 as strictly as node_exporter's textfile collector."""
import re

SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (NaN|[-+0-9.e]+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def unescaped(value):
    return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), value)


def read(path):
    """A list of (family, labels, value); fails on what breaks the format."""
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    assert text.endswith("\n") and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), f"control characters: {text!r}"
    samples, seen, families, now = [], set(), set(), None
    for line in text[:-1].split("\n"):
        head = re.fullmatch(r"# (HELP|TYPE) ([a-z_]+) (.+)", line)
        if head and head[1] == "HELP":
            now = head[2]
            assert now not in families, f"the samples of a family stand together: {line}"
            families.add(now)
            continue
        if head:
            assert head[2] == now and head[3] == "gauge", line
            continue
        match = SAMPLE.fullmatch(line)
        assert match and match[1] == now, f"not a sample of {now}: {line!r}"
        assert line not in seen, line
        labels = tuple((k, unescaped(v)) for k, v in LABEL.findall(match[2]))
        assert len({k for k, _ in labels}) == len(labels) and (now, labels) not in seen, f"twice: {line}"
        seen.add((now, labels))
        samples.append((now, dict(labels), float(match[3])))
    return samples
