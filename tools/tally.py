"""Counts of tests, and the one line at the end."""
import time

_began = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - _began:4.0f} s] {text}", flush=True)


class Tally:
    def __init__(self):
        self.passed = self.failed = 0
        self.failures, self.skips = [], []

    @staticmethod
    def end_of(log, lines=40):
        return "\n".join("    " + line for line in log.strip().splitlines()[-lines:])

    def ok(self, _name, count=1):
        self.passed += count

    def fail(self, name, log):
        """log None: the caller shows it."""
        self.failed += 1
        self.failures.append(name)
        if log is not None:
            say(f"FAILED {name}\n{self.end_of(log)}")

    def skip(self, name, why):
        self.skips.append((name, why))

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.failures += other.failures
        self.skips += other.skips

    def close(self):
        """Prints what was skipped and failed, then the counts; the exit code."""
        for name, why in self.skips:
            print(f"skipped: {name}: {why}")
        for name in self.failures:
            print(f"failed: {name}")
        if self.passed == 0 and self.failed == 0:
            self.failed = 1
            print("failed: no test was run")
        print(f"{self.passed} passed, {self.failed} failed, {len(self.skips)} skipped", flush=True)
        return 1 if self.failed else 0
