"""Launches and stops a component, under its lock."""

import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from kwokctl.errors import ComponentError
from kwokctl.host import logfiles
from kwokctl.host.executables import is_on_noexec, misfit
from kwokctl.host.files import write_atomic
from kwokctl.host.noted_locks import turn
from kwokctl.host.processes.forks import Forks
from kwokctl.host.processes.holding import HeldFile, held_words
from kwokctl.host.processes.identify import find_process
from kwokctl.host.processes.launcher import FAILED, launch
from kwokctl.host.processes.launches import Launches
from kwokctl.host.processes.supervise import Process, kill, launched, read_pid_file, stop
from kwokctl.model import ComponentName
from kwokctl.tasks import both

_NOEXEC = "its disk is mounted with 'noexec': choose a folder for programs on another disk with XDG_CACHE_HOME"


async def start_component(
    launches: Launches,
    name: ComponentName,
    *,
    why: str,
    even_if_stopped: bool = True,
    forks: Forks | None = None,
) -> None:
    """Launch a component unless it runs; raise ComponentError if its program cannot be executed.

    Without `even_if_stopped` one that has been stopped on purpose stays so. It is forked if `forks` can do so.
    """
    async with _turn(launches, name, "starting") as lock:
        # Looked at under the lock: a stop that is under way has said so before it waited for us.
        if _runs(launches, name) or not (even_if_stopped or launches.is_wanted(name)):
            return
        await _launch(launches, name, why, lock, forks=forks)


async def replace_held(
    launches: Launches, name: ComponentName, grace: float, *, why: str
) -> HeldFile | None:
    """Stop a component, and start it again: the new process waits before it acts, and ends with this one.

    Returns None for one that cannot be made to wait: that is only stopped, and `grace` is for it. The
    other is killed: the new one takes over its work. It stays marked as stopped until it is started, so
    that no other process launches it meanwhile.
    """
    file = launches.held_file(name)
    if file is None:
        await stop_component(launches, name, grace)
        return None
    async with _turn(launches, name, "replacing") as lock:
        former, hold = find_process(launches, name), HeldFile(file)
        try:
            # The former one has its signal before the other is launched; its end takes it some time.
            await both(_end(former, grace=0), _launch(launches, name, why, lock, hold))
        except BaseException:
            # It may have been launched nevertheless.
            hold.let_go()
            raise
        finally:
            hold.launched()
        return hold


async def _end(process: Process | None, grace: float) -> None:
    if process:
        await stop(process, grace)


async def _launch(
    launches: Launches,
    name: ComponentName,
    why: str,
    lock: int,
    hold: HeldFile | None = None,
    forks: Forks | None = None,
) -> None:
    how, log = launches.read(name), launches.paths.log(name)
    check_program(name, Path(how.argv[0]))
    logfiles.rotate(log)
    logfiles.mark(log, why)
    words = held_words(how.argv, how.held_at) if hold else how.argv
    pid_file, folder = launches.pid_file(name), Path(how.folder or launches.paths.root)
    if forks and await forks.launch(
        words, pid_file=pid_file, log=log, folder=folder, env=how.env, lock=lock
    ):
        return
    pid = launch(
        words,
        pid_file=pid_file,
        log=log,
        folder=folder,
        env=how.env,
        lock=lock,
        held_by=hold.reads if hold else None,
    )
    status = await launched(pid)
    if status is not None and status < 0:
        logfiles.mark_killed(log, -status)
    if status in FAILED:
        raise ComponentError(
            f"'{name}' cannot be started: {how.argv[0]} cannot be executed",
            hint="see whether it was built for this machine, or give another program",
            detail=logfiles.tail(log, 1),
        )


def _runs(launches: Launches, name: ComponentName) -> bool:
    """Return whether a component runs; if so, its pid file is there."""
    process = find_process(launches, name)
    if process is None or not process.is_alive:
        return False
    _write_again(process, launches.pid_file(name))
    return True


async def stop_component(launches: Launches, name: ComponentName, grace: float) -> None:
    """Stop a component, or a launch of it that is under way, and forget its process."""
    if not launches.paths.pids.is_dir():
        return
    async with _turn(launches, name, "stopping"):
        await _end(find_process(launches, name), grace)
        launches.pid_file(name).unlink(missing_ok=True)


async def kill_component(launches: Launches, name: ComponentName) -> None:
    """Kill a component, or a launch of it that is under way: it can do nothing any more, and is forgotten."""
    if not launches.paths.pids.is_dir():
        return
    async with _turn(launches, name, "stopping"):
        if process := find_process(launches, name):
            await kill(process)
        launches.pid_file(name).unlink(missing_ok=True)


def _write_again(process: Process, pid_file: Path) -> None:
    """Write a lost pid file again."""
    if read_pid_file(pid_file) != process:
        write_atomic(pid_file, str(process))


def _turn(launches: Launches, name: str, what: str) -> AbstractAsyncContextManager[int]:
    """Wait for a command that starts or stops this component now: at most the grace period."""
    return turn(launches.lock(name), doing=f"{what} '{name}'", waiting=lambda _: None)


def check_program(name: ComponentName, program: Path) -> None:
    """Raise ComponentError unless a component's program is there and may be executed."""
    if not program.is_file():
        raise ComponentError(
            f"'{name}' cannot be started: {program} is not there",
            hint="'kwokctl artifacts build' brings programs back into the store",
        )
    if not os.access(program, os.X_OK):
        chmod = f"chmod +x {program}"
        raise ComponentError(
            f"'{name}' cannot be started: {program} may not be executed",
            hint=_NOEXEC if is_on_noexec(program) else chmod,
        )
    if os.access(program, os.R_OK) and (what := misfit(program)):
        raise ComponentError(
            f"'{name}' cannot be started: {program} is {what}",
            hint="give a program that was built for this machine; a script begins with a line such as '#!/bin/sh'",
        )
