"""A run on a terminal: the data sheet so far in place, whatever the terminal's size, and nothing else touched."""
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import termios

import harness
from harness import MEASURED, expect

# A device with two caches: latencies and capacities for the data sheet, soon after the start.
CACHES = {"execute": True, "noise": {"sd": 0.002}, "levels": [
    {"size": 32 << 10, "ns": 1, "gbs": 100}, {"size": 1 << 20, "ns": 4, "gbs": 50}, {"size": 0, "ns": 90, "gbs": 9}],
    "info": {"threads": 1, "allocators": [{"name": "malloc"}, {"name": "mmap"}, {"name": "thp"}]}}
CELLS = ["latency", "--device", "null", "--budget", "0", "--set", "allocator=base_pages", "--set", "size=4KiB,16KiB,256KiB,4MiB,16MiB"]
RUN = ["run", *CELLS, "--trials", "1"]
LONG = ["run", *CELLS, "--trials", "100"]  # until it is interrupted
BEFORE = [f"before {i}" for i in range(5)]


class Screen:
    """What a terminal shows that does what assay asks of one. Made narrower, it cuts lines off, or breaks them anew."""

    def __init__(self, rows, columns, breaks=False):
        self.rows, self.columns, self.breaks = rows, columns, breaks
        self.past, self.lines, self.row, self.column = [], [""], 0, 0
        self.wrapped, self.wrapped_live, self.unknown = 0, 0, []
        self.left = ""

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        parts = [[line[i:i + columns] for i in range(0, max(len(line), 1), columns)] for line in self.lines]
        if self.breaks:
            self.row = sum(len(p) for p in parts[:self.row]) + min(self.column // columns, len(parts[self.row]) - 1)
            self.column = min(self.column % columns, columns - 1)
        self.lines = [part for p in parts for part in (p if self.breaks else p[:1])]
        self.scroll()

    def scroll(self):
        while len(self.lines) > self.rows:
            self.past.append(self.lines.pop(0))
            self.row -= 1
        self.row = max(self.row, 0)

    def next_line(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")
        self.scroll()

    def put(self, character):
        if self.column >= self.columns:
            self.wrapped += 1
            self.column = 0
            self.next_line()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def control(self, count, what):
        if what == "A":
            self.row = max(0, self.row - int(count or 1))
        elif what in ("K", "J") and not count:
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:len(self.lines) if what == "J" else self.row + 1]
        elif what != "m":
            self.unknown.append(count + what)

    def feed(self, text):
        text = self.left + text
        self.left = ""
        for part in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.*\Z|.", text, re.DOTALL):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.next_line()
            elif part.startswith("\x1b[") and part[-1].isalpha():
                self.control(part[2:-1], part[-1])
            elif part.startswith("\x1b"):
                self.left = part
            else:
                self.put(part)

    def all(self):
        return [line.rstrip() for line in self.past + self.lines]


def on_screen(assay, rows, columns, *args, resize=(), breaks=False, stop=None, **env):
    """The screen after a command, and what it showed after each piece of output. resize: sizes to change to, one after each
    ten pieces. stop: a signal sent once lines are there."""
    screen, shown, seen = Screen(rows, columns, breaks), [], b""
    screen.feed("".join(line + "\r\n" for line in BEFORE))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = assay.start(*args, stdin=slave, stdout=slave, stderr=slave, env={**assay.script(CACHES), "TERM": "xterm", **env},
                          start_new_session=True)
    os.close(slave)
    sizes = list(resize)
    with contextlib.suppress(OSError):  # EIO: no process has it open any more
        while part := os.read(master, 65536):
            seen += part
            screen.feed(part.decode("utf-8", "replace"))
            shown.append(list(screen.lines))
            if progress_lines(screen.lines):
                screen.wrapped_live = screen.wrapped
            if sizes and len(shown) % 10 == 0:
                screen.resize(*sizes[0])
                fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *sizes.pop(0), 0, 0))
            if stop and not sizes and live([screen.lines]):
                os.killpg(process.pid, stop)
                stop = None
    os.close(master)
    return assay.finish(process), screen, shown, seen.decode("utf-8", "replace")


def progress_lines(lines):
    return [line for line in lines if re.match(r"\d+%(, |$)", line)]


