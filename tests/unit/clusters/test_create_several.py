"""Clusters from one file are made together, or none is."""

from pathlib import Path

import pytest

from kwokctl.clusters.create import CreateRequest
from kwokctl.clusters.create_several import create_several
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConflictError, SnapshotError
from kwokctl.host.paths import WorkDir
from kwokctl.replacing import replace
from tests.support.fake_runtime import SeenRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

ONE, OTHER = cluster_name("a-1"), cluster_name("a-2")


def _requests(file: Path) -> list[CreateRequest]:
    resolved = Resolved(options=cluster_options(runtime="fake"), chosen=frozenset(), warnings=())
    one = CreateRequest(name=ONE, resolved=resolved, kubeconfig=None, snapshot=file)
    return [one, replace(one, name=OTHER)]


async def test_none_is_made_if_one_exists(tmp_path: Path) -> None:
    runtime = SeenRuntime()
    home = home_with(tmp_path, OTHER, cluster_options(), runtime)

    with pytest.raises(ConflictError, match="'a-2' exists"):
        await create_several(home, _requests(tmp_path / "a.db"), ignores_memory=False)

    assert runtime.asked == []


async def test_none_is_made_of_what_is_no_snapshot(tmp_path: Path) -> None:
    runtime = SeenRuntime()
    (tmp_path / "a.db").write_bytes(b"x")
    home = Home(workdir=WorkDir(tmp_path), cache=tmp_path, load_runtime=runtime.load)

    with pytest.raises(SnapshotError):
        await create_several(home, _requests(tmp_path / "a.db"), ignores_memory=False)

    assert runtime.asked == []
    assert not home.paths(ONE).root.exists()
