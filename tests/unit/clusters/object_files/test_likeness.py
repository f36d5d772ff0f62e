"""Pods that the API server treats alike are found by what they have in common."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from kwokctl.clusters.object_files.restoring.likeness import is_sound, likeness
from kwokctl.json_value import Json


def _pod(name: str = "a", token: str = "x1", ip: str = "10.0.0.1", node: str = "n") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"of": name}},
        "spec": {
            "hostname": name,
            "nodeName": node,
            "containers": [{"name": "c", "volumeMounts": [{"name": f"kube-api-access-{token}"}]}],
            "volumes": [{"name": f"kube-api-access-{token}"}],
        },
        "status": {
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "startTime": f"2026-01-01T00:00:0{ip[-1]}Z",
        },
    }


def test_pods_are_alike_that_differ_in_name_node_addresses_times_and_token() -> None:
    other = _pod("b", "y2", "10.0.0.2", "m")

    assert likeness(_pod()) == likeness(other)
    assert is_sound(other)


def _set(*path: str, to: Json) -> Callable[[Json], None]:
    def change(pod: Json) -> None:
        for name in path[:-1]:
            pod = pod.setdefault(name, {})
        pod[path[-1]] = to

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set("spec", "priorityClassName", to="high"),
        _set("spec", "hostname", to="given"),
        _set("spec", "volumes", to=[]),
        _set("metadata", "annotations", to={"a": "b"}),
        _set("metadata", "finalizers", to=["example.net/a"]),
        _set("metadata", "namespace", to="other"),
        _set("status", "phase", to="Failed"),
        _set("status", "podIP", to=""),
    ],
)
def test_a_pod_that_the_api_server_may_treat_otherwise_is_not_alike(
    change: Callable[[Json], None],
) -> None:
    other = deepcopy(_pod())
    change(other)

    assert likeness(other) != likeness(_pod())


@pytest.mark.parametrize(
    "change",
    [
        _set("metadata", "name", to="Upper"),
        _set("metadata", "labels", to={"a": "not a value!"}),
        _set("metadata", "labels", to={"not a key!": "a"}),
        _set("metadata", "labels", to={"a": 1}),
        _set("spec", "nodeName", to="a/b"),
        _set("status", "podIP", to="nowhere"),
        _set("status", "podIP", to="10.0.0.9"),
        _set("status", "hostIPs", to=[{"ip": "300.0.0.1"}]),
        _set("status", "podIPs", to=[{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]),
        _set("status", "hostIP", to="fe80::1%eth0"),
        _set("status", "startTime", to="yesterday"),
    ],
)
def test_what_the_api_server_would_refuse_is_left_to_it(change: Callable[[Json], None]) -> None:
    pod = deepcopy(_pod())
    change(pod)

    assert not is_sound(pod)
