"""The scorecard of a schedule of faults that a policy of repairs looks after: what was suppressed, and which repairs were of use."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.expr import yaml
from tests.support.injected import inject
from tests.support.installed import Installed, condition, until

pytestmark = [pytest.mark.components, pytest.mark.e2e, pytest.mark.timeout(900, func_only=True)]

OWN = "kwokctl.dev/v1alpha1"
STORM = [f"node-{number:06d}" for number in range(3)]
ALONE = "node-000003"
"""Its fault comes from no schedule."""
TIMES = ("cordoned", "accepted", "fixed", "back")


@pytest.fixture(scope="module")
def report(with_faults: Installed, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Play a storm beside a policy whose reboots never help and whose power cycles always do; score it."""
    folder = tmp_path_factory.mktemp("storm")
    cluster, record = with_faults, folder / "run.jsonl.gz"
    cluster.ok("scale", "node", "--replicas", "4", "--wait")
    cluster.ok("repair", "policy", "-f", written(folder, "shop", shop()))
    cluster.ok("measure", "start", "--record", str(record))
    cluster.ok("fault", "run", "-f", written(folder, "storm", storm()), "--wait")
    inject(cluster, "alone", "not-ready", target={"nodes": [ALONE]})
    cluster.ok("repair", ALONE, "--action", "host-repair", "--takes", "1s", "--wait")
    for node in STORM:
        cluster.cordon(node)
    for node in (*STORM, ALONE):
        until(f"{node} is back", lambda name=node: is_back(cluster, name))  # type: ignore[misc]  # a name
    seen = ("fault", "score", "--by", "schedule", "-o", "json")
    until("the score has all of it", lambda: count_back(cluster.ok(*seen)) == len(STORM) + 1)
    cluster.run("measure", "stop")
    return json.loads(cluster.ok(*seen, "-f", str(record)))


def written(folder: Path, name: str, document: dict[str, Any]) -> str:
    file = folder / f"{name}.yaml"
    file.write_text(yaml.dump({"apiVersion": OWN, "metadata": {"name": name}, **document}))
    return str(file)


def storm() -> dict[str, Any]:
    """Return a schedule of four faults on three nodes: the second one of the first node cannot come."""
    units = [*STORM, STORM[0]]
    trace = [{"at": f"{second}s", "unit": unit} for second, unit in enumerate(units, 1)]
    process = {"class": "not-ready", "every": {"trace": trace}, "for": "1h"}
    return {"kind": "FaultSchedule", "spec": {"horizon": "6s", "seed": 7, "processes": [process]}}


def shop() -> dict[str, Any]:
    reboot = {"takes": "1s", "odds": {"not-ready": 0}, "ifFailed": "power-cycle"}
    cycle = {"takes": "1s", "odds": {"not-ready": 1}}
    spec = {
        "slots": 3,
        "uncordon": True,
        "triggers": [{"action": "reboot", "cordonedFor": "1s"}],
        "actions": {"reboot": reboot, "power-cycle": cycle, "host-repair": {}},
    }
    return {"kind": "RepairPolicy", "spec": spec}


def is_back(cluster: Installed, name: str) -> bool:
    node = cluster.found("nodes", name)
    return condition(node, "Ready") == "True" and not node["spec"].get("unschedulable")


def count_back(text: str) -> int:
    return sum(each["back"] is not None for each in json.loads(text)["incidents"])


def figures(report: Any, schedule: str) -> Any:
    """Return the values of the faults of a schedule."""
    found = report["groups"]["schedule"][schedule]
    return {name.removeprefix("incidents."): each["value"] for name, each in found.items()}


def test_faults_that_could_not_come_are_counted_and_are_no_incidents(report: Any) -> None:
    suppressed = report["figures"]["incidents.suppressed"]["value"]

    assert (suppressed["value"], suppressed["detail"]) == (1, {"Broken": 1})
    assert suppressed["note"] == "of 4 planned"
    assert sorted(each["node"] for each in report["incidents"]) == [*STORM, ALONE]


def test_of_two_repairs_of_a_fault_the_first_was_in_vain_and_the_second_an_escalation(
    report: Any,
) -> None:
    actions = {each["node"]: each["repairs"] for each in report["incidents"]}
    assert actions == {
        **{node: ["reboot", "power-cycle"] for node in STORM},
        ALONE: ["host-repair"],
    }

    of_storm, of_none = figures(report, "storm"), figures(report, "none")
    assert (of_storm["repair_yield"]["value"], of_none["repair_yield"]["value"]) == (50, 100)
    assert of_storm["repair_yield"]["detail"] == {"in vain": len(STORM)}
    more = [of_storm["escalations"][name] for name in ("count", "min", "max")]
    assert more == [len(STORM), 1, 1]
    assert of_none["escalations"]["max"] == 0
    whole = report["figures"]["incidents.repair_yield"]["value"]["value"]
    assert whole == pytest.approx(100 * 4 / 7)


def test_the_faults_of_a_schedule_are_a_group_of_their_own(report: Any) -> None:
    assert [*report["groups"]["schedule"]] == ["none", "storm"]
    counts = [figures(report, name)["count"]["value"] for name in ("none", "storm")]
    assert counts == [1, len(STORM)]
    assert figures(report, "storm")["recall"]["value"] == 100
    assert figures(report, "storm")["to_cordon"]["count"] == len(STORM)


def test_the_times_of_an_incident_with_repairs_follow_each_other(report: Any) -> None:
    for each in report["incidents"]:
        cordoned, *others = (each[name] for name in TIMES)
        assert all(time is not None for time in others), each
        assert others == sorted(others), each
        assert (cordoned is None) == (each["node"] == ALONE), each
        assert cordoned is None or cordoned < others[0], each
