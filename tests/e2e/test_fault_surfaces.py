"""Each surface of a node on which a fault shows, by the commands and in a real cluster: before, during and after."""

import re
from typing import Any

import pytest

from tests.support.fault_surfaces import (
    DRA,
    MINE,
    ONE,
    SIGNAL,
    TWO,
    broken,
    differing,
    events,
    gpus,
    scale,
    seen,
    tried,
    untimed,
)
from tests.support.installed import Installed, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(600, func_only=True)]
FAULTY = ("kwokctl.dev/faults", "kwokctl.dev/open-faults")


@pytest.fixture(scope="module")
def cluster(with_own_faults: Installed) -> Installed:
    scale(with_own_faults, 2)
    with_own_faults.ok(
        "scale", "dgx-h100", "dra", "--replicas", "1", "--param", ".dra=true", "--wait"
    )
    return with_own_faults


def test_a_node_shows_a_fault_in_each_of_its_fields_and_nothing_else_changes(
    cluster: Installed,
) -> None:
    cluster.kubectl("taint", "nodes", ONE, f"{MINE['key']}={MINE['value']}:{MINE['effect']}")
    before, others = seen(cluster), seen(cluster, TWO)
    with broken(cluster, "all-fields", "--dialect", "npd"):
        until("the taints are there", lambda: len(seen(cluster)["taints"]) == 2)
        during = seen(cluster)
        assert differing(before, during) == {
            ("taints", ""), ("conditions", "FanProblem"), ("labels", "example.com/fan"),
            ("annotations", "example.com/fan"), *(("annotations", each) for each in FAULTY),
        }  # fmt: skip
        shown = during["conditions"]["FanProblem"]
        assert (shown["status"], shown["reason"]) == ("True", "FanIsBroken")
        assert shown["message"] == f"a fan of {ONE} stands"
        theirs, ours = during["taints"]
        assert theirs == MINE
        added = ours.pop("timeAdded")
        assert ours == SIGNAL["taints"][0]
        cluster.label("node", ONE, "mine.example/new=yes")
        cluster.annotate("node", ONE, "example.com/fan=mine", "--overwrite")
        # The client's words lie beneath from now on, and the fault is shown above them.
        until("it is shown again", lambda: is_shown(cluster, ONE))
        assert seen(cluster)["taints"][1]["timeAdded"] == added
    before["labels"]["mine.example/new"] = "yes"
    before["annotations"]["example.com/fan"] = "mine"
    until("the node is as before", lambda: seen(cluster) == before)
    assert seen(cluster, TWO) == others
    cluster.kubectl("taint", "nodes", ONE, f"{MINE['key']}-")


def is_shown(cluster: Installed, name: str) -> bool:
    return bool(seen(cluster, name)["annotations"].get("example.com/fan") == "it stands")


def test_an_agent_reports_a_fault_in_one_event_of_its_own(cluster: Installed) -> None:
    with broken(cluster, "all-fields", "--dialect", "npd", node=TWO):
        until("it is reported", lambda: reports(cluster, TWO))
        # A write of the node has it shown once more, and reported no more.
        version = cluster.found("nodes", TWO)["metadata"]["resourceVersion"]
        cluster.annotate("node", TWO, "example.com/fan=mine", "--overwrite")
        until("it is shown again", lambda: is_shown(cluster, TWO))
        assert cluster.found("nodes", TWO)["metadata"]["resourceVersion"] != version
        (event,) = reports(cluster, TWO)
        assert (event["type"], event["message"]) == ("Warning", f"a fan of {TWO} stopped")
        assert event["metadata"]["namespace"] == "default"
        assert event["source"]["component"] == "fan-watcher"
        assert event.get("count", 1) == 1
    cluster.annotate("node", TWO, "example.com/fan-")


def reports(cluster: Installed, name: str) -> list[dict[str, Any]]:
    """Return the Events of the agent about a node."""
    found = events(cluster, "FanStopped")
    return [each for each in found if each["involvedObject"]["name"] == name]


def test_a_condition_that_was_there_is_given_back(cluster: Installed) -> None:
    before = untimed(seen(cluster))
    assert before["conditions"]["GpuCount"]["status"] == "False"
    with broken(cluster, "gpu-missing", "--dialect", "azurehpc", "--set", "gpu=3"):
        during = seen(cluster)["conditions"]["GpuCount"]
        assert (during["status"], during["reason"]) == ("True", "GpuCountBad")
        assert "Expected to see 8 but found 7" in during["message"]
        assert gpus(cluster) == "8/8"  # nobody told the kubelet
    until("the node is as before", lambda: untimed(seen(cluster)) == before)


