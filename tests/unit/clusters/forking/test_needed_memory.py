"""Forks are made only if this machine has the memory that they take at most."""

import os
from pathlib import Path

import pytest

from kwokctl.clusters.forking.needed_memory import (
    ForkNeeds,
    demand_memory,
    needs_of_forks,
    needs_of_seeds,
)
from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import CapacityError
from kwokctl.host.paths import WorkDir
from kwokctl.host.processes.process_usage import resident
from kwokctl.progress import Silent
from tests.support.fake_runtime import FakeRuntime, SeenRuntime
from tests.support.options import cluster_options
from tests.support.recorded_messages import RecordedMessages
from tests.support.saved_cluster import save_cluster

GIB = 1 << 30


async def _needs(folder: Path, runtime: FakeRuntime) -> ForkNeeds | None:
    source = save_cluster(WorkDir(folder), cluster_name("source"), cluster_options())
    return await needs_of_forks(runtime, source, 3, available=GIB)


async def test_a_fork_takes_a_quarter_more_than_its_source(tmp_path: Path) -> None:
    times = 40
    needs = await _needs(tmp_path, SeenRuntime(times=times))

    assert needs is not None
    assert needs.each == pytest.approx(resident([os.getpid()]) * times * 1.25, rel=0.1)
    assert needs.together == 3 * needs.each


async def test_a_fork_takes_no_less_than_an_empty_cluster(tmp_path: Path) -> None:
    needs = await _needs(tmp_path, SeenRuntime())

    assert needs is not None
    assert needs.each > GIB // 2


async def test_nothing_is_known_of_processes_that_are_not_seen(tmp_path: Path) -> None:
    assert await _needs(tmp_path, FakeRuntime()) is None
    assert await _needs(tmp_path, SeenRuntime(times=0)) is None


def test_clusters_of_a_file_take_what_as_many_pods_as_it_has_room_for_take(tmp_path: Path) -> None:
    def needs(size: int, runtime: FakeRuntime) -> ForkNeeds | None:
        file = tmp_path / "a.db"
        with file.open("wb") as made:
            made.truncate(size)
        return needs_of_seeds(file, runtime, cluster_options(), 3, available=GIB)

    small, large = needs(1 << 20, SeenRuntime()), needs(200 << 20, SeenRuntime())

    assert small is not None
    assert large is not None
    assert small.each < GIB < 3 * GIB < large.each
    assert large.count == 3
    assert needs(1 << 20, FakeRuntime()) is None


def _demanded(count: int, *, is_ignored: bool = False, available: int = 4 * GIB) -> list[str]:
    progress = RecordedMessages()
    needs = ForkNeeds(count=count, each=GIB, available=available)
    demand_memory(needs, progress, is_ignored=is_ignored)
    return progress.lines


def test_what_forks_take_is_said_before_they_are_made() -> None:
    assert _demanded(4) == ["4 forks take at most 4Gi of memory, and 4Gi are available"]


def test_nothing_is_said_of_one_fork_that_fits() -> None:
    assert _demanded(1) == []


def test_more_than_there_is_are_refused_with_a_number_that_fits() -> None:
    with pytest.raises(CapacityError, match="5 forks take at most 5Gi") as caught:
        _demanded(5)
    assert "make 4 with --count 4" in str(caught.value.hint)
    assert "--ignore-memory" in str(caught.value.hint)


def test_where_none_fits_no_number_is_named() -> None:
    with pytest.raises(CapacityError, match="1 fork takes at most 1Gi") as caught:
        _demanded(1, available=GIB // 2)
    assert "--count" not in str(caught.value.hint)


def test_they_are_made_regardless_for_who_wants_that() -> None:
    assert "5 forks take at most 5Gi" in _demanded(5, is_ignored=True)[0]


@pytest.mark.parametrize("needs", [None, ForkNeeds(count=9, each=GIB, available=0)])
def test_nothing_is_refused_where_the_memory_is_not_known(needs: ForkNeeds | None) -> None:
    demand_memory(needs, Silent(), is_ignored=False)
