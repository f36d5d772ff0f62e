"""Launches one component, at most once at a time."""

import os
from pathlib import Path

from kwokctl.errors import ComponentError
from kwokctl.host import logfiles
from kwokctl.host.files import locked
from kwokctl.host.launcher import launch
from kwokctl.host.supervise import is_running, launched
from kwokctl.model import ComponentName
from runtimes.binary.launches import Launches

_LOCK_WAIT = 10.0


async def start_component(launches: Launches, name: ComponentName, *, why: str) -> None:
    """Launch a component unless it runs; raise ComponentError if its program cannot be executed."""
    paths, pid_file = launches.paths, launches.pid_file(name)
    with locked(launches.lock(name), what=f"the launch of '{name}'", wait=_LOCK_WAIT):
        if is_running(pid_file):
            return
        how = launches.read(name)
        _check_program(name, Path(how.argv[0]))
        pid_file.unlink(missing_ok=True)
        log = paths.log(name)
        logfiles.rotate(log)
        logfiles.mark(log, why)
        pid = launch(how.argv, pid_file=pid_file, log=log, folder=paths.root, env=how.env)
        await launched(pid_file, pid)


def _check_program(name: ComponentName, program: Path) -> None:
    if not program.is_file():
        raise ComponentError(
            f"'{name}' cannot be started: {program} is not there",
            hint="'kwokctl artifacts build' brings programs back into the store",
        )
    if not os.access(program, os.X_OK):
        raise ComponentError(
            f"'{name}' cannot be started: {program} may not be executed",
            hint=f"chmod +x {program}",
        )
