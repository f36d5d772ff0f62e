from collections.abc import Sequence

import pytest

from kwokctl.json_value import Json
from kwokctl.kube.patching.managed_fields import after_status_update
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

EARLIER, NOW = "2026-11-21T10:00:00Z", "2026-11-21T10:01:00Z"
READY = {"type": "Ready", "status": "False", "lastProbeTime": None, "lastTransitionTime": EARLIER}


def entry(manager: str, fields: Json, **rest: str) -> Json:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": EARLIER,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **rest,
    }


def owned(manager: str, fields: Json, **rest: str) -> Json:
    return entry(manager, {"f:status": fields}, subresource="status", **rest)


def ready(*fields: str) -> Json:
    return {"f:conditions": {'k:{"type":"Ready"}': {field: {} for field in fields}}}


SPEC = entry("kubectl", {"f:spec": {"f:nodeName": {}}})
MARK = owned("kube-controller-manager", ready("f:lastTransitionTime", "f:status"))


def after(
    entries: Sequence[Json], before: Json, changed: Json, kind: str = "Pod"
) -> Sequence[Json]:
    return after_status_update(
        {"metadata": {"managedFields": entries}, "status": before},
        {"metadata": {"managedFields": entries}, "status": changed},
        kind,
        manager="kwok",
        now=NOW,
    )


def test_who_writes_a_status_owns_what_changed() -> None:
    assert after([SPEC], {"phase": "Pending"}, {"phase": "Running", "qosClass": ""}) == [
        SPEC,
        owned("kwok", {"f:phase": {}}, time=NOW),
    ]


def test_what_another_has_written_is_not_its_own_any_more() -> None:
    changed = {"conditions": [{**READY, "status": "True", "lastTransitionTime": NOW}]}

    assert after([SPEC, MARK], {"conditions": [READY]}, changed) == [
        SPEC,
        owned("kwok", ready("f:lastTransitionTime", "f:status"), time=NOW),
    ]


def test_unchanged_fields_of_another_manager_stay_its_own() -> None:
    changed = {"conditions": [{**READY, "lastTransitionTime": NOW}]}

    assert after([SPEC, MARK], {"conditions": [READY]}, changed) == [
        owned("kube-controller-manager", ready("f:status")),
        SPEC,
        owned("kwok", ready("f:lastTransitionTime"), time=NOW),
    ]


def test_what_is_removed_belongs_to_no_manager() -> None:
    own = owned("kwok", {"f:phase": {}, "f:reason": {}})
    other = owned("a", {"f:message": {}})

    found = after([other, own], {"message": "m", "phase": "p", "reason": "r"}, {"phase": "p"})

    assert found == [owned("kwok", {"f:phase": {}})]


def test_a_new_condition_has_the_times_that_the_api_server_writes() -> None:
    changed = {"conditions": [{"type": "Ready", "status": "True", "message": ""}]}

    (found,) = after([owned("kwok", {"f:phase": {}})], {"phase": "p"}, {"phase": "p", **changed})

    times: Json = {"f:lastProbeTime": {}, "f:lastTransitionTime": {}}
    item = {".": {}, "f:status": {}, "f:type": {}, **times}
    fields: Json = {"f:conditions": {".": {}, 'k:{"type":"Ready"}': item}, "f:phase": {}}
    assert found["fieldsV1"]["f:status"] == fields


def test_one_address_of_a_pod_is_in_both_fields() -> None:
    fields: Json = {
        "f:podIP": {},
        "f:podIPs": {".": {}, 'k:{"ip":"10.0.0.1"}': {".": {}, "f:ip": {}}},
    }
    item = {"ip": "10.0.0.1"}

    for changed in ({"podIP": "10.0.0.1"}, {"podIPs": [item]}):
        assert after([SPEC], {}, changed) == [SPEC, owned("kwok", fields, time=NOW)]


def test_a_node_is_given_its_capacity_as_what_can_be_allocated() -> None:
    fields: Json = {f"f:{name}": {".": {}, "f:cpu": {}} for name in ("allocatable", "capacity")}

    found = after([SPEC], {}, {"capacity": {"cpu": "1"}}, "Node")

    assert found == [SPEC, owned("kwok", fields, time=NOW)]


def test_a_time_of_the_same_second_is_the_same_time() -> None:
    beat = {"type": "Ready", "lastHeartbeatTime": EARLIER, "lastTransitionTime": EARLIER}
    again = {**beat, "lastHeartbeatTime": EARLIER.replace("Z", ".250000000Z")}

    found = after([SPEC], {"conditions": [beat]}, {"conditions": [again]}, "Node")

    assert found == [SPEC]


def test_an_object_of_which_nothing_is_noted_keeps_nothing() -> None:
    assert not after([], {"phase": "Pending"}, {"phase": "Running"})


def test_what_only_the_api_server_knows_is_left_to_it() -> None:
    with pytest.raises(UnknownPatchError, match="version 'v1beta1'"):
        after([{**SPEC, "apiVersion": "v1beta1"}], {}, {"phase": "Running"})
    many = [{**SPEC, "manager": f"m-{number}"} for number in range(10)]
    with pytest.raises(UnknownPatchError, match="many managers"):
        after(many, {}, {"phase": "Running"})
