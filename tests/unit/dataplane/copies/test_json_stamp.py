import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from kwokctl.dataplane.copies.json_stamp import Copy, Stamp, Varying, stamp_of, without_owners
from kwokctl.errors import CannotStampError

CREATED = ["2026-11-21T10:01:35Z", "2026-11-21T10:01:36Z"]
UIDS = ["6732827a-0267-4d35-9d8b-401c421b96f0", "dcf85239-2b38-4683-a532-e64c57a3c921"]
LATER = Copy(
    serial=70,
    name="thing-70",
    uid="0b4ac2f0-0000-4000-8000-5ba2f8a5d670",
    created="2027-01-01T00:00:00Z",
    node="node-9",
    pod_ips=("10.9.0.1", "fd00::9"),
    host_ips=("192.0.2.9", "2001:db8::9"),
)


def copy_of(serial: int, **own: Any) -> Copy:
    name = f"thing-{serial}"
    return Copy(serial=serial, name=name, uid=UIDS[serial], created=CREATED[serial], **own)


def pod_copy(serial: int) -> Copy:
    return copy_of(
        serial,
        node=f"node-{serial}",
        pod_ips=(f"10.0.{serial}.1", f"fd00::{serial}"),
        host_ips=(f"192.0.2.{serial}", f"2001:db8::{serial}"),
    )


