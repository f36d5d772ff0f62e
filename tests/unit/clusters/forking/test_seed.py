"""A file is checked for what a runtime needs, and its data for what the new cluster's Kubernetes knows."""

from pathlib import Path

import msgspec
import pytest

from kwokctl.clusters.forking.seed import said, seed, stored_kinds, unknown
from kwokctl.clusters.state.home import cluster_name
from kwokctl.dataplane.objects.stored_kind import StoredKind
from kwokctl.errors import NotServedError, SnapshotError
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import ServedKind, ServedKinds
from tests.support.bolt_file import database
from tests.support.fake_runtime import BringingRuntime
from tests.support.options import cluster_options
from tests.support.ranged_etcd import RangedEtcd
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


FLOW = "flowcontrol.apiserver.k8s.io"


def _served(*of: tuple[str, str, str]) -> ServedKinds:
    return ServedKinds(
        ServedKind(
            resource=Resource(group, version, kind.lower(), kind, namespaced=True),
            names=frozenset(),
            verbs=frozenset(),
            has_status=False,
        )
        for group, version, kind in of
    )


SERVED = _served(
    ("", "v1", "Pod"), (FLOW, "v1beta3", "FlowSchema"), (FLOW, "v1beta2", "FlowSchema")
)


@pytest.mark.parametrize(
    ("api_version", "kind", "unreadable", "unserved"),
    [
        ("v1", "Pod", False, False),
        ("v1", "RangeAllocation", False, False),
        (f"{FLOW}/v1", "FlowSchema", True, False),
        (f"{FLOW}/v2beta1", "FlowSchema", True, False),
        (f"{FLOW}/v1beta1", "FlowSchema", False, False),
        (f"{FLOW}/v1alpha9", "FlowSchema", False, False),
        ("networking.k8s.io/v1", "IPAddress", False, True),
    ],
)
def test_kinds_that_are_too_new_or_not_served_are_named(
    api_version: str, kind: str, unreadable: bool, unserved: bool
) -> None:
    found = unknown([StoredKind(api_version, kind)], SERVED)

    name = f"{kind} ({api_version})"
    assert (found.unreadable, found.unserved) == ([name] * unreadable, [name] * unserved)


def _protobuf(api_version: str, kind: str) -> bytes:
    words = [api_version.encode(), kind.encode()]
    fields = [
        bytes((mark, len(word))) + word for mark, word in zip((0x0A, 0x12), words, strict=True)
    ]
    head = b"".join(fields)
    return b"k8s\0\x0a" + bytes((len(head),)) + head


async def test_the_kinds_of_all_folders_are_found_but_those_of_custom_resources() -> None:
    kv = RangedEtcd()
    custom = msgspec.json.encode({"apiVersion": "example.com/v1", "kind": "Widget"})
    for key, value in (
        ("/registry/pods/a/b", _protobuf("v1", "Pod")),
        ("/registry/pods/a/c", _protobuf("v1", "Pod")),
        ("/registry/services/endpoints/a/b", _protobuf("v1", "Endpoints")),
        ("/registry/services/specs/a/b", _protobuf("v1", "Service")),
        ("/registry/example.com/widgets/a/b", custom),
        ("/other/pods/a/b", _protobuf("v9", "Pod")),
    ):
        kv.put(key.encode(), value)

    assert {kind.kind for kind in await stored_kinds(kv, "/registry")} == {
        "Pod",
        "Endpoints",
        "Service",
    }


def test_of_many_names_some_are_said() -> None:
    assert list(said(["a", "b"])) == ["a", "b"]
    assert list(said(list("abcdefg"))) == [*"abcde", "2 more"]
