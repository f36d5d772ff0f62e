"""What the API server would refuse, complete or keep is found before a status is written past it."""

from typing import Any

import pytest

from kwokctl.kube.resource import LEASES, NODES, PODS, Resource
from kwokctl.kube.statuses import changed_parts, check_change, takes_any_text

ENDED, FAILED = ({"terminated": {"exitCode": code}} for code in (0, 1))
RUNNING: Any = {"running": {}}


def problem(
    resource: Resource, after: Any, before: Any = None, spec: Any = None, **words: Any
) -> str | None:
    was = {"spec": spec or {}, "status": before or {}}
    return check_change(resource, was, {**was, "status": after}, **words)


def amounts(**by_name: Any) -> Any:
    named = {name.replace("_", "/", 1).replace("_", "."): each for name, each in by_name.items()}
    return {"capacity": named, "allocatable": named}


@pytest.mark.parametrize("amount", ["1", "0", 2, "2k", "1Gi", "2000m", "1e3", "9e15", "+1.0"])
def test_devices_are_counted_in_whole_pieces(amount: Any) -> None:
    names = {"nvidia.com/gpu": amount, "pods": amount}

    assert problem(NODES, {"capacity": names, "allocatable": names}) is None


@pytest.mark.parametrize(
    ("name", "amount", "why"),
    [
        ("nvidia.com/gpu", "0.5", "'0.5' is not a whole number"),
        ("nvidia.com/gpu", 0.5, "'0.5' is not a whole number"),
        ("nvidia.com/gpu", "1500m", "'1500m' is not a whole number"),
        ("nvidia.com/gpu", "1n", "'1n' is not a whole number"),
        ("nvidia.com/gpu", "-1", "'-1' is negative"),
        ("nvidia.com/gpu", "9E", "'9E' is very large"),
        ("pods", "1.5", "'1.5' is not a whole number"),
        ("services.nodeports", "1m", "'1m' is not a whole number"),
        ("cpu", "-1", "'-1' is negative"),
        ("memory", -1, "'-1' is negative"),
    ],
)
@pytest.mark.parametrize("part", ["capacity", "allocatable"])
def test_amounts_that_are_refused_are_named(name: str, amount: Any, why: str, part: str) -> None:
    status = {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}, part: {name: amount}}

    assert problem(NODES, status) == f"{part}.{name}: {why}"


@pytest.mark.parametrize("name", ["cpu", "memory", "hugepages-2Mi", "kubernetes.io/a", "two words"])
def test_other_resources_may_have_parts(name: str) -> None:
    status = {"capacity": {name: "0.5"}, "allocatable": {name: "1n"}}

    assert problem(NODES, status) is None


def address(kind: str, text: str) -> Any:
    return {"type": kind, "address": text}


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"capacity": {"cpu": "1"}}, "allocatable: the API server has to complete it"),
        (
            {"addresses": [address("Hostname", "a"), address("Hostname", "a")]},
            "addresses[1]: occurs twice",
        ),
        ({"declaredFeatures": ["A", "A"]}, "declaredFeatures[1]: 'A' is not after 'A'"),
        ({"declaredFeatures": ["B", "A"]}, "declaredFeatures[1]: 'A' is not after 'B'"),
        ({"declaredFeatures": ["a"]}, "declaredFeatures[0]: 'a' is not the name of a feature"),
        ({"config": {"error": "e"}}, "config: the API server has to decide"),
    ],
)
def test_what_the_api_server_refuses_or_completes_of_a_node_is_found(status: Any, why: str) -> None:
    assert problem(NODES, status) == why


