"""Reads from the command of a container what its program does: `sleep 30`, `sh -c "sleep 5; exit 3"`.

Programs such as `sleep` and shells handle no signals, and Linux delivers none without a handler to the
first process of a container (pid_namespaces(7)): they run on after SIGTERM, until they are done or killed.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.scripts.running import Ran, run_script, runs_on, slept
from kwokctl.controller.lifecycle.scripts.script_tree import UnreadableError
from kwokctl.replacing import replace

FINITE = 1.0
"""Seconds that an unknown program runs, in a pod that is expected to end."""
_SHELLS = frozenset(("sh", "bash", "ash", "dash"))
_SCRIPT = re.compile(r"-[a-z]*c[a-z]*")
_MOST_RUNS = 8
"""Runs of a script that may differ, by the files that those before have left."""


def read_words(
    words: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    kept: Collection[str] = (),
    ends: bool = False,
) -> ContainerProgram | None:
    """Return what a command does; None for an unknown command.

    Files below the folders `kept` are there in the next run, too. `ends` says whether the pod is to end:
    there a script with unknown commands does what its other commands say.
    """
    if not words:
        return None
    command = [words[0].rpartition("/")[2], *words[1:]]
    match command:
        case [shell, options, script, *rest] if shell in _SHELLS and _SCRIPT.fullmatch(options):
            try:
                ran = _runs(script, rest, variables or {}, kept, is_strict="e" in options)
            except (UnreadableError, RecursionError):
                return None
            return _of_script(ran, ends=ends)
        case _:
            return _of_program(command)


def _of_program(command: Sequence[str]) -> ContainerProgram | None:
    match command:
        case ["true"] | ["false"]:
            return ContainerProgram(run=0.0, exit_codes=(int(command[0] == "false"),))
        case ["pause", *_]:
            return ContainerProgram(run=None)
        case ["sleep", *lengths]:
            seconds = slept(lengths)
            return None if seconds is None else _sleeper(seconds)
        case _:
            return _sleeper(math.inf) if runs_on(command) else None


def _runs(
    script: str,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    kept: Collection[str],
    *,
    is_strict: bool,
) -> list[Ran]:
    """Return what a script does in its first run, and in the next ones as far as they differ."""
    found: list[Ran] = []
    files: frozenset[str] = frozenset()
    while len(found) < _MOST_RUNS:
        ran = run_script(
            script, arguments, variables=variables, files=files, stops_at_errors=is_strict
        )
        found.append(ran)
        left = frozenset(file for file in ran.files if _is_in(file, kept))
        if left == files:
            break
        files = left
    return found


def _is_in(file: str, folders: Collection[str]) -> bool:
    return any(file.startswith(f"{folder.rstrip('/')}/") for folder in folders)


def _of_script(runs: Sequence[Ran], *, ends: bool) -> ContainerProgram | None:
    first = runs[0]
    if first.is_certain or first.seconds == math.inf or (ends and first.seconds > FINITE):
        program = _sleeper(first.seconds)
    elif ends:
        program = ContainerProgram(run=FINITE)
    else:
        return None
    program = replace(program, exit_codes=tuple(ran.code for ran in runs))
    if first.stop == math.inf:
        return program
    return replace(program, stop=first.stop, stop_code=first.stop_code)


def _sleeper(run: float) -> ContainerProgram:
    return ContainerProgram(run=None if run == math.inf else run, stop=math.inf)
