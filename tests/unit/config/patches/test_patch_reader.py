""""""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.config.patches.patch import ComponentPatch, Volume
from kwokctl.config.patches.patch_reader import patches_in, read_patches
from kwokctl.errors import ConfigError


def configuration(*patches: dict[str, Any]) -> Document:
    return Document(
        kind="KwokctlConfiguration",
        api_version="",
        name="",
        body={"kind": "KwokctlConfiguration", "componentsPatches": list(patches)},
        source="kwok.yaml",
    )


FULL = {
    "name": "etcd",
    "extraArgs": [
        {"key": "log-level", "value": "debug"},
        {"key": "--name", "value": "a", "override": True},
        {"key": "bare"},
        {"key": "count", "value": 3},
        {"key": "on", "value": True},
        {"key": "snapshot-count", "remove": True},
    ],
    "extraVolumes": [{"name": "x", "hostPath": "/etc", "mountPath": "/etc/x", "readOnly": True}],
    "extraEnvs": [{"name": "GOGC", "value": "50"}, {"name": "N", "value": 1}],
}


def test_a_patch_has_arguments_variables_and_volumes() -> None:
    assert patches_in([configuration(FULL)]) == (
        ComponentPatch(
            name="etcd",
            args={"log-level": "debug", "name": "a", "bare": None, "count": "3", "on": "true"},
            removed=frozenset({"snapshot-count"}),
            envs={"GOGC": "50", "N": "1"},
            volumes=(Volume(name="x", host_path="/etc", mount_path="/etc/x", read_only=True),),
        ),
    )


def test_what_is_written_of_a_patch_reads_back_the_same() -> None:
    (patch,) = patches_in([configuration(FULL)])

    assert tuple(read_patches([patch.to_document()], "x")) == (patch,)


def test_patches_of_one_component_are_joined_and_the_later_wins() -> None:
    first = {
        "name": "etcd",
        "extraArgs": [{"key": "a", "value": "1"}, {"key": "b", "value": "1"}],
        "extraVolumes": [{"hostPath": "/etc", "mountPath": "/x"}],
    }
    second = {
        "name": "etcd",
        "extraArgs": [{"key": "a", "value": "2"}, {"key": "b", "remove": True}],
        "extraVolumes": [{"hostPath": "/tmp", "mountPath": "/x"}],
        "extraEnvs": [{"name": "E", "value": "2"}],
    }

    (patch,) = patches_in([configuration(first), configuration(second)])

    assert patch.args == {"a": "2"}
    assert patch.removed == {"b"}
    assert patch.envs == {"E": "2"}
    assert [volume.host_path for volume in patch.volumes] == ["/tmp"]


def test_a_relative_path_is_one_of_the_folder_in_which_kwokctl_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    volume = {"hostPath": "certs", "mountPath": "/certs"}

    (patch,) = patches_in([configuration({"name": "etcd", "extraVolumes": [volume]})])

    assert patch.volumes[0].host_path == str(tmp_path / "certs")


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (
            {"extraArgs": []},
            "kwok.yaml: 'componentsPatches[0]': object missing required field 'name'",
        ),
        ({"name": "etcd", "extraArg": []}, "unknown field 'extraArg'"),
        ({"name": "etcd", "extraArgs": [{"value": "1"}]}, "componentsPatches[0].extraArgs[0]"),
        (
            {"name": "etcd", "extraArgs": [{"key": "a", "value": "1", "remove": True}]},
            "needs a 'key'",
        ),
        ({"name": "etcd", "extraVolumes": [{"hostPath": "/a", "mountPath": "b"}]}, "a 'mountPath'"),
        (
            {
                "name": "e",
                "extraVolumes": [{"hostPath": "a", "mountPath": "/b", "pathType": "Dir"}],
            },
            "componentsPatches[0].extraVolumes[0].pathType",
        ),
    ],
)
def test_what_is_no_patch_is_named_with_its_place(patch: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        patches_in([configuration(patch)])

    assert said in str(caught.value)
