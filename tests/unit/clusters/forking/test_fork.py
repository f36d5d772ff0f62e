"""A fork that cannot be made is refused before anything is made of it."""

import asyncio
from pathlib import Path

import pytest

from kwokctl.clusters.create import CreateRequest, create_cluster
from kwokctl.clusters.forking.fork import ForkRequest, copy_authorities, fork_cluster, together
from kwokctl.clusters.forking.fork_target import ForkPlace
from kwokctl.clusters.launching.launch import Patience
from kwokctl.clusters.start import start_cluster
from kwokctl.clusters.state.half_copies import begin_copy, complete_copy
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import with_values
from kwokctl.config.resolve import Resolved
from kwokctl.errors import (
    CapacityError,
    ComponentError,
    ConflictError,
    NotFoundError,
    NotServedError,
    UsageError,
)
from kwokctl.model import ETCD, ComponentName, Port, State
from kwokctl.replacing import replace
from tests.support.fake_runtime import BringingRuntime, FakeEngineRuntime, FakeRuntime, SeenRuntime
from tests.support.listener import Listener
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with, save_cluster

SOURCE, FORK = cluster_name("source"), cluster_name("fork")


def _home(tmp_path: Path, runtime: FakeRuntime) -> Home:
    return home_with(tmp_path, SOURCE, cluster_options(), runtime)


def _request(source: str = SOURCE) -> ForkRequest:
    return ForkRequest(
        source=cluster_name(source), names=(FORK,), kubeconfig=None, patience=Patience()
    )


async def test_a_cluster_that_exists_is_not_replaced(tmp_path: Path) -> None:
    home = _home(tmp_path, FakeRuntime())
    save_cluster(home.workdir, FORK, cluster_options())

    with pytest.raises(ConflictError, match="the cluster 'fork' exists"):
        await fork_cluster(home, _request())


async def test_what_a_killed_fork_has_left_is_neither_started_nor_gone_on_with(
    tmp_path: Path,
) -> None:
    home = _home(tmp_path, FakeRuntime())
    save_cluster(home.workdir, FORK, cluster_options())
    begin_copy(home.paths(FORK))

    with pytest.raises(ConflictError, match="the cluster 'fork' is half made") as caught:
        await fork_cluster(home, _request())
    assert "kwokctl --name fork delete cluster" in str(caught.value.hint)
    with pytest.raises(ConflictError, match="half made"):
        await start_cluster(home, FORK, wait=None)
    with pytest.raises(ConflictError, match="half made"):
        await create_cluster(home, _creation())

    complete_copy(home.paths(FORK))
    with pytest.raises(ConflictError, match="the cluster 'fork' exists"):
        await fork_cluster(home, _request())


def _creation() -> CreateRequest:
    resolved = Resolved(options=cluster_options(), chosen=frozenset(), warnings=())
    return CreateRequest(name=FORK, resolved=resolved, kubeconfig=None)


async def test_a_source_that_is_stopped_is_to_be_started(tmp_path: Path) -> None:
    home = _home(tmp_path, FakeRuntime())

    with pytest.raises(ComponentError, match="etcd does not run") as caught:
        await fork_cluster(home, _request())
    assert "kwokctl start cluster --name source" in str(caught.value.hint)
    assert not home.paths(FORK).root.exists()


async def test_there_must_be_a_source(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no cluster called 'other'"):
        await fork_cluster(_home(tmp_path, FakeRuntime()), _request("other"))


async def test_a_component_with_a_fixed_port_is_named(tmp_path: Path) -> None:
    ports = (Port(name="http", port=9000, host_port=0),)
    own = ExtraComponent(name=ComponentName("own"), binary="/bin/true", ports=ports)
    options = replace(cluster_options(), extras=(own,))
    home = home_with(tmp_path, SOURCE, options, FakeRuntime())

    with pytest.raises(NotServedError, match="component 'own': its port 9000 is fixed"):
        await fork_cluster(home, _request())
    assert not home.paths(FORK).root.exists()


async def test_a_cluster_without_objects_of_the_maker_is_not_forked_to_its_runtime(
    tmp_path: Path,
) -> None:
    runtimes = {"": FakeRuntime(), "bringing": BringingRuntime()}
    home = replace(_home(tmp_path, FakeRuntime()), load_runtime=lambda kind, _host: runtimes[kind])
    request = replace(_request(), place=ForkPlace(runtime="bringing"))

    with pytest.raises(
        NotServedError, match="on the runtime 'fake' cannot be forked to 'bringing'"
    ):
        await fork_cluster(home, request)
    assert not home.paths(FORK).root.exists()


async def test_settings_that_the_other_runtime_does_not_support_are_named(tmp_path: Path) -> None:
    options = with_values(cluster_options(), {"memory_limit": ("4Gi",)})
    runtimes = {"": FakeEngineRuntime(), "fake": FakeRuntime()}
    home = replace(
        home_with(tmp_path, SOURCE, options, FakeRuntime()),
        load_runtime=lambda kind, _host: runtimes[kind],
    )

    with pytest.raises(UsageError, match="processes of this machine on the runtime 'fake'"):
        await fork_cluster(home, replace(_request(), place=ForkPlace(runtime="fake")))


async def test_forks_that_this_machine_has_no_memory_for_are_not_begun(tmp_path: Path) -> None:
    runtime = SeenRuntime(found={ETCD: State.RUNNING}, times=20_000)
    home = _home(tmp_path, runtime)

    with pytest.raises(CapacityError, match="1 fork takes at most"):
        await fork_cluster(home, _request())
    assert not home.paths(FORK).root.exists()


FILES = ("ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub")
OTHERS = ("admin.crt", "admin.key", "tokens.csv", "kube-apiserver.key", "front-proxy-client.key")


def test_only_authorities_and_the_key_of_tokens_are_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in (*FILES, *OTHERS):
        (source / name).write_text(name)
        (source / name).chmod(0o600)

    copy_authorities(source, target)

    assert sorted(path.name for path in target.iterdir()) == sorted(FILES)
    assert {path.stat().st_mode & 0o077 for path in (target, *target.iterdir())} == {0}


async def _made(name: str) -> str:
    await asyncio.sleep(0)
    if name == "bad":
        raise ValueError(name)
    return name


async def test_several_are_counted_as_they_are_made() -> None:
    listener, counts = Listener(), list[int]()
    listener.on_advance = counts.append

    assert await together([_made("a"), _made("b")], listener) == ["a", "b"]

    assert [step.title for step in listener.steps] == ["Creating 2 clusters"]
    assert counts == [1, 2]


async def test_a_single_one_shows_its_own_progress() -> None:
    listener = Listener()
    assert await together([_made("a")], listener) == ["a"]
    assert listener.steps == []


async def test_a_failure_ends_the_others() -> None:
    with pytest.raises(ExceptionGroup):
        await together([_made("a"), _made("bad")], Listener())