def test_what_is_right_of_a_node_is_taken() -> None:
    status = {
        "addresses": [address("Hostname", "a"), address("InternalIP", "10.0.0.1"), {}],
        "conditions": [{"type": "two words"}, {}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": -1}},
        "declaredFeatures": ["A", "Ab/c"],
        "images": [{"sizeBytes": -1}],
        "nodeInfo": {"swap": {"capacity": 0}},
        "volumesInUse": ["a", "a"],
        "config": None,
    }

    assert problem(NODES, {**status, **amounts(cpu="1")}) is None


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({"qosClass": "Burstable"}, {}, "qosClass: never changes"),
        ({"qosClass": "Burstable"}, None, "qosClass: never changes"),
        ({"qosClass": "Burstable"}, {"qosClass": ""}, "qosClass: never changes"),
        ({"qosClass": "Burstable"}, {"qosClass": "Guaranteed"}, "qosClass: never changes"),
        (
            {"qosClass": "Burstable"},
            {"phase": None, "reason": None, "message": "as many as before"},
            "qosClass: never changes",
        ),
        ({"observedGeneration": 2}, {}, "observedGeneration: cannot be removed"),
        ({}, {"observedGeneration": -1}, "observedGeneration: is negative"),
        (
            {"conditions": [{"type": "Ready", "observedGeneration": 2}]},
            {"conditions": [{"type": "Ready", "observedGeneration": 0}]},
            "conditions: 'observedGeneration' of 'Ready': cannot be removed",
        ),
        (
            {},
            {"conditions": [{"type": "Ready", "observedGeneration": -1}]},
            "conditions: 'observedGeneration' of 'Ready' is negative",
        ),
        ({}, {"conditions": [{}]}, "conditions: the type '' is not a qualified name"),
        (
            {},
            {"conditions": [{"type": "Ready"}, {"type": "two words"}]},
            "conditions: the type 'two words' is not a qualified name",
        ),
        (
            {},
            {"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.2"}]},
            "hostIPs: the first one is not 'hostIP'",
        ),
        ({}, {"podIPs": [{"ip": "10.0.0.1"}]}, "podIPs: the first one is not 'podIP'"),
        (
            {},
            {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]},
            "podIPs: more than one address of a family",
        ),
        ({}, {"nominatedNodeName": "a"}, "nominatedNodeName: the API server has to decide"),
        ({}, {"resourceClaimStatuses": [{}]}, "resourceClaimStatuses: the API server has to decide"),
        (
            {"resourceClaimStatuses": [{"name": "a"}]},
            {},
            "resourceClaimStatuses: the API server has to decide",
        ),
        ({}, {"podIP": "nowhere"}, "podIP: 'nowhere' is not an IP address"),
        ({}, "text", "not a mapping"),
    ],
)  # fmt: skip
def test_what_the_api_server_refuses_or_keeps_of_a_pod_is_found(
    before: Any, after: Any, why: str
) -> None:
    assert problem(PODS, after, before) == why


def containers(state: Any, **fields: Any) -> Any:
    return {"containerStatuses": [{"name": "c", "state": state, **fields}]}


@pytest.mark.parametrize(
    ("policy", "own", "ended", "may"),
    [
        (None, None, ENDED, True),
        ("Always", None, ENDED, True),
        ("OnFailure", None, FAILED, True),
        ("OnFailure", None, ENDED, False),
        ("Never", None, FAILED, False),
        ("Always", "Never", FAILED, False),
        ("Always", "OnFailure", FAILED, True),
        ("Always", "OnFailure", ENDED, False),
        # Releases differ: the API server decides.
        ("Never", "Always", FAILED, False),
    ],
)
def test_containers_that_have_ended_run_again_only_as_their_policies_say(
    policy: Any, own: Any, ended: Any, may: bool
) -> None:
    spec = {"restartPolicy": policy, "containers": [{"name": "c", "restartPolicy": own}]}

    found = problem(PODS, containers(RUNNING), containers(ended), spec)

    assert (found is None) is may
    assert problem(PODS, containers(ended, restartCount=1), containers(ended), spec) is None
    assert problem(PODS, {"containerStatuses": []}, containers(ended), spec) is None


def test_a_container_that_is_not_in_the_spec_never_runs_again() -> None:
    found = problem(PODS, containers(RUNNING), containers(ENDED), {"containers": []})

    assert found == "containerStatuses: 'c' has ended, and may not run again"


def test_no_name_is_an_empty_one() -> None:
    before = {"containerStatuses": [{"name": "", "state": ENDED}]}

    assert problem(PODS, {"containerStatuses": [{"state": RUNNING}]}, before) is not None
    assert problem(PODS, {"containerStatuses": [{"state": ENDED}]}, before) is None


@pytest.mark.parametrize(("part", "may"), [("initContainer", True), ("ephemeralContainer", False)])
def test_sidecars_run_again_and_containers_for_debugging_never(part: str, may: bool) -> None:
    spec = {"restartPolicy": "Never", f"{part}s": [{"name": "c", "restartPolicy": "Always"}]}
    before, after = ({f"{part}Statuses": [{"name": "c", "state": s}]} for s in (ENDED, RUNNING))

    assert (problem(PODS, after, before, spec) is None) is may


