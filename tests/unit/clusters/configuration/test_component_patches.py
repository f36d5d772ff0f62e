from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.configuration.component_patches import (
    idle_patches,
    unseen_volumes,
    wanted_patches,
)
from kwokctl.clusters.configuration.volumes import make_paths
from kwokctl.config.config_documents import Document
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.patches.patch import ComponentPatch, Patches, Volume
from kwokctl.errors import UsageError
from kwokctl.model import ETCD, KWOK_CONTROLLER, ComponentName
from tests.support.fake_runtime import FakeEngineRuntime, FakeRuntime
from tests.support.options import cluster_options


def wanted(*words: str, **patch: Any) -> Patches:
    body = {"kind": "KwokctlConfiguration", "componentsPatches": [{"name": "etcd", **patch}]}
    document = Document(
        kind="KwokctlConfiguration", api_version="", name="", body=body, source="kwok.yaml"
    )
    return wanted_patches(cluster_options(extra_args=words), [document])


def volume(**fields: Any) -> Patches:
    return {ETCD: ComponentPatch(name=ETCD, volumes=(Volume(**fields),))}


def test_words_of_the_command_win_over_documents() -> None:
    found = wanted("etcd=a=2", extraArgs=[{"key": "a", "value": "1"}, {"key": "b"}])

    assert found["etcd"].args == {"a": "2", "b": None}


def test_an_unknown_component_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        wanted(name="etcdd")

    assert caught.value.hint == "did you mean 'etcd'?"


@pytest.mark.parametrize(
    ("path", "kind", "is_refused"),
    [
        ("here", "", False),
        ("here", "Directory", False),
        ("here", "File", True),
        ("missing", "", True),
        ("missing", "DirectoryOrCreate", False),
        ("here", "FileOrCreate", True),
    ],
)
def test_a_volume_is_what_it_says_it_is(
    tmp_path: Path, path: str, kind: str, is_refused: bool
) -> None:
    (tmp_path / "here").mkdir()
    fields = {"hostPath": str(tmp_path / path), "mountPath": "/x", "pathType": kind}

    with pytest.raises(UsageError, match=path) if is_refused else nullcontext():
        wanted(extraVolumes=[fields])


def test_a_path_that_may_be_made_is_made(tmp_path: Path) -> None:
    folder, file = tmp_path / "a" / "b", tmp_path / "c"
    for path, kind in ((folder, "DirectoryOrCreate"), (file, "FileOrCreate")):
        patches = volume(host_path=str(path), mount_path="/x", path_type=kind)
        make_paths(patches["etcd"].volumes)

    assert folder.is_dir()
    assert file.is_file()


def test_a_process_sees_files_where_they_are() -> None:
    there = volume(host_path="/etc", mount_path="/etc")
    elsewhere = volume(host_path="/etc", mount_path="/x")
    of_controller: Patches = {KWOK_CONTROLLER: elsewhere[ETCD]}
    extra = ExtraComponent(
        name=ComponentName("web"), binary="/bin/sh", volumes=elsewhere[ETCD].volumes
    )

    assert not [*unseen_volumes(FakeRuntime(), there, [])]
    assert not [*unseen_volumes(FakeEngineRuntime(), elsewhere, [extra])]
    cases: list[tuple[FakeRuntime, Patches, list[ExtraComponent]]] = [
        (FakeRuntime(), elsewhere, []),
        (FakeRuntime(), {}, [extra]),
        (FakeEngineRuntime(), of_controller, []),
    ]
    for runtime, patches, extras in cases:
        (said,) = unseen_volumes(runtime, patches, extras)
        assert said.endswith("sees '/etc' there, not at '/x'")


def test_a_patch_for_a_component_that_the_cluster_does_not_have_is_named() -> None:
    patches = {ETCD: ComponentPatch(name=ETCD), "x": ComponentPatch(name="x")}

    (said,) = idle_patches(patches, (ETCD, KWOK_CONTROLLER))

    assert said.startswith("the cluster has no 'x'")
