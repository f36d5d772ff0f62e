from pathlib import Path

import pytest

from kwokctl.clusters.start import start_cluster
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import load, save
from kwokctl.errors import ComponentError
from kwokctl.model import KWOK_KUBELET
from kwokctl.replacing import replace
from tests.support.fake_runtime import FakeRuntime
from tests.support.listener import Listener
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")


async def warnings(home: Home, *, without_kubelet: bool) -> list[str]:
    """Return the warnings of a start that ends before anything is started."""
    paths = home.paths(NAME)
    if without_kubelet:
        saved = load(paths, NAME)
        names = tuple(name for name in saved.names if name != KWOK_KUBELET)
        saved = replace(saved, names=names)
        save(paths, saved, saved.plan(FakeRuntime(), paths))
    listener = Listener()
    with pytest.raises(ComponentError):
        await start_cluster(replace(home, progress=listener), NAME)
    return listener.warnings


@pytest.mark.parametrize(
    ("more", "without_kubelet", "expected"),
    [
        ({}, True, ["an older kwokctl created"]),
        ({}, False, []),
        ({"disable": ("kwok-kubelet",)}, True, []),
        ({"kwok_controller_binary": "/opt/kwok"}, True, []),
    ],
)
async def test_a_cluster_from_before_there_was_a_kubelet_server_is_started_with_a_warning(
    tmp_path: Path, more: dict[str, str], without_kubelet: bool, expected: list[str]
) -> None:
    runtime = FakeRuntime(fails_at={"check": ComponentError("no")})
    home = home_with(tmp_path, NAME, cluster_options(runtime="fake", **more), runtime)

    found = await warnings(home, without_kubelet=without_kubelet)

    assert [each[: len(start)] for each, start in zip(found, expected, strict=True)] == expected
