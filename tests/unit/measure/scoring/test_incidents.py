"""Incidents: the times of what was done about each fault, by records written by hand."""

from typing import Any

import pytest

from kwokctl.measure.record.record_lines import PodShape
from kwokctl.measure.scoring.incident import Incident
from tests.support.measured import SECOND, life
from tests.support.storied import BAD, GOOD, SICK, Story

TIMES = ("began", "shown", "acted", "cordoned", "drained", "accepted", "fixed", "back")


def told(incident: Incident) -> dict[str, int | None]:
    """Return the times of an incident in seconds."""
    found = {name: getattr(incident, name) for name in TIMES}
    return {name: None if time is None else time // SECOND for name, time in found.items()}


def one(story: Story, **words: Any) -> Incident:
    """Return the only incident of a story."""
    (found,) = story.card(**words).incidents
    return found


def whole() -> Story:
    """Return a story in which everything happens to n1: seen at 12, cordoned at 15, drained at 20, in repair from 25 to 45, back at 50."""
    story = Story()
    story.others(1, 1, pods=3, movable=2)
    fault = story.fault(10, 1, end=45)
    story.node(12, 1, shows=BAD, gpus=7)
    story.cordon(15, 1)
    story.others(18, 1, pods=2, movable=1)
    story.others(20, 1, pods=1, movable=0)
    story.repair(25, 45, 1, fault)
    story.node(46, 1, shows=GOOD, gpus=8)
    story.uncordon(50, 1)
    return story


def test_the_times_of_an_incident_are_those_at_which_things_were_done() -> None:
    incident = one(whole())

    assert told(incident) == {
        "began": 10, "shown": 12, "acted": 15, "cordoned": 15, "drained": 20, "accepted": 25, "fixed": 45, "back": 50,
    }  # fmt: skip
    assert (incident.actor, incident.act, incident.cordons) == ("medic", "cordon", 1)
    assert (incident.node, incident.gpus, incident.fault_class) == ("n1", (2,), "xid-79")
    assert incident.signals == {"aks": 12 * SECOND}
    assert incident.repair_time == 20 * SECOND


def test_a_fault_that_nobody_notices_has_no_further_times() -> None:
    story = Story()
    story.fault(10, 1)

    assert told(one(story)) == dict.fromkeys(TIMES, None) | {"began": 10, "shown": 11}
    assert not one(story).is_noticed


def test_a_signal_that_was_there_before_the_fault_is_none_of_it() -> None:
    story = Story()
    story.node(5, 1, shows=BAD)
    story.fault(10, 1, end=40, landed=3.0)
    story.node(20, 1, shows=BAD, cordoned=True)

    incident = one(story)

    assert (incident.signals, incident.is_shown_inferred) == ({}, True)
    assert told(incident)["shown"] == 13


@pytest.mark.parametrize(
    ("marks", "changed"),
    [
        (("GpuMissing=True",), {"shows": BAD}),
        (("devices",), {"gpus": 7}),
        (("example.com/bad:NoSchedule",), {"taints": "example.com/bad=yes:NoSchedule"}),
    ],
)
def test_a_dialect_shows_a_fault_by_conditions_devices_or_taints(
    marks: tuple[str, ...], changed: dict[str, Any]
) -> None:
    story = Story()
    story.fault(10, 1, end=40, marks={"one": marks, "other": ("Never=True",)})
    story.node(13, 1, **changed)

    assert one(story).signals == {"one": 13 * SECOND}
    assert one(story).cordoned is None, "what a fault sets is nobody's reaction"


def test_taints_of_kubernetes_and_those_of_before_are_no_reactions_and_others_are() -> None:
    story = Story()
    story.node(1, 2, taints="")
    story.fault(10, 1)
    story.node(12, 1, taints="node.kubernetes.io/unreachable:NoExecute")
    story.act(12, 1, "taint node.kubernetes.io/unreachable:NoExecute", "kube-controller-manager")
    story.node(14, 1, taints="medic.example/soft:PreferNoSchedule")
    story.act(14, 1, "taint medic.example/soft:PreferNoSchedule", "medic")
    assert one(story).acted is None

    story.node(16, 1, taints="medic.example/bad=x:NoExecute")
    story.act(16, 1, "taint medic.example/bad:NoExecute", "medic")

    incident = one(story)
    assert (incident.act, incident.actor) == ("taint", "medic")
    assert told(incident) | {"began": 0} == {
        "began": 0, "shown": 11, "acted": 16, "cordoned": 16, "drained": 16, "accepted": None, "fixed": None, "back": None,
    }  # fmt: skip


def test_a_node_that_was_cordoned_before_is_noticed_and_has_no_time_to_cordon() -> None:
    story = Story()
    story.cordon(5, 1)
    story.fault(10, 1, end=30)
    assert one(story).back is None
    story.uncordon(40, 1)

    incident = one(story)

    assert incident.was_cordoned
    assert incident.is_noticed
    assert (incident.cordoned, incident.acted) == (None, None)
    story.cordon(50, 1)
    assert one(story).cordoned is None


def test_a_fault_of_several_gpus_of_a_node_is_one_incident_and_one_of_two_nodes_two() -> None:
    story = Story()
    story.fault(10, 1, 2, gpus=(0, 1, 5))

    assert [(each.node, each.gpus) for each in story.card().incidents] == [
        ("n1", (0, 1, 5)),
        ("n2", (0, 1, 5)),
    ]


def test_a_unit_that_cannot_show_its_fault_is_no_incident() -> None:
    story = Story()
    story.fault(10, 1, problem="NodeGone")

    assert story.card().incidents == []


def test_a_repair_ends_the_fault_on_its_node_only() -> None:
    story = Story()
    fault = story.fault(10, 1, 2, end=80)
    story.repair(20, 30, 1, fault)
    story.repair(20, 40, 3, fault)

    first, second = story.card().incidents

    assert (told(first)["fixed"], told(second)["fixed"]) == (30, 80)
    assert (told(first)["accepted"], told(second)["accepted"]) == (20, None)


def test_a_repair_in_vain_is_followed_by_another_and_the_fault_ends_with_that() -> None:
    story = Story()
    fault = story.fault(10, 1)
    story.repair(20, 30, 1)
    story.repair(35, 60, 1, fault, action="replace")

    incident = one(story)

    assert [each.action for each in incident.repairs] == ["reboot", "replace"]
    assert (told(incident)["accepted"], told(incident)["fixed"]) == (20, 60)
    assert incident.repair_time == 35 * SECOND
    assert [incident.is_repaired(at * SECOND) for at in (19, 20, 29, 30, 34, 35, 60)] == [
        False, True, True, False, False, True, False,
    ]  # fmt: skip


def test_a_repair_that_goes_on_has_no_end() -> None:
    story = Story()
    story.fault(10, 1)
    story.repair(20, None, 1)

    assert [one(story).is_repaired(at * SECOND) for at in (19, 20, 99)] == [False, True, True]
    assert one(story).repair_time == 0


@pytest.mark.parametrize("last", [{"ready": True}, {"gpus": 8}, {"cordoned": False}])
def test_a_node_is_back_when_it_is_ready_open_and_has_all_of_its_devices(
    last: dict[str, Any],
) -> None:
    story = Story()
    story.fault(10, 1, end=30)
    story.node(12, 1, gpus=7, ready=False, cordoned=True, shows=SICK)
    good = {"ready": True, "gpus": 8, "cordoned": False}
    story.node(32, 1, **{name: value for name, value in good.items() if name not in last})
    assert one(story).back is None

    story.node(36, 1, **last)

    assert told(one(story))["back"] == 36


def test_a_fault_that_ends_before_the_node_is_cordoned_is_over_only_after_that() -> None:
    story = Story()
    story.fault(10, 1, end=20)
    story.cordon(25, 1)
    story.uncordon(40, 1)

    incident = one(story)

    assert told(incident) | {"shown": 0} == {
        "began": 10, "shown": 0, "acted": 25, "cordoned": 25, "drained": 25, "accepted": None, "fixed": 20, "back": 40,
    }  # fmt: skip


def test_a_drain_that_ends_with_the_cordon_has_not_come_to_its_end() -> None:
    story = Story()
    story.others(1, 1, pods=1, movable=1)
    story.fault(10, 1, end=20)
    story.cordon(15, 1)
    story.uncordon(25, 1)
    story.others(30, 1, pods=0, movable=0)

    assert one(story).drained is None


def test_a_drain_waits_for_pods_of_the_run_and_not_for_those_of_daemon_sets() -> None:
    story = Story()
    shapes = (
        PodShape(1, "ReplicaSet", "web", "uid-of-web", 0, "", {}),
        PodShape(2, "DaemonSet", "agent", "uid-of-agent", 0, "", {}),
    )
    story.add(-1, *shapes)
    for line in life(1, SECOND, 2 * SECOND, 3 * SECOND, 22 * SECOND):
        story.add(line.time // SECOND, line)  # type: ignore[union-attr]  # lines of pods have times
    for line in life(2, SECOND, 2 * SECOND, 3 * SECOND, shape=2):
        story.add(line.time // SECOND, line)  # type: ignore[union-attr]  # likewise
    story.fault(10, 1)
    story.cordon(15, 1)

    assert told(one(story))["drained"] == 22


def test_an_act_long_after_a_fault_is_not_about_it() -> None:
    story = Story()
    story.fault(10, 1)
    story.cordon(50, 1)

    assert told(one(story, within=40 * SECOND))["acted"] == 50
    late = one(story, within=39 * SECOND)
    assert (late.acted, late.cordoned) == (None, None)


def test_what_is_done_about_the_next_fault_of_a_node_is_not_about_the_one_that_was_over() -> None:
    story = Story()
    story.fault(10, 1, end=20)
    story.fault(30, 1, end=60)
    story.cordon(40, 1)

    first, second = story.card().incidents

    assert (first.acted, told(second)["acted"]) == (None, 40)


def test_an_act_while_two_faults_are_open_is_about_both() -> None:
    story = Story()
    story.fault(10, 1)
    story.fault(30, 1, marks={"aks": ("Other=True",)})
    story.cordon(40, 1)

    assert [told(each)["acted"] for each in story.card().incidents] == [40, 40]

    story.repair(45, 50, 1, "fault-1")
    assert [told(each)["acted"] for each in story.card().incidents] == [40, 40]


def test_each_time_that_a_node_is_cordoned_counts_until_it_is_back() -> None:
    story = Story()
    story.fault(10, 1, end=50)
    for begin, end in ((15, 20), (25, 30), (45, 55), (70, 80)):
        story.cordon(begin, 1)
        story.uncordon(end, 1)

    assert (told(one(story))["back"], one(story).cordons) == (55, 3)


def test_a_node_that_is_deleted_is_repaired_by_that_and_back_when_one_of_its_name_is_ready() -> (
    None
):
    story = Story()
    story.fault(10, 1)
    story.gone(20, 1)
    assert told(one(story)) | {"shown": 0} == {
        "began": 10, "shown": 0, "acted": 20, "cordoned": None, "drained": None, "accepted": None, "fixed": 20, "back": None,
    }  # fmt: skip
    assert one(story).act == "delete"

    story.again(35, 4, "n1")

    assert told(one(story))["back"] == 35


def test_a_fault_of_before_the_record_is_an_incident_that_began_before_it() -> None:
    story = Story()
    story.fault(-30, 1, end=40)
    story.cordon(20, 1)

    assert told(one(story)) | {"shown": 0, "drained": 0} == {
        "began": -30, "shown": 0, "acted": 20, "cordoned": 20, "drained": 0, "accepted": None, "fixed": 40, "back": None,
    }  # fmt: skip


def test_only_incidents_count_that_began_after_the_time_from_which_they_do() -> None:
    story = Story()
    story.fault(10, 1)
    story.fault(30, 2)

    assert [each.node for each in story.card(since=20 * SECOND).incidents] == ["n2"]
