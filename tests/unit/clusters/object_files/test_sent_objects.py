"""What is sent of an object is what an API server accepts from a client."""

import orjson

from kwokctl.clusters.object_files.restoring.sent_objects import (
    NewUids,
    replacing,
    sent,
    without_address,
)
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

OLD, NEW = "00000000-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000001"


def _sent(**value: Json) -> Json:
    return sent(orjson.dumps({"apiVersion": "v1", "kind": "X", **value}))


def test_what_the_api_server_says_is_not_sent() -> None:
    metadata = {"name": "a", "uid": "u", "generation": 3, "deletionTimestamp": "t", "labels": {}}
    assert _sent(metadata=metadata)["metadata"] == {"name": "a", "labels": {}}


def test_a_job_gets_its_selector_from_the_api_server() -> None:
    labels = {"app": "x", "controller-uid": OLD, "batch.kubernetes.io/job-name": "j"}
    job = _sent(
        apiVersion="batch/v1",
        kind="Job",
        metadata={"name": "j"},
        spec={"selector": {}, "template": {"metadata": {"labels": labels}}},
    )
    assert job["spec"] == {"template": {"metadata": {"labels": {"app": "x"}}}}


def test_a_job_with_a_selector_of_its_own_keeps_it() -> None:
    spec = {"manualSelector": True, "selector": {"a": "b"}, "template": {}}
    job = _sent(apiVersion="batch/v1", kind="Job", metadata={"name": "j"}, spec=spec)
    assert job["spec"] == spec


def test_an_update_keeps_what_cannot_be_changed() -> None:
    there = {"metadata": {"uid": "u", "resourceVersion": "7"}, "spec": {"podCIDR": "10.0.0.0/24"}}
    spec = {"podCIDR": "10.9.0.0/24", "x": 1}
    node: ObjectInJson = {"kind": "Node", "metadata": {"name": "n"}, "spec": spec}
    assert replacing(node, there) == {
        "kind": "Node",
        "metadata": {"name": "n", "uid": "u", "resourceVersion": "7"},
        "spec": {"podCIDR": "10.0.0.0/24", "x": 1},
    }


def test_only_a_service_with_an_address_can_do_without() -> None:
    spec = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "type": "ClusterIP"}
    other = without_address({"kind": "Service", "spec": spec})
    assert other is not None
    assert other["spec"] == {"type": "ClusterIP"}
    assert without_address({"kind": "Service", "spec": {"clusterIP": "None"}}) is None
    assert without_address({"kind": "Pod", "spec": spec}) is None


def test_uids_are_followed_wherever_they_are() -> None:
    uids = NewUids()
    uids.note(OLD, NEW)
    other = "22222222-0000-4000-8000-000000000001"
    body = f'{{"claimRef":{{"uid":"{OLD}"}},"labels":{{"controller-uid":"{OLD}"}},"o":"{other}"}}'
    assert uids.followed(body.encode()) == body.replace(OLD, NEW).encode()