def expect_in_place(screen, shown):
    expect(screen.all()[:len(BEFORE)] == BEFORE, "what stood there before stays", screen.all())
    expect(not screen.unknown, "no other control sequences", screen.unknown)
    expect(not progress_lines(screen.all()), "no progress is left", screen.all())
    expect(all(len(progress_lines(lines)) <= 1 for lines in shown), "one progress line at a time")


def live(shown):
    return [lines for lines in shown if progress_lines(lines) and any(line.startswith("Memory ") for line in lines)]


def test_in_place(assay):
    """At every size: lines that never wrap, a block that never scrolls, and the whole sheet at the end."""
    for rows, columns in ((24, 80), (50, 200), (8, 40)):
        done, screen, shown, _ = on_screen(assay, rows, columns, *LONG, stop=signal.SIGINT)
        expect(done.code == harness.FAILED, f"an interrupted run at {columns}x{rows}", done)
        expect(screen.wrapped_live == 0, "no line wraps", screen.all())
        expect_in_place(screen, shown)
        expect(live(shown), "the data sheet so far", shown[-5:])
        expect(sum(line.startswith("Run ") for line in screen.all()) == 1, "the run is shown once", screen.all())


def test_tiny(assay):
    """Where not even the block's first lines fit."""
    done, screen, shown, _ = on_screen(assay, 3, 20, *RUN)
    expect(done.code in MEASURED and screen.wrapped_live == 0, "a run", done)
    expect_in_place(screen, shown)


def test_resized(assay):
    """Text is replaced where it is; where the terminal broke it anew, some of it stays, and nothing else is overwritten."""
    for breaks in (False, True):
        done, screen, shown, _ = on_screen(assay, 24, 80, *LONG, stop=signal.SIGINT, breaks=breaks,
                                           resize=((40, 120), (30, 60), (10, 40), (24, 80)))
        expect(done.code == harness.FAILED, "an interrupted run", done)
        expect(screen.all()[:len(BEFORE)] == BEFORE, "what stood there before stays", screen.all())
        expect(live(shown), "the data sheet so far")
        expect(breaks or not progress_lines(screen.all()), "no progress is left", screen.all())
        expect(any(re.search(r"run \d interrupted", line) for line in screen.all()), "the end", screen.all())


def test_control_c(assay):
    """The block goes, and what is left says how to go on."""
    done, screen, shown, _ = on_screen(assay, 24, 80, *LONG, stop=signal.SIGINT)
    expect(done.code == harness.FAILED, "interrupted", done)
    expect_in_place(screen, shown)
    expect(any("to continue: assay resume 1" in line for line in screen.all()), "how to go on", screen.all())


def test_dumb_terminal(assay):
    """Lines, as for a pipe, and no control sequence."""
    done, screen, shown, seen = on_screen(assay, 24, 80, *RUN, TERM="dumb")
    expect(done.code in MEASURED and "\x1b" not in seen, "plain text", ascii(seen[:500]))
    expect(re.search(r"(?m)^ +\d+\.\d s  Memory +latency", seen), "lines of the data sheet", seen)


def test_no_colour(assay):
    seen = on_screen(assay, 24, 80, *RUN, NO_COLOR="1")[3]
    expect(not re.search(r"\x1b\[[0-9;]*m", seen), "no colours", ascii(seen[:500]))


def test_quiet(assay):
    seen = on_screen(assay, 24, 80, *RUN, "--quiet")[3]
    expect(not re.search(r"\x1b\[[0-9]*[AJK]", seen) and "Memory" in seen, "only the sheet", ascii(seen[:500]))


def test_errors_break_between_words(assay):
    """A pipe gets an error as one line."""
    long = ["run", "latency", "--device", "null", "--set", "pattern=" + "of no kind " * 12]
    piped = assay.run(*long, env=assay.script(CACHES)).err.splitlines()[0]
    done, screen, _, _ = on_screen(assay, 24, 60, *long)
    expect(done.code == harness.USAGE and len(piped) > 120, "a long error", piped)
    lines = [line.rstrip() for line in screen.all() if line and line not in BEFORE]
    at = next(i for i, line in enumerate(lines) if line.startswith("assay: "))
    text = " ".join(line.strip() for line in lines[at:])
    expect(screen.wrapped == 0 and text.startswith(piped), "the same words in lines of the terminal's width", lines)


if __name__ == "__main__":
    harness.main(globals())