def thing(serial: int, **rest: Any) -> dict[str, Any]:
    """An object as the API server shows it."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {
            "creationTimestamp": CREATED[serial],
            "generation": 1,
            "managedFields": [{"manager": "kwok", "time": CREATED[serial]}],
            "name": f"thing-{serial}",
            "resourceVersion": f"{240 + serial}",
            "uid": UIDS[serial],
        },
        **rest,
    }


def pod(serial: int) -> dict[str, Any]:
    volume = ["kube-api-access-8s2j7", "kube-api-access-x9kq2"][serial]
    copy = pod_copy(serial)
    return {
        **thing(serial),
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {
            "containers": [{"name": "c", "volumeMounts": [{"name": volume}]}],
            "nodeName": copy.node,
            "volumes": [{"name": volume}],
        },
        "status": {
            "conditions": [{"lastProbeTime": None, "lastTransitionTime": CREATED[serial]}],
            "containerStatuses": [{"state": {"running": {"startedAt": CREATED[serial]}}}],
            "hostIP": copy.host_ips[0],
            "hostIPs": [{"ip": ip} for ip in copy.host_ips],
            "phase": "Running",
            "podIP": copy.pod_ips[0],
            "podIPs": [{"ip": ip} for ip in copy.pod_ips],
            "startTime": CREATED[serial],
        },
    }


def stamp_for(
    make: Callable[[int], dict[str, Any]],
    copy: Callable[[int], Copy] = copy_of,
    varying: Varying | None = None,
) -> Stamp:
    return stamp_of(make(0), make(1), copy(0), copy(1), varying or {})


def stamped(make: Callable[[int], dict[str, Any]], varying: Varying | None = None) -> Any:
    return json.loads(stamp_for(make, varying=varying).make(LATER))


def test_a_copy_has_its_own_name_uid_and_time_and_no_field_that_etcd_provides() -> None:
    assert stamped(lambda serial: thing(serial, spec={"size": 3, "on": True})) == {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {
            "creationTimestamp": LATER.created,
            "generation": 1,
            "managedFields": [{"manager": "kwok", "time": LATER.created}],
            "name": "thing-70",
            "uid": LATER.uid,
        },
        "spec": {"size": 3, "on": True},
    }


def managed(serial: int, *managers: dict[str, Any]) -> dict[str, Any]:
    made = thing(serial, spec={"hosts": [{"name": f"thing-{serial}", "number": 7}], "nets": ["n"]})
    made["metadata"]["managedFields"] = list(managers)
    return made


def fields_of(name: str) -> dict[str, Any]:
    return {
        "f:spec": {
            "f:hosts": {
                f'k:{{"name":"{name}","number":7}}': {".": {}, "f:name": {}},
                'k:{"name":"gone","number":8}': {},
            },
            "f:nets": {'v:"n"': {}},
        },
        "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
    }


def test_managed_fields_name_the_items_of_the_copy_itself() -> None:
    def make(serial: int) -> dict[str, Any]:
        return managed(serial, {"fieldsV1": fields_of(f"thing-{serial}"), "manager": "kwok"})

    (entry,) = stamped(make)["metadata"]["managedFields"]

    assert entry == {"fieldsV1": fields_of("thing-70"), "manager": "kwok"}


def test_managed_fields_can_be_left_out() -> None:
    first, second = without_owners(thing(0)), without_owners(thing(1))
    stamp = stamp_of(first, second, copy_of(0), copy_of(1), {})

    assert "managedFields" not in json.loads(stamp.make(LATER))["metadata"]


def test_a_text_with_the_digits_of_the_uid_has_those_of_the_copy() -> None:
    def make(serial: int) -> dict[str, Any]:
        digits = UIDS[serial].replace("-", "")
        return thing(serial, status={"containerID": f"kwok://{digits}00ff"})

    digits = LATER.uid.replace("-", "")
    assert stamped(make)["status"] == {"containerID": f"kwok://{digits}00ff"}


def test_managers_are_in_the_order_that_they_have_with_equal_times() -> None:
    early = [{"manager": "z", "time": CREATED[0]}, {"manager": "a", "time": CREATED[0]}]

    def make(serial: int) -> dict[str, Any]:
        return managed(serial, *(early if serial else reversed(early)))

    entries = stamped(make)["metadata"]["managedFields"]

    assert [entry["manager"] for entry in entries] == ["a", "z"]


def test_managers_that_differ_from_the_second_object_are_reported() -> None:
    def make(serial: int) -> dict[str, Any]:
        return managed(serial, {"manager": "kwok" if serial else "kubectl"})

    with pytest.raises(CannotStampError, match=r"metadata\.managedFields\[0\]\.manager"):
        stamp_for(make)


def test_a_pod_has_its_own_node_and_addresses() -> None:
    copy = json.loads(stamp_for(pod, pod_copy).make(LATER))

    assert copy["spec"] == {
        "containers": [{"name": "c", "volumeMounts": [{"name": "kube-api-access-8s2j7"}]}],
        "nodeName": "node-9",
        "volumes": [{"name": "kube-api-access-8s2j7"}],
    }
    assert copy["status"] == {
        "conditions": [{"lastProbeTime": None, "lastTransitionTime": LATER.created}],
        "containerStatuses": [{"state": {"running": {"startedAt": LATER.created}}}],
        "hostIP": "192.0.2.9",
        "hostIPs": [{"ip": "192.0.2.9"}, {"ip": "2001:db8::9"}],
        "phase": "Running",
        "podIP": "10.9.0.1",
        "podIPs": [{"ip": "10.9.0.1"}, {"ip": "fd00::9"}],
        "startTime": LATER.created,
    }


def test_a_pod_without_node_and_addresses_gets_none() -> None:
    def pending(serial: int) -> dict[str, Any]:
        return thing(serial) | {
            "apiVersion": "v1",
            "kind": "Pod",
            "spec": {},
            "status": {"phase": "Pending"},
        }

    copy = stamped(pending)

    assert (copy["spec"], copy["status"]) == ({}, {"phase": "Pending"})


def test_a_pod_on_its_node_s_network_has_the_node_s_addresses() -> None:
    def on_host(serial: int) -> dict[str, Any]:
        ip = f"192.0.2.{serial}"
        return {
            **thing(serial, spec={"hostNetwork": True}, status={"podIP": ip, "hostIP": ip}),
            "apiVersion": "v1",
            "kind": "Pod",
        }

    stamp = stamp_for(on_host, lambda serial: copy_of(serial, host_ips=(f"192.0.2.{serial}",)))

    assert json.loads(stamp.make(LATER))["status"] == {"podIP": "192.0.2.9", "hostIP": "192.0.2.9"}


def test_the_node_of_another_kind_is_not_a_pod_s() -> None:
    copy = stamped(lambda serial: thing(serial, spec={"nodeName": "same"}))

    assert copy["spec"] == {"nodeName": "same"}


def test_what_the_template_counts_is_counted_on() -> None:
    copy = stamped(
        lambda serial: thing(serial, spec={"ips": [f"10.0.0.{serial}"], "index": serial}),
        {
            ("spec", "ips", 0): lambda serial: f"10.0.0.{serial}",
            ("spec", "index"): lambda serial: serial,
        },
    )

    assert copy["spec"] == {"ips": ["10.0.0.70"], "index": 70}


def test_texts_are_escaped() -> None:
    quoted = stamped(
        lambda serial: thing(serial, spec={'a"\n': f'"{serial}\\ü'}),
        {("spec", 'a"\n'): lambda serial: f'"{serial}\\ü'},
    )

    assert quoted["spec"] == {'a"\n': '"70\\ü'}


def test_the_uid_and_the_name_are_replaced_wherever_they_occur() -> None:
    copy = stamped(
        lambda serial: thing(
            serial,
            spec={
                "selector": {"controller-uid": UIDS[serial], UIDS[serial]: "x"},
                "hosts": [f"thing-{serial}", f"thing-{serial}0"[:5]],
            },
        )
    )

    assert copy["spec"] == {
        "selector": {"controller-uid": LATER.uid, LATER.uid: "x"},
        "hosts": ["thing-70", "thing"],
    }


def test_times_keep_their_form() -> None:
    copy = stamped(
        lambda serial: thing(
            serial, status={"renewTime": f"2026-11-21T10:01:3{serial}.123456Z", "startTime": "soon"}
        )
    )

    assert copy["status"] == {"renewTime": "2027-01-01T00:00:00.000000Z", "startTime": "soon"}


def test_a_fixed_time_stays_but_now_differs_for_each_copy() -> None:
    copy = stamped(
        lambda serial: thing(
            serial, spec={"startTime": CREATED[serial], "endTime": "2031-01-01T00:00:00Z"}
        )
    )

    assert copy["spec"] == {"startTime": LATER.created, "endTime": "2031-01-01T00:00:00Z"}


def changed(make: Callable[[int], dict[str, Any]], change: Callable[[Any], None]) -> Any:
    def second_changed(serial: int) -> dict[str, Any]:
        made = deepcopy(make(serial))
        if serial:
            change(made)
        return made

    return second_changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda second: second["status"].update(phase="Failed"),
            "'status.phase' of 'thing-1' is \"Failed\" in the cluster, which does not follow",
        ),
        (lambda second: second["spec"].update(nodeName="node-7"), "'spec.nodeName'"),
        (lambda second: second["status"]["podIPs"].pop(), "'status.podIPs'"),
        (lambda second: second["status"]["podIPs"][1].update(ip="fd00::7"), "status.podIPs[1].ip"),
        (lambda second: second["status"].update(startTime="never"), "'status.startTime'"),
        (
            lambda second: second["status"].pop("startTime"),
            "'status.startTime' of 'thing-1' is not set in the cluster",
        ),
        (
            lambda second: second["metadata"].update(labels={"a.b/c": "d"}),
            "'metadata.labels' of 'thing-1' is {\"a.b/c\":\"d\"} in the cluster",
        ),
        (lambda second: second["spec"]["volumes"][0].update(name="mine"), "'spec.volumes[0].name'"),
        (lambda second: second["metadata"].update(generation=True), "'metadata.generation'"),
        (
            lambda second: second["metadata"].update(deletionTimestamp=CREATED[1]),
            "'thing-1' is being deleted",
        ),
    ],
)
def test_no_copies_are_made_of_what_does_not_differ_as_expected(
    change: Callable[[Any], None], message: str
) -> None:
    with pytest.raises(CannotStampError) as caught:
        stamp_for(changed(pod, change), pod_copy)

    assert message in str(caught.value)
    assert "--data-path auto" in (caught.value.hint or "")


def test_a_field_is_named_also_where_only_its_owner_shows_that_it_differs() -> None:
    def owned(serial: int) -> dict[str, Any]:
        network = f"10.3.{serial}.0/24"
        made = thing(serial, spec={"podCIDRs": [network]})
        fields: Any = {"f:spec": {"f:podCIDRs": {f'v:"10.9.{serial}.0/24"': {}}}}
        made["metadata"]["managedFields"][0]["fieldsV1"] = fields
        return made

    varying: Varying = {("spec", "podCIDRs", 0): lambda serial: f"10.3.{serial}.0/24"}
    with pytest.raises(CannotStampError) as caught:
        stamp_for(owned, varying=varying)

    message = str(caught.value)
    assert message.startswith("'spec.podCIDRs' of 'thing-")
    assert "managedFields" not in message
    assert "each object is created by itself, which takes longer" in message
    assert "let the template give 'spec.podCIDRs' as the cluster has it" in message


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(CannotStampError, match="…"):
        stamp_for(lambda serial: thing(serial, spec={"text": f"{serial}" * 200}))


def test_keys_that_are_no_identifiers_are_shown_in_brackets() -> None:
    with pytest.raises(CannotStampError, match=r"'metadata\[example.com/a\]'"):
        stamp_for(changed(thing, lambda second: second["metadata"].update({"example.com/a": 1})))


@pytest.mark.parametrize(
    ("varying", "message"),
    [
        (
            {("spec", "index"): lambda serial: serial + 1},
            "'spec.index' of 'thing-0' is 0 in the cluster, which does not follow",
        ),
        (
            {("spec", "ips", 1): str},
            "'spec.ips[1]' is not set in the cluster, not what the template gives",
        ),
        ({("spec",): str}, "'spec' is {"),
    ],
)
def test_what_the_template_gives_is_there(varying: Varying, message: str) -> None:
    with pytest.raises(CannotStampError) as caught:
        stamp_for(lambda serial: thing(serial, spec={"index": 0, "ips": ["a"]}), varying=varying)

    assert message in str(caught.value)