@pytest.mark.parametrize(
    ("found", "counts", "words"),
    [
        ("xid-48", "8/7", ("--set", "gpu=3")),
        ("gpu-missing", "7/7", ("--set", "gpu=3")),
        ("device-plugin-down", "8/0", ()),
    ],
)
def test_gpus_are_counted_as_a_kubelet_counts_them(
    cluster: Installed, found: str, counts: str, words: tuple[str, ...]
) -> None:
    before = untimed(seen(cluster))
    with broken(cluster, found, "--dialect", "device-plugin", *words):
        until(f"{counts} are counted", lambda: gpus(cluster) == counts)
    until("the node is as before", lambda: untimed(seen(cluster)) == before)


def test_a_device_is_tainted_in_its_slice_and_gone_if_it_is_missing(cluster: Installed) -> None:
    name = f"{DRA}-gpu.nvidia.com-0"

    def devices() -> dict[str, Any]:
        spec = cluster.found("resourceslices", name)["spec"]
        return {each["name"]: each for each in spec["devices"]}

    before = devices()
    with broken(cluster, "xid-48", "--dialect", "dra", "--set", "gpu=5", node=DRA):
        until("it is tainted", lambda: "taints" in devices()["gpu-5"])
        until("the XID that follows is there", lambda: len(devices()["gpu-5"]["taints"]) == 2)
        taints = devices()["gpu-5"]["taints"]
        assert {each["value"] for each in taints} == {"48", "154"}
        assert {each["key"] for each in taints} == {"gpu.nvidia.com/xid"}
        assert {each["effect"] for each in taints} == {"NoSchedule"}
        assert sum("taints" in each for each in devices().values()) == 1
    until("the slice is as before", lambda: devices() == before)
    with broken(cluster, "gpu-missing", "--dialect", "device-plugin", "--set", "gpu=2", node=DRA):
        until("it is gone", lambda: devices().keys() == before.keys() - {"gpu-2"})
    until("the slice is as before", lambda: devices() == before)


def test_a_lost_gpu_is_in_the_kernel_log_and_out_of_the_metrics(cluster: Installed) -> None:
    raw = f"/api/v1/nodes/{ONE}/proxy"

    def series() -> int:
        page = tried(cluster, "get", "--raw", f"{raw}/metrics/nodes/{ONE}/dcgm?counters=default")
        return len(re.findall(r'^DCGM_FI_DEV_GPU_UTIL{gpu="6"', page, re.MULTILINE))

    assert series() == 1
    with broken(cluster, "xid-79", "--set", "gpu=6"):
        until("its series are gone", lambda: series() == 0)
        found = tried(cluster, "get", "--raw", f"{raw}/logs/kern.log")
        assert re.search(r"NVRM: Xid \(PCI:0000:.*\): 79, .*fallen off the bus", found)
    until("its series are back", lambda: series() == 1)
    assert tried(cluster, "get", "--raw", f"{raw}/logs/kern.log") == ""


def test_a_fault_that_follows_keeps_its_status_small(cluster: Installed) -> None:
    late = "late"
    target = ("--where", f'name.startsWith("{late}-")', "--follow", "--id", "following")
    config = ("--config", str(cluster.folder / "classes.yaml"))
    cluster.ok(*config, "fault", "inject", "all-fields", "--dialect", "npd", *target)
    until("it waits for nodes", lambda: status(cluster).get("phase") == "Landed")
    cluster.ok("scale", "node", late, "--replicas", "30", "--wait")
    until("all are hit", lambda: status(cluster).get("landed") == 30)

    found = status(cluster)
    in_pages = [
        row
        for page in cluster.objects("faultpages")
        for row in page["spec"].get("rows", ())
        if page["metadata"]["name"].startswith("following-")
    ]
    assert found["units"] == len(found["rows"]) + len(in_pages) == 30
    # How many are where depends on how many came together; in the status are 20 at most.
    assert len(found["rows"]) <= 20
    units = {row.split(" ")[0] for row in (*found["rows"], *in_pages)}
    assert units == {f"{late}-{number:06}" for number in range(30)}
    cluster.ok("fault", "clear", "following", "--wait", "3m")
    until("nothing is left", lambda: not left(cluster))


def left(cluster: Installed) -> list[str]:
    """Return the nodes on which something is written down about faults; taints are taken back after the rest."""
    nodes = [each["metadata"] for each in cluster.objects("nodes")]
    return [meta["name"] for meta in nodes if {*FAULTY} & meta["annotations"].keys()]


def status(cluster: Installed) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("faults", "following").get("status", {})
    return found
