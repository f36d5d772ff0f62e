from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.status import RunStatus, component_statuses
from kwokctl.clusters.stop import stop_cluster
from kwokctl.components.catalog import catalog
from kwokctl.model import ETCD, KUBE_SCHEDULER, KWOK_CONTROLLER, State
from kwokctl.progress import Silent, Step
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


class Titles(Silent):
    """Keeps the titles of steps."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        self.seen.append(title)
        with super().step(title) as step:
            yield step


@pytest.fixture
def runtime() -> FakeRuntime:
    return FakeRuntime(
        found=dict.fromkeys(catalog(), State.RUNNING), log=b"running\nclosing: leader lost\n"
    )


@pytest.fixture
def home(tmp_path: Path, runtime: FakeRuntime) -> Home:
    """Save a cluster whose controller is a program of the user's."""
    options = cluster_options(
        runtime="fake",
        kwok_controller_binary="/opt/kwok",
        etcd_binary="/opt/etcd",
        kube_scheduler_image="registry.test/scheduler:mine",
    )
    return replace(home_with(tmp_path, NAME, options, runtime), progress=Titles())


async def test_stopping_returns_what_ran_and_nothing_the_second_time(
    home: Home, runtime: FakeRuntime
) -> None:
    assert set(await stop_cluster(home, NAME)) == set(catalog())

    titles = Titles()
    assert await stop_cluster(replace(home, progress=titles), NAME) == ()
    assert titles.seen == []


async def test_what_does_not_run_is_stopped_all_the_same_for_it_may_be_revived(
    home: Home, runtime: FakeRuntime
) -> None:
    runtime.found = dict.fromkeys(catalog(), State.STOPPED)

    await stop_cluster(home, NAME)

    assert {name for call in runtime.asked for name in call.split()[1:]} == set(catalog())


async def test_a_stopped_cluster_does_not_look_like_a_crashed_one(home: Home) -> None:
    await stop_cluster(home, NAME)

    statuses = await component_statuses(home, NAME)

    assert {(s.status, s.message) for s in statuses} == {
        (RunStatus.STOPPED, "stopped by 'stop cluster'")
    }


async def test_components_that_ended_by_themselves_show_the_end_of_their_logs(
    home: Home, runtime: FakeRuntime
) -> None:
    runtime.found = dict.fromkeys(catalog(), State.STOPPED)

    statuses = await component_statuses(home, NAME)

    assert {s.message for s in statuses} == {"running\nclosing: leader lost"}


async def test_a_program_or_image_that_its_user_has_given_has_no_version_of_ours(
    home: Home,
) -> None:
    await stop_cluster(home, NAME)

    versions = {s.name: s.version for s in await component_statuses(home, NAME)}

    assert [versions.pop(name) for name in (KWOK_CONTROLLER, ETCD, KUBE_SCHEDULER)] == [""] * 3
    assert set(versions.values()) == {"v1"}


async def test_a_cluster_is_stopped_even_if_that_cannot_be_noted_as_on_a_full_disk(
    home: Home,
) -> None:
    home.paths(NAME).stopped.symlink_to("/nowhere/at-all")

    assert await stop_cluster(home, NAME)
