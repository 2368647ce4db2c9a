"""Commands of a session of their own, which have the priority of the thread that starts them. Where the system shares the
processors out among sessions ("autogroup"), a nice value counts only within one, and each test has a session of its own."""
import contextlib
import os
import signal
import subprocess

_running = set()
_stopped = False


def run(command, **more):
    """As subprocess.run, with what it says on both outputs in stdout."""
    if _stopped:
        return subprocess.CompletedProcess(command, -signal.SIGTERM, "stopped")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True, **more) as process:
        _running.add(process)
        with contextlib.suppress(OSError), open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as f:
            f.write(str(os.getpriority(os.PRIO_PROCESS, 0)))
        try:
            said, _ = process.communicate()
        except BaseException:
            _end(process)
            raise
        finally:
            _running.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, said)


def _end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def stop():
    """Ends what runs and lets nothing start any more: a session of its own does not hear of Ctrl-C."""
    global _stopped
    _stopped = True
    for process in list(_running):
        _end(process)
