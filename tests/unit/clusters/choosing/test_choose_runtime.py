from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kwokctl.clusters.choosing.choose_runtime import choose_runtime
from kwokctl.clusters.state.home import Home
from kwokctl.errors import UnavailableError
from kwokctl.host.machine import Host
from kwokctl.host.paths import WorkDir
from kwokctl.progress import Silent
from tests.support.fake_runtime import FakeRuntime


class Notes(Silent):
    """Keeps what was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


@dataclass
class Machine:
    """A machine on which some runtimes cannot run."""

    folder: Path
    missing: set[str] = field(default_factory=set)
    notes: Notes = field(default_factory=Notes)

    def load(self, kind: str, host: Host) -> FakeRuntime:
        error = UnavailableError(f"no {kind} here", hint=f"get {kind}")
        return FakeRuntime(kind, fails_at={"check": error} if kind in self.missing else {})

    @property
    def home(self) -> Home:
        workdir = WorkDir(self.folder)
        return Home(workdir=workdir, cache=self.folder, progress=self.notes, load_runtime=self.load)


async def test_processes_of_this_machine_come_first_without_a_word(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    assert (await choose_runtime(machine.home, "")).name == "binary"
    assert machine.notes.told == []


async def test_another_runtime_is_taken_with_the_reason(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"binary"})

    assert (await choose_runtime(machine.home, "")).name == "docker"
    assert machine.notes.told == ["runtime: docker (no binary here)"]


async def test_what_was_asked_for_is_never_replaced(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"docker"})

    with pytest.raises(UnavailableError, match="no docker here"):
        await choose_runtime(machine.home, "docker")


async def test_where_none_can_run_every_reason_is_told(tmp_path: Path) -> None:
    machine = Machine(tmp_path, missing={"binary", "docker"})

    with pytest.raises(UnavailableError, match="no binary here; no docker here") as caught:
        await choose_runtime(machine.home, "")

    assert caught.value.hint == "get docker"
