"""A fork that cannot be made is refused before anything is made of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from kwokctl.clusters.forking.fork import ForkRequest, fork_cluster
from kwokctl.clusters.launching.launch import Patience
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.errors import ComponentError, ConflictError, NotFoundError, NotServedError
from kwokctl.model import ComponentName, Port
from tests.support.fake_runtime import BringingRuntime, FakeRuntime
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


async def test_a_runtime_that_cannot_fork_is_named(tmp_path: Path) -> None:
    home = _home(tmp_path, BringingRuntime())

    with pytest.raises(NotServedError, match="on the runtime 'bringing'"):
        await fork_cluster(home, _request())
