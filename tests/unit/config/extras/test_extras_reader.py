""""""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.config.config_documents import Document
from kwokctl.config.extras.extra import ExtraComponent, ExtraMetrics
from kwokctl.config.extras.extras_reader import extras_in, read_extras, repeated
from kwokctl.config.patches.patch import Volume
from kwokctl.errors import ConfigError, KwokctlError, NotServedError
from kwokctl.model import ETCD, ComponentName, Port

KNOWN = ("etcd", "kube-apiserver")
FULL: dict[str, Any] = {
    "name": "web",
    "version": "v1",
    "binary": "/bin/sh",
    "image": "example/web:v1",
    "command": ["/web"],
    "args": ["--port=80"],
    "user": "1000:1000",
    "workDir": "/srv",
    "links": ["etcd"],
    "ports": [{"name": "http", "port": 80, "hostPort": 8080, "protocol": "TCP"}, {"port": 81}],
    "envs": [{"name": "A", "value": "b"}, {"name": "N", "value": 1}],
    "volumes": [{"hostPath": "/etc", "mountPath": "/x", "readOnly": True}],
    "metric": {"scheme": "http", "host": "localhost:80", "path": "/metrics"},
    "metricsDiscovery": {"scheme": "http", "host": "localhost:80", "path": "/pages"},
    "manifestContents": ["{apiVersion: v1, kind: Namespace, metadata: {name: web}}"],
}
WEB = ExtraComponent(
    name=ComponentName("web"),
    version="v1",
    binary="/bin/sh",
    image="example/web:v1",
    command=("/web",),
    args=("--port=80",),
    user="1000:1000",
    work_dir="/srv",
    links=frozenset({ETCD}),
    ports=(Port(name="http", port=80, host_port=8080), Port(name="port-1", port=81)),
    envs={"A": "b", "N": "1"},
    volumes=(Volume(host_path="/etc", mount_path="/x", read_only=True),),
    manifests=("{apiVersion: v1, kind: Namespace, metadata: {name: web}}",),
    metric=ExtraMetrics(scheme="http", host="localhost:80", path="/metrics"),
    discovery=ExtraMetrics(scheme="http", host="localhost:80", path="/pages"),
)


def configuration(*components: object, **more: Any) -> Document:
    return Document(
        kind="KwokctlConfiguration",
        api_version="",
        name="",
        body={"kind": "KwokctlConfiguration", "components": list(components), **more},
        source="kwok.yaml",
    )


def test_a_component_has_all_that_the_original_knows() -> None:
    assert extras_in([configuration(FULL)], KNOWN) == (WEB,)


def test_what_is_written_is_read_as_the_same() -> None:
    assert list(read_extras([WEB.to_document()], "x")) == [WEB]
    assert list(read_extras([{"name": "web", "given": WEB.to_document()}], "x")) == [WEB]


def test_a_later_description_of_a_name_counts() -> None:
    other = {"name": "web", "image": "example/web:v2"}

    (found,) = extras_in([configuration(FULL), configuration(other)], KNOWN)

    assert found.image == "example/web:v2"
    assert not found.binary


def test_a_list_that_a_program_wrote_may_repeat_what_kwokctl_has() -> None:
    state = configuration({"name": "etcd", "binary": "/gone"}, FULL, status={"version": "v0.7.0"})

    assert extras_in([state], KNOWN) == (WEB,)
    (remark,) = repeated([state], KNOWN)
    assert remark.startswith("kwok.yaml: 'components' repeats etcd: kwokctl describes them itself")


def test_a_list_that_a_person_wrote_may_not() -> None:
    with pytest.raises(NotServedError, match=r"kwok.yaml: 'components' describes 'etcd'"):
        extras_in([configuration({"name": "etcd", "image": "example/etcd"})], KNOWN)


def test_a_program_of_this_folder_is_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "web").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)

    (found,) = extras_in([configuration({"name": "web", "binary": "./web"})], KNOWN)

    assert found.binary == str(tmp_path / "web")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nmae": "x"}, r"'components\[0\]': object contains unknown field 'nmae'"),
        ({"name": "We b"}, "cannot be the name of a component"),
        ({"name": "audit"}, "'audit' cannot be the name of a component"),
        ({"binary": "", "image": ""}, "'web' has neither a 'binary' nor an 'image'"),
        ({"binary": "/no/such"}, "'binary' is '/no/such', not a program"),
        ({"image": "no image"}, "'image' is 'no image', not the name of an image"),
        ({"version": "../v1"}, "'version' is '../v1', which is not a version"),
        ({"workDir": "here"}, "'workDir' is 'here', which is not an absolute path"),
        ({"ports": [{"port": 0}]}, "0 is not a port"),
        ({"ports": [{"port": 1, "hostPort": 70000}]}, "70000 is not a port"),
        ({"ports": [{"port": 53, "protocol": "UDP"}]}, "protocol 'UDP' is not supported"),
        ({"volumes": [{"hostPath": "/x", "mountPath": "x"}]}, "a volume needs a 'hostPath'"),
        ({"manifestContents": ["{a"]}, "'manifestContents' is not valid YAML"),
        ({"manifestContents": ["a: b"]}, "an object without 'apiVersion'"),
        (
            {"metricsDiscovery": FULL["metric"] | {"keyPath": "/x"}},
            "'metricsDiscovery' is not supported as",
        ),
        ({"metric": FULL["metric"] | {"scheme": "https"}}, "'metric' is not supported as"),
        ({"metric": FULL["metric"] | {"certPath": "/x"}}, "'metric' is not supported as"),
        ({"links": ["nothing"]}, "'web' has a link to 'nothing', and there is no such"),
        ({"links": ["web"]}, "links form a cycle: web -> web"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KwokctlError, match=message):
        extras_in([configuration(FULL | changed)], KNOWN)


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(ConfigError, match="'components' must be a list"):
        extras_in([configuration(components={"name": "web"})], KNOWN)
