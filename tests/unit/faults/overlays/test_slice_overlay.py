"""What faults change in the ResourceSlices of a node, and that they take back exactly that."""

import copy
from typing import Any

import msgspec
import pytest

from kwokctl.faults.classes.class_schema import DeviceTaint
from kwokctl.faults.overlays.open_entries import OpenEntry
from kwokctl.faults.overlays.slice_overlay import (
    MOST_DEVICES,
    MOST_TAINTS,
    SLICE_JOURNAL,
    concern_slices,
    slice_changes,
)

OF_A_CLIENT = {
    "key": "example.com/loud",
    "effect": "NoSchedule",
    "timeAdded": "2026-01-01T00:00:00Z",
}


def entry(gpu: int | None, **values: Any) -> OpenEntry:
    return OpenEntry(fault="f", uid="u", class_name="c", since=1.0, gpu=gpu, **values)


def xid(gpu: int, number: int, effect: Any = "NoSchedule") -> OpenEntry:
    taint = DeviceTaint(key="gpu.nvidia.com/xid", value=str(number), effect=effect)
    return entry(gpu, device_taints=(taint,))


def slice_of(*names: str, name: str = "n-0", generation: int = 1) -> Any:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "5"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "n",
            "pool": {"name": "n", "generation": generation, "resourceSliceCount": 1},
            "devices": [{"name": each, "attributes": {}} for each in names],
        },
    }


def written(slices: list[Any], *entries: OpenEntry) -> list[Any]:
    """Return the slices as an API server has them after the writes."""
    changes = {each.name: each.document for each in slice_changes(slices, entries).changes}
    return [_patched(each, changes.get(each["metadata"]["name"])) for each in slices]


def _patched(each: dict[str, Any], document: dict[str, Any] | None) -> dict[str, Any]:
    result = copy.deepcopy(each)
    if document is None:
        return result
    for part in ("annotations", "labels"):
        kept = {**result["metadata"].pop(part, {}), **document["metadata"].get(part, {})}
        if kept := {key: value for key, value in kept.items() if value is not None}:
            result["metadata"][part] = kept
    result["spec"]["pool"].update(document["spec"]["pool"])
    result["spec"] |= copy.deepcopy(
        {"devices": document["spec"].get("devices", result["spec"]["devices"])}
    )
    for device in result["spec"]["devices"]:
        for taint in device.get("taints", ()):
            taint.setdefault("timeAdded", f"write {result['spec']['pool']['generation']}")
    return result


def taints(each: dict[str, Any], device: str) -> list[tuple[str, str]]:
    (found,) = [one for one in each["spec"]["devices"] if one["name"] == device]
    return [(one.get("value", ""), one["timeAdded"]) for one in found.get("taints", ())]


def generations(slices: list[Any]) -> list[int]:
    return [each["spec"]["pool"]["generation"] for each in slices]


def names(each: dict[str, Any]) -> list[str]:
    return [device["name"] for device in each["spec"]["devices"]]


