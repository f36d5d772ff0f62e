"""What a pod requests, as the scheduler counts it."""

from typing import Any

from kwokctl.kube.pod_requests import requests_of


def container(**requests: str) -> dict[str, Any]:
    return {"name": "main", "resources": {"requests": requests}}


def test_requests_are_the_most_at_a_time() -> None:
    sidecar = {**container(cpu="1"), "restartPolicy": "Always"}
    spec = {
        "initContainers": [sidecar, container(cpu="4", memory="1Ki")],
        "containers": [container(cpu="2"), container(cpu="500m")],
        "overhead": {"cpu": "1"},
    }

    assert requests_of(spec) == (("cpu", 6000), ("memory", 1024))


def test_the_request_of_a_whole_pod_counts_alone_if_it_has_one() -> None:
    spec = {"containers": [container(cpu="2")], "resources": {"requests": {"cpu": "3"}}}

    assert requests_of(spec) == (("cpu", 3000),)
