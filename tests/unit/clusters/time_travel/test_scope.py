"""What is put back is put back in an order in which controllers of the API server lose nothing."""

import pytest

from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.etcd.marks.mark_difference import Write

SCOPE = RewindScope("/registry")
CRD = "apiextensions.k8s.io/customresourcedefinitions/widgets.example.com"
SERVICE, ADDRESS = "services/specs/default/web", "ipaddresses/10.96.0.7"


def _write(path: str, *, is_put: bool) -> Write:
    return Write(f"/registry/{path}".encode(), b"{}" if is_put else None, 1)


def _order(*paths: str, is_put: bool) -> list[str]:
    groups = SCOPE.in_order([_write(path, is_put=is_put) for path in paths])
    return [write.key.decode().removeprefix("/registry/") for group in groups for write in group]


def _is_put_back(path: str) -> bool:
    key = f"/registry/{path}".encode()
    return any(start <= key < end for start, end in SCOPE.ranges)


def test_definitions_come_before_their_objects() -> None:
    assert _order("example.com/widgets/default/a", CRD, is_put=True)[0] == CRD


def test_definitions_go_after_their_objects() -> None:
    assert _order("example.com/widgets/default/a", CRD, is_put=False)[-1] == CRD


@pytest.mark.parametrize("is_put", [True, False])
def test_services_come_and_go_before_their_addresses(is_put: bool) -> None:
    assert _order(ADDRESS, SERVICE, is_put=is_put) == [SERVICE, ADDRESS]


def test_addresses_are_a_group_of_their_own() -> None:
    groups = SCOPE.in_order([_write(SERVICE, is_put=True), _write(ADDRESS, is_put=False)])

    assert [len(group) for group in groups] == [1, 1]


def test_namespaces_come_first_and_go_last() -> None:
    pod, namespace = "pods/new/a", "namespaces/new"

    assert _order(pod, namespace, is_put=True) == [namespace, pod]
    assert _order(namespace, pod, is_put=False) == [pod, namespace]


def test_pods_come_after_their_nodes_and_go_before_them() -> None:
    assert _order("pods/a/b", "minions/n", is_put=True) == ["minions/n", "pods/a/b"]
    assert _order("minions/n", "pods/a/b", is_put=False) == ["pods/a/b", "minions/n"]


CLOCK = "leases/kube-node-lease/kwokctl-fault-clock"
FAULT = "kwokctl.dev/faults/storm"


def test_faults_and_their_clock_come_and_go_before_the_nodes_that_show_them() -> None:
    assert _order("minions/n", FAULT, CLOCK, is_put=True) == [CLOCK, FAULT, "minions/n"]
    groups = SCOPE.in_order([_write("minions/n", is_put=True), _write(FAULT, is_put=False)])
    assert [group[0].value is None for group in groups] == [True, False]


@pytest.mark.parametrize(
    "path",
    [
        "events/default/a.1",
        "leases/kube-node-lease/node-0",
        f"{CLOCK}s",
        "leases/kube-system/kube-scheduler",
        "masterleases/10.0.0.1",
        "peerserverleases/x",
    ],
)
def test_what_running_programs_renew_is_left_alone(path: str) -> None:
    assert not _is_put_back(path)


@pytest.mark.parametrize(
    "path",
    [
        "pods/a/b",
        "leases/default/my-operator",
        "example.com/x/y",
        "minions/n",
        "events.example/x",
        CLOCK,
    ],
)
def test_all_else_is_put_back(path: str) -> None:
    assert _is_put_back(path)


def test_other_prefixes_are_left_alone() -> None:
    assert not any(start <= b"/registry2/pods/a/b" < end for start, end in SCOPE.ranges)


def test_the_words_of_a_key_are_its_folder_namespace_and_name() -> None:
    assert SCOPE.words(b"/registry/pods/default/a") == ["pods", "default", "a"]
