"""What begins and ends repeated runs waits for another command that uses the cluster, and for no other measurement."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.time_travel.make_mark import mark_cluster
from kwokctl.clusters.time_travel.reach import marks_of
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.errors import BusyError, ConflictError
from kwokctl.host.paths import WorkDir
from kwokctl.measure.repeating.start_state import MARK, demand_unmarked, drop_mark, when_released
from kwokctl.progress import Silent
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

NAME = cluster_name("kwok")


class Notes(Silent):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.texts: asyncio.Queue[str] = asyncio.Queue()

    def note(self, text: str) -> None:
        self.texts.put_nowait(text)


def marked(folder: Path, notes: Notes) -> Home:
    """Return a home with a cluster that a measurement has marked."""
    home = Home(workdir=WorkDir(folder), cache=folder, progress=notes)
    save_cluster(home.workdir, NAME, cluster_options(runtime="fake"))
    mark = Mark(
        name=MARK, made=1.0, prefix="/registry", revision=1, baseline=1, witness=1, objects=0, size=0, file="x.content"
    )  # fmt: skip
    folder = home.paths(NAME).marks
    folder.mkdir()
    (folder / f"{MARK}.json").write_bytes(msgspec.json.encode(mark))
    return home


async def test_the_mark_is_dropped_once_another_command_is_over(tmp_path: Path) -> None:
    home = marked(tmp_path, notes := Notes())
    async with asyncio.timeout(20):
        with alone(home.workdir, NAME):
            dropping = asyncio.create_task(drop_mark(home, NAME))
            assert (await notes.texts.get()).endswith("; this command waits for that")
            assert marks_of(home, NAME).names() == [MARK]
        await dropping

    assert marks_of(home, NAME).names() == []


async def test_a_mark_that_another_measurement_has_made_meanwhile_is_not_replaced(
    tmp_path: Path,
) -> None:
    home = marked(tmp_path, Notes())
    with pytest.raises(ConflictError, match="another measurement goes on"):
        await mark_cluster(home, NAME, MARK, demand=lambda marks: demand_unmarked(NAME, marks))


class Rewind:
    """Finds the cluster in use a number of times."""

    def __init__(self, used: int) -> None:
        self.used = used

    async def __call__(self) -> str:
        self.used -= 1
        if self.used >= 0:
            raise BusyError("the cluster 'kwok' is in use by process 7", hint="wait")
        return "rewound"


async def test_a_rewind_waits_for_another_command_and_notes_it_once() -> None:
    notes: list[str] = []

    assert await when_released(Rewind(3), notes.append) == "rewound"

    assert notes == ["the cluster 'kwok' is in use by process 7; this command waits for that"]


async def test_a_rewind_that_is_free_notes_nothing() -> None:
    notes: list[str] = []

    assert await when_released(Rewind(0), notes.append) == "rewound"

    assert notes == []


async def test_a_rewind_does_not_wait_for_ever() -> None:
    with pytest.raises(BusyError, match="process 7"):
        await when_released(Rewind(3), print, within=0)
