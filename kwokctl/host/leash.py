"""Runs a program that must not outlive its owner: `python leash.py PIPE PROGRAM ARGUMENT…`.

The owner holds the other end of the pipe, whose descriptor is given as a number. However the owner ends, the pipe closes
with it. If it is standard input (0), the program is in a session of its own: then it and its children get a signal to
stop, and are killed if they do not. Otherwise the program has our input, terminal and group, and is asked to end as its
owner would ask it. Imports nothing of kwokctl, so that it starts at once.
"""

import os
import signal
import subprocess  # noqa: TID251 - is itself the child of kwokctl.host.process
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_GRACE = 2.0


def main(pipe: int, argv: list[str]) -> int:
    """Run the program to its end and return its exit status, 128 + N after signal N."""
    is_apart = pipe == 0
    if not is_apart:
        _outlive_signals_to_the_group()
    try:
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL if is_apart else None, start_new_session=is_apart
        )
    except OSError as e:
        sys.stderr.write(f"{argv[0]}: {e.strerror}\n")
        return 127
    is_abandoned = threading.Event()
    stop = _stop_group if is_apart else subprocess.Popen.terminate
    stopping = threading.Thread(
        target=_stop_when_abandoned, args=[pipe, child, is_abandoned, stop], daemon=True
    )
    stopping.start()
    status = child.wait()
    if is_abandoned.is_set():
        # The program has ended, but what it has started may not have.
        stopping.join()
    return status if status >= 0 else 128 - status


def _outlive_signals_to_the_group() -> None:
    """Leave Ctrl-C and the like to the program, which gets them as well, and wait for its end.

    What is ignored, as by nohup, stays so: the program inherits that, and no handler.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _stop_when_abandoned(
    pipe: int,
    child: subprocess.Popen[bytes],
    is_abandoned: threading.Event,
    stop: Callable[[subprocess.Popen[bytes]], None],
) -> None:
    while os.read(pipe, 4096):
        pass
    is_abandoned.set()
    stop(child)


def _stop_group(child: subprocess.Popen[bytes]) -> None:
    # Interrupted, not terminated: go removes its temporary files only then.
    _signal_group(child.pid, signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE)
    _signal_group(child.pid, signal.SIGKILL)


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
