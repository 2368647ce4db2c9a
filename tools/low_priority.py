#!/usr/bin/env python3
"""Commands of a session of their own, which have the priority of the thread that starts them. Where the system shares the
processors out among sessions ("autogroup"), a nice value counts only within one, and each test has a session of its own.

low_priority.py COMMAND...   becomes that command, in a session of its own and at the lowest priority
"""
import contextlib
import os
import signal
import subprocess
import sys
import threading

LOWEST = 19

_running = set()
_stopped = False


def run(command, **more):
    """As subprocess.run, with what it says on both outputs in stdout."""
    if _stopped:
        return subprocess.CompletedProcess(command, -signal.SIGTERM, "stopped")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True, **more) as process:
        _running.add(process)
        _share_as(process.pid, os.getpriority(os.PRIO_PROCESS, 0))
        try:
            said, _ = process.communicate()
        except BaseException:
            _end(process)
            raise
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, said)


def _share_as(pid, priority):
    """What the session of that process gets of the processors, where they are shared out among sessions."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as f:
        f.write(str(priority))


def _end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def stop():
    """Ends what runs and lets nothing start any more: a session of its own does not hear of Ctrl-C."""
    global _stopped
    _stopped = True
    for process in list(_running):
        _end(process)


def give_way():
    """The calling thread, and the commands that it runs."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST)


if __name__ == "__main__":
    if os.getpid() != os.getsid(0):
        os.setsid()
    give_way()
    _share_as("self", LOWEST)
    os.execvp(sys.argv[1], sys.argv[1:])
