"""What open faults of the API do to requests."""

from typing import Any

import pytest

from kwokctl.api_proxy.api_fault import UNTOUCHED, treatment
from kwokctl.api_proxy.api_request import ApiRequest, api_request
from kwokctl.faults.overlays.definitions import definition_of, read_definition
from tests.support.api_faults import CATALOGUE, api_fault

AGENT = "kube-scheduler/v1.36.3 (linux/amd64) kubernetes/abc/scheduler"


def listing(
    path: str = "/api/v1/nodes", *, user: str = "system:kube-scheduler", method: str = "GET"
) -> ApiRequest:
    return api_request(method, path, "", user=user, user_agent=AGENT)


@pytest.mark.parametrize(
    ("parameters", "is_hit"),
    [
        ({}, True),
        ({"userAgent": "kube-scheduler/*"}, True),
        ({"userAgent": "kube-scheduler"}, False),
        ({"userAgent": "*/scheduler"}, True),
        ({"userAgent": "kubectl/*"}, False),
        ({"user": "system:kube-*"}, True),
        ({"user": "bob, system:kube-scheduler"}, True),
        ({"user": "bob"}, False),
        ({"verb": "list,watch"}, True),
        ({"verb": "create"}, False),
        ({"resource": "nodes"}, True),
        ({"resource": "node"}, False),
        ({"resource": "nodes", "verb": "create"}, False),
    ],
)
def test_a_fault_hits_the_requests_that_all_its_patterns_match(
    parameters: dict[str, Any], is_hit: bool
) -> None:
    fault = api_fault("api-429", **parameters)

    assert (fault.treat(listing()).refusal is not None) is is_hit
    assert (fault.met, fault.hit) == (int(is_hit), int(is_hit))


def test_a_resource_of_a_group_is_known_with_and_without_it() -> None:
    lease = listing("/apis/coordination.k8s.io/v1/namespaces/a/leases/b")

    assert api_fault("api-5xx", resource="leases").matches(lease)
    assert api_fault("api-5xx", resource="leases.coordination.k8s.io").matches(lease)
    assert not api_fault("api-5xx", resource="leases.example.com").matches(lease)


def test_a_subresource_is_not_the_resource() -> None:
    status = listing("/api/v1/nodes/n/status", method="PATCH")

    assert not api_fault("api-5xx", resource="nodes").matches(status)
    assert api_fault("api-5xx", resource="nodes/status").matches(status)
    assert api_fault("api-5xx", resource="nodes*").matches(status)


def test_a_request_that_is_exempt_is_neither_hit_nor_counted() -> None:
    fault = api_fault("api-5xx")

    assert fault.treat(listing("/readyz")) == UNTOUCHED
    assert fault.met == 0


def shares(seed: int) -> list[bool]:
    fault = api_fault("api-5xx", seed=seed, share=30)
    return [fault.treat(listing()).refusal is not None for _ in range(400)]


def test_equal_seeds_refuse_the_same_requests_and_as_many_as_the_share_says() -> None:
    assert shares(1) == shares(1)
    assert shares(1) != shares(2)
    assert 80 < sum(shares(1)) < 160


def test_a_share_of_nothing_refuses_nothing() -> None:
    assert api_fault("api-5xx", share=0).treat(listing()) == UNTOUCHED


def test_a_request_is_held_back_for_the_latency_more_or_less_the_jitter() -> None:
    fault = api_fault("api-latency", latency="100ms", jitter="40ms")
    delays = [fault.treat(listing()).delay for _ in range(200)]

    assert all(0.06 <= each <= 0.14 for each in delays)
    assert max(delays) - min(delays) > 0.04
    assert api_fault("api-latency", latency="100ms").treat(listing()).delay == 0.1


def test_delays_of_several_faults_add_up_and_the_first_refusal_counts() -> None:
    slow = api_fault("api-latency", latency="1s")
    faults = [slow, api_fault("api-429", retryAfter="2500ms"), slow, api_fault("api-5xx", code=502)]

    found = treatment(faults, listing())

    assert found.delay == 2.0
    assert found.refusal is not None
    assert (found.refusal.code, found.refusal.retry_after) == (429, 3)


def test_a_fault_of_watches_refuses_and_delays_nothing() -> None:
    fault = api_fault("watch-cut", every="5s", verb="watch")

    assert fault.cut_every == 5.0
    assert fault.treat(listing()) == UNTOUCHED
    watch = api_request("GET", "/api/v1/nodes", "watch=1")
    assert fault.matches(watch)
    assert not fault.matches(listing())


def test_each_shipped_class_of_the_api_can_be_read() -> None:
    names = [each.name for each in CATALOGUE.classes() if each.spec.scope == "api"]

    assert names == ["api-5xx", "api-429", "api-latency", "watch-cut"]
    for name in names:
        assert read_definition(definition_of(CATALOGUE, name, ())).found.spec.effects.api
        assert api_fault(name).uid == "u-1"
