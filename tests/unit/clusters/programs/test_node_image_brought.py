""""""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.programs.node_image import with_brought
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import ArtifactError, UsageError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KUBE_APISERVER, KWOK_CONTROLLER, PROMETHEUS, Artifact
from tests.support.fake_runtime import BringingRuntime
from tests.support.options import changed, cluster_options

NAMES = [ETCD, KUBE_APISERVER, KWOK_CONTROLLER]
OWN_IMAGE = "mine/node:v1.36.9"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(workdir=WorkDir(tmp_path), cache=tmp_path / "cache")


@pytest.fixture
def runtime() -> BringingRuntime:
    runtime = BringingRuntime()
    runtime.node_images.engine.here.add(OWN_IMAGE)
    return runtime


def given(folder: Path, **options: Any) -> ClusterOptions:
    """Give a kind of one's own and an image, and let nothing be fetched."""
    program = folder / "kind"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    usual = cluster_options(
        kind_binary=str(program), kind_node_image=OWN_IMAGE, artifact_source="offline"
    )
    return changed(usual, **options)


async def found(
    home: Home,
    runtime: BringingRuntime,
    options: ClusterOptions,
    settled: Mapping[Any, Artifact] | None = None,
) -> dict[str, Artifact]:
    return await with_brought(home, runtime, options, NAMES, settled=settled, is_exact=False)


async def test_what_a_runtime_brings_is_not_fetched_and_has_the_version_of_the_image(
    home: Home, runtime: BringingRuntime, tmp_path: Path
) -> None:
    got = await found(home, runtime, given(tmp_path))

    assert got[ETCD] == Artifact(name=ETCD, version="3.6.16")
    assert got[KUBE_APISERVER] == Artifact(name=KUBE_APISERVER, version="v1.36.9")
    assert got[KWOK_CONTROLLER].command
    assert got["kind"].command == (str(tmp_path / "kind"),)
    assert got["kind"].image == OWN_IMAGE


async def test_an_image_may_be_given_for_what_the_runtime_does_not_bring(
    home: Home, runtime: BringingRuntime, tmp_path: Path
) -> None:
    runtime.node_images.engine.here.add("mine/prometheus:1")
    options = given(tmp_path, prometheus_image="mine/prometheus:1", etcd_image="mine/etcd:1")

    taken = await artifacts(home, runtime, options, [*NAMES, PROMETHEUS])

    assert (taken[PROMETHEUS].image, taken[PROMETHEUS].command) == ("mine/prometheus:1", ())
    assert taken[ETCD].image is None


async def test_without_an_image_the_program_that_makes_nodes_is_not_looked_for(
    home: Home, runtime: BringingRuntime, tmp_path: Path
) -> None:
    options = given(tmp_path, kind_node_image="nobody/node", kind_binary="/not/there")

    with pytest.raises(ArtifactError, match="'nobody/node' is not here"):
        await found(home, runtime, options)


async def test_a_cluster_that_exists_needs_no_image(
    home: Home, runtime: BringingRuntime, tmp_path: Path
) -> None:
    settled = {KUBE_APISERVER: Artifact(name=KUBE_APISERVER, version="v1.36.4")}
    runtime.node_images.engine.here.clear()

    got = await found(home, runtime, given(tmp_path), settled)

    assert got[KUBE_APISERVER].version == "v1.36.4"
    assert got["kind"].image == OWN_IMAGE


async def test_the_users_own_kind_is_found_on_the_path(
    home: Home, runtime: BringingRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = changed(given(tmp_path), kind_binary="")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert (await found(home, runtime, options))["kind"].command == (str(tmp_path / "kind"),)


async def test_a_program_that_would_not_be_used_is_refused(
    home: Home, runtime: BringingRuntime, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="'--etcd-binary' is not for this runtime"):
        await found(home, runtime, given(tmp_path, etcd_binary="/e"))
