"""Objects that are alike have one shape, and each comes out of it as it went in."""

from random import Random
from typing import Any

import orjson
import pytest

from kwokctl.controller.plans import Plans
from kwokctl.kube.resource import PODS
from kwokctl.specialization.shape import ObjectForm
from tests.support.etcd_of_pods import with_version
from tests.support.pods_in_etcd import pod


def forms(*pods: Any, plans: Plans | None = None) -> list[ObjectForm | None]:
    """Return the forms of pods, after many that were like the first of them."""
    plans = Plans(PODS) if plans is None else plans
    return [form_of(plans, each) for each in [pods[0]] * 8 + list(pods)][8:]


def form_of(plans: Plans, body: Any) -> ObjectForm | None:
    metadata = body["metadata"]
    words = metadata["name"], metadata["uid"], body["spec"]["nodeName"]
    return plans.form(orjson.dumps(with_version(body, 7)), words, 7)


def plain(number: int, **metadata: Any) -> Any:
    body = pod(number, Random(1))
    body["metadata"] = {**body["metadata"], "name": f"pod-{number}", "annotations": {}, **metadata}
    return body


def test_pods_of_one_template_have_one_shape() -> None:
    first, second = forms(plain(1), plain(2, creationTimestamp="2027-02-03T04:05:06Z"))

    assert first is not None
    assert second is not None
    assert first.shape is second.shape


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"kube": "other"}},
        {"annotations": {"since": "2026-01-01T00:00:00Z"}},
        {"finalizers": ["pod-2"]},
    ],
)
def test_a_pod_that_has_more_is_not_like_the_others(metadata: Any) -> None:
    assert forms(plain(1), plain(2, **metadata))[1] is None


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"labels": {"pod": "pod-1", "uid": "pod-10"}},
        {"annotations": {"text": 'a "pod-1" and 2026-01-01T00:00:00Z', "umlaut": "ü\n"}},
        {"annotations": {"at": "2026-01-01T00:00:00.123456789Z"}},
    ],
)
def test_a_pod_comes_out_as_it_went_in(metadata: Any) -> None:
    body = plain(1, **metadata)
    [form] = forms(body)

    assert form is not None
    assert form.opened(8) == with_version(body, 8)
    assert orjson.loads(form.stored()) == body


@pytest.mark.parametrize(
    "metadata",
    [
        {"annotations": {"pod-1": "a key"}},
        {"annotations": {"quoted": '"pod-1'}},
        {"name": "pod 1"},
        {"uid": 'u"1'},
        {"annotations": {"at": "2026-13-01T00:00:00Z"}},
        {"managedFields": [{"manager": "me"}]},
    ],
)
def test_a_pod_of_which_it_is_not_certain_what_is_its_own_has_no_form(metadata: Any) -> None:
    assert forms(plain(1, **metadata)) == [None]


def test_a_version_within_the_object_is_not_its_own() -> None:
    body = plain(1)
    body["spec"]["other"] = {"resourceVersion": "7"}

    assert forms(body) == [None]


def started(number: int, ip: str, **status: Any) -> Any:
    """Return a pod as it is when its kubelet has begun with it."""
    body = plain(number)
    identifier = f"kwok://{number:032d}"
    container = {"name": "main", "containerID": identifier}
    last = {"terminated": {"containerID": identifier, "finishedAt": "2026-01-01T00:00:01Z"}}
    addresses = {"hostIP": "192.0.2.1", "podIP": ip, "podIPs": [{"ip": ip}]}
    containers = [{**container, "lastState": last}]
    return {**body, "status": {**addresses, "containerStatuses": containers, **status}}


def test_pods_that_have_run_are_alike_whatever_their_addresses_and_containers() -> None:
    first, second = forms(started(1, "10.0.0.1"), started(2, "10.9.0.7", hostIP="192.0.2.9"))

    assert first is not None
    assert second is not None
    assert first.shape is second.shape
    assert orjson.loads(second.stored()) == started(2, "10.9.0.7", hostIP="192.0.2.9")


def test_pods_with_addresses_of_another_family_are_not_alike() -> None:
    assert forms(started(1, "10.0.0.1"), started(2, "fd00::7"))[1] is None

    first, second = forms(started(1, "fd00::1"), started(2, "fd00::7"))

    assert first is not None
    assert second is not None
    assert first.shape is second.shape
    assert orjson.loads(second.stored()) == started(2, "fd00::7")


def test_a_pod_with_the_address_of_its_node_is_not_like_one_with_its_own() -> None:
    assert forms(started(1, "10.0.0.1"), started(2, "192.0.2.1"))[1] is None


def test_a_text_that_is_no_address_is_not_taken_for_one() -> None:
    assert forms(started(1, "10.0.0.1"), started(2, "10.0.0.256"))[1] is None


def test_more_texts_than_there_are_marks_for_are_the_objects_own() -> None:
    ids = [{"name": f"c{at}", "containerID": f"kwok://{at}"} for at in range(40)]
    [form] = forms(started(1, "10.0.0.1", containerStatuses=ids))

    assert form is not None
    assert orjson.loads(form.stored()) == started(1, "10.0.0.1", containerStatuses=ids)
