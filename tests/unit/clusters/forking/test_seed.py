"""A file is checked for what a runtime needs before data are made of it."""

from pathlib import Path

import pytest

from kwokctl.clusters.forking.seed import seed
from kwokctl.clusters.state.home import cluster_name
from kwokctl.errors import NotServedError, SnapshotError
from tests.support.bolt_file import database
from tests.support.fake_runtime import BringingRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with, save_cluster

NAME = cluster_name("new")


@pytest.mark.parametrize(
    ("keys", "error", "said"),
    [
        (["/registry/pods/default/a"], NotServedError, "was not saved from a cluster of 'kind'"),
        (["/other/namespaces/kube-system"], SnapshotError, "no Kubernetes objects"),
    ],
)
async def test_a_file_that_lacks_what_the_runtime_needs_is_refused(
    tmp_path: Path, keys: list[str], error: type[Exception], said: str
) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(database(keys))
    home = home_with(tmp_path, NAME, cluster_options(), BringingRuntime())
    saved = save_cluster(home.workdir, NAME, cluster_options())

    with pytest.raises(error, match=said):
        await seed(home, saved, file)
    assert not home.paths(NAME).etcd_restored.exists()
