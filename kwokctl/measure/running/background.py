"""A recording that goes on in the background, for an afternoon: it is started by one command, and ended by another."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from kwokctl.clusters.state.home import Home
from kwokctl.errors import (
    CommandError,
    ConflictError,
    KwokctlError,
    NotFoundError,
    UnavailableError,
)
from kwokctl.host.noted_locks import locked
from kwokctl.host.platforms import is_linux, platform_name
from kwokctl.host.processes import supervise
from kwokctl.host.processes.launcher import launch
from kwokctl.host.processes.supervise import Process, launched, read_pid_file
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.record.record_file import check_new
from kwokctl.measure.record.record_names import newest_record
from kwokctl.model import ClusterName

RECORD = "--record"
"""The option whose value is the record, in the words of the process."""
LATENCY, TOPOLOGY, METRIC, PHASE = "--latency=", "--topology=", "--metric=", "--phase="
"""Before each latency, each label of nodes, each metric and each phase, likewise."""
_POLL = 0.1
_GRACE = 60.0
"""Seconds in which a recording writes what it still has."""


async def start(home: Home, name: ClusterName, words: Sequence[str], record: Path) -> None:
    """Start `measure run` with these words, and return when it watches everything.

    Raises UnavailableError where processes cannot be followed, ConflictError if there is a recording of this name or the file already, BusyError if
    another command starts one, and CommandError, with what it has said, if it ends at once.
    """
    if not is_linux():
        raise UnavailableError(
            f"recordings in the background need Linux, and this is {platform_name()}",
            hint="'kwokctl measure' records in the foreground, until Ctrl-C",
        )
    check_new(record)
    home.workdir.measurements.mkdir(parents=True, exist_ok=True)
    with locked(home.workdir.recording_lock(name), what=f"the recording of '{name}'"):
        if running(home, name) is not None:
            raise ConflictError(
                f"a recording of '{name}' is under way already",
                hint=f"end it with: kwokctl --name {name} measure stop",
            )
        await _launched(home, name, words, record)


async def _launched(home: Home, name: ClusterName, words: Sequence[str], record: Path) -> None:
    """Start the process, and return when it watches everything; an interrupt ends it."""
    folder = home.workdir.measurements
    pid_file, log = _pid_file(home, name), folder / f"{name}.log"
    log.unlink(missing_ok=True)
    command = [sys.executable, "-P", "-m", "kwokctl", "--name", name, "measure", "run"]
    argv = [*command, RECORD, str(record), *words]
    workdir = {"KWOK_WORKDIR": str(home.workdir.root)}
    pid = launch(argv, pid_file=pid_file, log=log, folder=folder, env=workdir)
    try:
        status = await launched(pid)
        with home.progress.step("Starting to record"):
            while status is None and not _has_begun(record):
                await asyncio.sleep(_POLL)
                process = read_pid_file(pid_file)
                status = None if process and process.is_alive else 1
    except asyncio.CancelledError:
        if (process := read_pid_file(pid_file)) is not None:
            await supervise.stop(process, _GRACE)
        pid_file.unlink(missing_ok=True)
        raise
    if status is not None:
        pid_file.unlink(missing_ok=True)
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise CommandError("the recording has ended at once", detail=said or None)


async def stop(home: Home, name: ClusterName) -> Path:
    """End the recording, and return its record; NotFoundError if there is none, or if it has ended by itself."""
    process = running(home, name)
    if process is None:
        raise _not_under_way(home, name)
    record = _record_of(process)
    with home.progress.step("Ending the recording"):
        await supervise.stop(process, _GRACE)
    _pid_file(home, name).unlink(missing_ok=True)
    return record


def asked_of(home: Home, name: ClusterName, option: str) -> list[str]:
    """Return what the recording under way was asked for by `LATENCY`, `TOPOLOGY`, `METRIC` or `PHASE`."""
    process = running(home, name)
    words = process.words if process else []
    return [word.removeprefix(option) for word in words if word.startswith(option)]


def running(home: Home, name: ClusterName) -> Process | None:
    """Return the process that records; None if none does."""
    process = read_pid_file(_pid_file(home, name))
    return process if process and process.is_alive and RECORD in process.words else None


def record_under_way(home: Home, name: ClusterName) -> Path | None:
    """Return the record that is being written; None if there is none."""
    process = running(home, name)
    return _record_of(process) if process else None


def _not_under_way(home: Home, name: ClusterName) -> NotFoundError:
    """Return the error where there is nothing to stop; what a recording has left that was killed can be reported."""
    pid_file = _pid_file(home, name)
    if not pid_file.exists():
        return NotFoundError(
            f"there is no recording of '{name}' under way",
            hint=f"start one with: kwokctl --name {name} measure start",
        )
    record = newest_record(home.workdir.measurements, name)
    is_its = record is not None and record.stat().st_mtime >= pid_file.stat().st_mtime
    file = str(record) if is_its else "FILE, the one that '--record' of 'measure start' has named"
    return NotFoundError(
        f"the recording of '{name}' has ended by itself, for example because it was killed",
        hint=f"report what it has recorded with: kwokctl measure {file}",
    )


def _record_of(process: Process) -> Path:
    return Path(process.words[process.words.index(RECORD) + 1])


def _pid_file(home: Home, name: ClusterName) -> Path:
    return home.workdir.measurements / f"{name}.pid"


def _has_begun(record: Path) -> bool:
    try:
        return record.exists() and "begin" in history_of(record).moments
    except KwokctlError:
        return False  # its beginning is being written
