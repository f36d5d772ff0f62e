"""Clusters that earlier releases have created are read, and their components described, by this one."""

from pathlib import Path

import pytest

from kwokctl import __version__
from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KUBE_SCHEDULER
from tests.support.earlier_releases import NAME, RELEASES, unpack
from tests.support.fake_runtime import FakeRuntime


@pytest.fixture(params=RELEASES)
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Saved:
    """Read the state file that `create cluster` of a release has written."""
    paths = WorkDir(tmp_path).cluster(cluster_name(NAME))
    paths.root.parent.mkdir(parents=True)
    unpack(request.param, tmp_path)
    (tmp_path / "cluster").rename(paths.root)
    return load(paths, cluster_name(NAME))


def test_there_is_a_cluster_of_this_release() -> None:
    assert __version__ in RELEASES


def test_a_cluster_of_an_earlier_release_has_all_its_components_and_options(
    saved: Saved, tmp_path: Path
) -> None:
    plan = saved.plan(FakeRuntime(), WorkDir(tmp_path).cluster(cluster_name(NAME)))

    assert set(plan.components) == set(saved.names)
    assert "--v=4" in plan.components[KUBE_SCHEDULER].args
    assert "--quota-backend-bytes=1073741824" in plan.components[ETCD].args
    assert saved.stages