@pytest.mark.parametrize(
    "fields",
    [
        {"user": {"linux": {"uid": 0, "gid": 0}}},
        {"allocatedResourcesStatus": [{"name": "cpu"}]},
        {"volumeMounts": [{"name": "a", "volumeStatus": {"image": {"imageRef": "a"}}}]},
    ],
)
def test_what_only_some_releases_check_of_a_container_is_left_to_them(fields: Any) -> None:
    [field] = fields
    after = containers(RUNNING, **fields)

    assert (
        problem(PODS, after) == f"containerStatuses: '{field}' of 'c': the API server has to decide"
    )
    assert problem(PODS, after, containers(RUNNING, restartCount=1, **fields)) is None


@pytest.mark.parametrize(
    ("name", "device", "is_taken"),
    [
        ("nvidia.com/gpu", {"resourceID": "GPU-1", "health": "Healthy"}, True),
        ("nvidia.com/gpu", {"resourceID": "GPU-1", "health": "Unwell"}, False),
        ("nvidia.com/gpu", {"resourceID": "", "health": "Healthy"}, False),
        ("nvidia.com/gpu", {"resourceID": "1", "health": "Healthy", "message": "m"}, False),
        ("amd.com/gpu", {"resourceID": "GPU-1", "health": "Healthy"}, False),
    ],
)
def test_devices_are_taken_where_the_api_server_keeps_them_and_the_container_asks_for_them(
    name: str, device: Any, is_taken: bool
) -> None:
    spec = {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    field = {"allocatedResourcesStatus": [{"name": name, "resources": [device]}]}
    before = {"spec": spec, "status": containers(RUNNING)}
    after = {"spec": spec, "status": containers(RUNNING, **field)}

    kept = check_change(PODS, before, after, kept=["allocatedResourcesStatus"])
    assert (kept is None) is is_taken
    assert check_change(PODS, before, after) is not None


def test_what_is_right_of_a_pod_is_taken() -> None:
    both = [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]
    before = {
        "qosClass": "Burstable",
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "observedGeneration": 1}],
    }
    after = {
        **before,
        "conditions": [{"type": "Ready", "observedGeneration": 1}, {"type": "example.com/a"}],
        "phase": "Odd",
        "hostIP": "10.0.0.1",
        "hostIPs": both,
        "podIP": "10.0.0.1",
        "podIPs": both,
        "resourceClaimStatuses": None,
        **containers(RUNNING, restartCount=-1, volumeMounts=[{"name": "a"}], resources={}),
    }

    assert problem(PODS, after, before) is None


def test_only_what_is_another_value_is_looked_at() -> None:
    wrong = {"nvidia.com/gpu": "0.5"}
    before = {"capacity": wrong, "allocatable": wrong}

    assert problem(NODES, {**before, "phase": "Running"}, before) is None
    assert problem(NODES, {**before, "phase": "Running"}, before, parts=("capacity",)) is not None


def test_parts_that_are_gone_are_others() -> None:
    known = {"phase": "Running", "reason": "r"}

    assert changed_parts(known, {**known}) == []
    assert sorted(changed_parts(known, {"reason": None, "phase": "Running"})) == ["reason"]
    assert sorted(changed_parts(known, {"message": None, "phase": "Running"})) == ["reason"]
    assert sorted(changed_parts({}, known)) == ["phase", "reason"]


def test_other_kinds_are_for_the_api_server() -> None:
    assert problem(LEASES, {"a": "b"}) == "the status of kind 'Lease' is not known here"


@pytest.mark.parametrize(
    ("resource", "path", "is_free"),
    [
        (NODES, ("nodeInfo", "bootID"), True),
        (NODES, ("phase",), True),
        (NODES, ("images", 0, "names", 1), True),
        (NODES, ("nodeInfo", "swap", "capacity"), False),
        (NODES, ("addresses", 0, "address"), False),
        (NODES, ("capacity", "cpu"), False),
        (NODES, ("unknown", "field"), False),
        (PODS, ("reason",), True),
        (PODS, ("conditions", 0, "type"), False),
        (PODS, ("startTime",), False),
    ],
)
def test_places_are_known_where_any_text_is_taken(
    resource: Resource, path: tuple[str | int, ...], is_free: bool
) -> None:
    assert takes_any_text(resource, path) is is_free
