"""Runs a program that must not outlive its owner: `python leash.py PROGRAM ARGUMENT…`.

The owner holds the other end of standard input. However the owner ends, the pipe closes with it;
then the program and its children get a signal to stop, and are killed if they do not. Imports
nothing of kwokctl, so that it starts at once.
"""

import os
import signal
import subprocess  # noqa: TID251 - is itself the child of kwokctl.host.process
import sys
import threading
from contextlib import suppress

_GRACE = 2.0


def main(argv: list[str]) -> int:
    """Run the program to its end and return its exit status, 128 + N after signal N."""
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as e:
        sys.stderr.write(f"{argv[0]}: {e.strerror}\n")
        return 127
    is_abandoned = threading.Event()
    stopping = threading.Thread(
        target=_stop_when_abandoned, args=[child, is_abandoned], daemon=True
    )
    stopping.start()
    status = child.wait()
    if is_abandoned.is_set():
        # The program has ended, but what it has started may not have.
        stopping.join()
    return status if status >= 0 else 128 - status


def _stop_when_abandoned(child: subprocess.Popen[bytes], is_abandoned: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    is_abandoned.set()
    # Interrupted, not terminated: go removes its temporary files only then.
    _signal_group(child.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE)
    _signal_group(child.pid, signal.SIGKILL)


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