def test_a_taint_is_on_the_device_of_the_gpu_alone() -> None:
    change = slice_changes([slice_of("gpu-0", "gpu-1", "gpu-10")], [xid(1, 79)])

    (golden,) = change.changes
    assert golden.document == {
        "metadata": {
            "uid": "uid-n-0",
            "resourceVersion": "5",
            "annotations": {
                SLICE_JOURNAL: '{"taints":{"gpu-1":[{"key":"gpu.nvidia.com/xid","value":"79","effect":"NoSchedule"}]}}'
            },
            "labels": {SLICE_JOURNAL: "shown"},
        },
        "spec": {
            "pool": {"generation": 2},
            "devices": [
                {"name": "gpu-0", "attributes": {}},
                {
                    "name": "gpu-1",
                    "attributes": {},
                    "taints": [
                        {"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}
                    ],
                },
                {"name": "gpu-10", "attributes": {}},
            ],
        },
    }
    assert change.overlaid
    assert not change.problems


def test_parts_of_a_gpu_share_its_faults() -> None:
    (after,) = written([slice_of("gpu-1", "gpu-1-mig-19-0-1", "gpu-2-mig-19-0-1")], xid(1, 48))

    assert [len(taints(after, each)) for each in names(after)] == [1, 1, 0]


def test_a_missing_gpu_comes_back_to_its_place() -> None:
    before = [slice_of("gpu-0", "gpu-1", "gpu-2", "gpu-3")]
    missing = [entry(gpu, device="missing") for gpu in (1, 2)]

    both = written(before, *missing)
    one = written(both, missing[1])
    none = written(one)

    assert [names(each[0]) for each in (both, one)] == [
        ["gpu-0", "gpu-3"],
        ["gpu-0", "gpu-1", "gpu-3"],
    ]
    assert none[0]["spec"]["devices"] == before[0]["spec"]["devices"]
    assert none[0]["spec"]["pool"]["generation"] == 4
    assert none[0]["metadata"] == before[0]["metadata"]


def test_taints_of_clients_stay_and_those_shown_keep_their_time() -> None:
    before = slice_of("gpu-0")
    before["spec"]["devices"][0]["taints"] = [OF_A_CLIENT]

    first = written([before], xid(0, 31))
    second = written(first, xid(0, 31), xid(0, 48))
    last = written(second, xid(0, 48))

    time = OF_A_CLIENT["timeAdded"]
    assert taints(second[0], "gpu-0") == [("", time), ("31", "write 2"), ("48", "write 3")]
    assert taints(last[0], "gpu-0") == [("", time), ("48", "write 3")]
    assert written(last)[0]["spec"]["devices"] == before["spec"]["devices"]


def test_a_taint_that_a_client_has_set_before_is_not_taken_away() -> None:
    before = slice_of("gpu-0")
    of_client = {
        "key": "gpu.nvidia.com/xid",
        "value": "79",
        "effect": "NoSchedule",
        "timeAdded": "t",
    }
    before["spec"]["devices"][0]["taints"] = [of_client]

    assert not slice_changes([before], [xid(0, 79)]).changes


def test_what_is_shown_already_is_not_written_again() -> None:
    shown = written([slice_of("gpu-0", "gpu-1")], xid(0, 79), entry(1, device="missing"))

    assert not slice_changes(shown, [xid(0, 79), entry(1, device="missing")]).changes
    assert slice_changes(shown, [xid(0, 79), entry(1, device="missing")]).overlaid


def test_several_slices_of_a_pool_change_to_a_new_generation_together() -> None:
    pool = [slice_of(f"gpu-{number}", name=name) for number, name in enumerate("abc")]

    after = written(pool, xid(0, 79), xid(1, 79))
    assert generations(after) == [2, 2, 2]
    assert after[2]["metadata"] == pool[2]["metadata"]

    torn = [after[0], *pool[1:]]  # the writer ended between two writes
    assert generations(written(torn, xid(0, 79), xid(1, 79))) == [3, 3, 3]
    assert generations(written([after[0], pool[1], after[2]], xid(0, 79))) == [3, 3, 3]


def test_a_pool_stays_complete_while_one_of_its_slices_changes() -> None:
    pool = [slice_of("gpu-0", name="a"), slice_of("gpu-1", name="b")]

    (change,) = slice_changes(pool, [xid(1, 79)]).changes

    assert change.name == "b"
    assert generations(written(pool, xid(1, 79))) == [1, 1]


def test_taints_beyond_what_an_api_server_takes_are_named() -> None:
    large = slice_of(*(f"gpu-{number}" for number in range(MOST_DEVICES + 1)))
    many = [xid(0, number) for number in range(MOST_TAINTS + 2)]

    assert "n-0" in slice_changes([large], [xid(3, 79)]).problems[0]
    assert not slice_changes([large], [xid(3, 79)]).changes
    (problem,) = slice_changes([slice_of("gpu-0")], many).problems
    assert "2 of faults are left out" in problem
    assert len(taints(written([slice_of("gpu-0")], *many)[0], "gpu-0")) == MOST_TAINTS


@pytest.mark.parametrize(
    "text", ["", "x", "[]", '{"missing":3}', '{"missing":[{"at":0,"device":{}}]}']
)
def test_a_journal_that_is_none_is_ignored(text: str) -> None:
    strange = slice_of("gpu-0")
    strange["metadata"]["annotations"] = {SLICE_JOURNAL: text}

    (after,) = written([strange], xid(0, 79))

    assert len(taints(after, "gpu-0")) == 1


def test_faults_that_show_elsewhere_are_none_of_the_slices() -> None:
    lost = entry(2, device="lost")

    assert not concern_slices([lost, entry(None, device_taints=xid(0, 1).device_taints)])
    assert concern_slices([lost, xid(0, 79)])
    assert concern_slices([entry(0, device="missing")])
    assert msgspec.structs.asdict(slice_changes([slice_of("gpu-2")], [lost])) == {
        "changes": (),
        "problems": (),
        "overlaid": False,
    }
