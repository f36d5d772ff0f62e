"""Figures of reactions to faults, by records written by hand."""

import pytest

from kwokctl.errors import UsageError
from kwokctl.measure.figures.values import Durations, Levels, Missing
from kwokctl.measure.reports.report import ReportRequest, report_on
from kwokctl.measure.reports.score import ScoreRequest, score_of
from kwokctl.measure.scoring.lost_capacity import CAUSES
from kwokctl.measure.scoring.score_words import NodeBudget
from tests.support.measured import SECOND
from tests.support.scored import cordoned_wrongly, detail, number, value
from tests.support.storied import Story


def test_recall_leaves_out_benign_faults_and_precision_counts_reactions_to_them_as_wrong() -> None:
    story = cordoned_wrongly()

    assert number(story, "recall") == 50
    assert detail(story, "recall") == {"missed": 1}
    assert number(story, "precision") == 50
    assert detail(story, "precision") == {"without a fault": 1}
    assert detail(story, "count") == {"xid-79": 2, "xid-94": 1}


def test_a_cordon_of_a_good_node_or_long_after_a_fault_is_wrong() -> None:
    story = Story()
    story.fault(10, 1)
    story.cordon(30, 1)
    story.cordon(30, 2)

    assert number(story, "precision") == 50
    assert number(story, "precision", within=19 * SECOND) == 0
    assert number(story, "precision", within=20 * SECOND) == 50


def test_nodes_that_were_cordoned_when_the_record_began_are_nobodys_reaction() -> None:
    story = Story(cordoned=(2,))
    story.fault(-10, 1)

    assert value(story, "precision") == Missing("no client has acted")


def test_a_cordon_before_the_fault_of_its_node_is_wrong_and_evictions_belong_to_it() -> None:
    story = Story()
    story.cordon(5, 2)
    story.evicted(6, 2)
    story.fault(10, 2)
    assert detail(story, "precision") == {"without a fault": 1}

    story.evicted(20, 3)

    assert detail(story, "precision") == {"without a fault": 2}


def test_over_cordon_is_the_share_of_the_time_without_a_fault() -> None:
    # n1 is cordoned for 35 s, of which 10 after its end; n3 for 20 s with a benign fault.
    assert number(cordoned_wrongly(), "over_cordon") == pytest.approx(100 * 30 / 55)


def test_lost_capacity_is_split_by_its_causes() -> None:
    story = Story(2)
    story.others(1, 1, pods=1, movable=1)
    fault = story.fault(10, 1, gpus=(2, 3), landed=None)
    story.node(12, 1, shows="GpuMissing=True,Ready=True", gpus=6)
    story.cordon(20, 1)
    story.others(25, 1, pods=0, movable=0)
    story.repair(40, 60, 1, fault)
    story.node(65, 1, shows="GpuMissing=False,Ready=True", gpus=8)
    story.uncordon(70, 1)
    seconds = [4, 2 * 8 + 8 * 15, 8 * 5, 8 * 20, 0, 8 * 10]

    assert detail(story, "lost_capacity") == {
        f"GPU-seconds {cause}": lost
        for cause, lost in zip(
            (
                "broken",
                "waiting for act",
                "draining",
                "repairing",
                "returning",
                "cordoned though good",
            ),
            seconds,
            strict=True,
        )
    }
    assert number(story, "lost_capacity") == pytest.approx(100 * sum(seconds) / (16 * 100))
    assert len(CAUSES) == len(seconds)


def test_without_devices_nodes_are_the_capacity_and_a_node_that_is_not_back_returns() -> None:
    story = Story(2, gpus=0)
    story.fault(10, 1, end=30, scope="node", gpus=(), landed=0.0)
    story.node(10, 1, ready=False)
    story.node(50, 1, ready=True)

    assert detail(story, "lost_capacity")["node-seconds waiting for act"] == 20
    assert detail(story, "lost_capacity")["node-seconds returning"] == 20
    assert number(story, "lost_capacity") == 20


def test_a_benign_fault_costs_nothing_and_one_without_devices_all_of_its_node() -> None:
    story = Story(3)
    story.fault(10, 1, severity="benign", end=60)
    story.fault(10, 2, scope="node", gpus=(), end=20, landed=0.0)
    story.fault(10, 3, gpus=(0,), end=20, landed=0.0)
    story.fault(15, 3, gpus=(0, 1), end=20, landed=0.0)

    lost = detail(story, "lost_capacity")

    assert lost["GPU-seconds waiting for act"] == 80 + 5 + 10
    assert sum(lost.values()) == 95


def test_signals_that_a_node_does_not_show_are_not_among_the_delays() -> None:
    story = Story()
    story.fault(10, 1)
    assert value(story, "signal_delay") == Missing("no node has shown a fault")

    story.fault(10, 2)
    story.node(14, 2, shows="GpuMissing=True,Ready=True")

    found = value(story, "signal_delay")
    assert isinstance(found, Durations)
    assert (found.count, found.max) == (1, 4)


def test_the_budget_is_exceeded_while_more_nodes_are_unavailable_than_it_allows() -> None:
    story = Story(4)
    story.fault(5, 1)
    story.cordon(10, 1)
    story.node(20, 2, ready=False)
    story.cordon(30, 3)
    story.uncordon(45, 3)
    story.node(60, 2, ready=True)

    for text in ("1", "25%", "49%"):
        assert number(story, "budget_exceeded", budget=NodeBudget.read(text)) == 40, text
        assert number(story, "acts_beyond_budget", budget=NodeBudget.read(text)) == 1, text
    assert number(story, "budget_exceeded", budget=NodeBudget.read("50%")) == 15
    assert number(story, "budget_exceeded", budget=NodeBudget.read("3")) == 0
    assert isinstance(value(story, "budget_exceeded"), Missing)
    levels = value(story, "unavailable")
    assert isinstance(levels, Levels)
    assert (levels.min, levels.max, levels.last) == (0, 3, 1)


@pytest.mark.parametrize("text", ["", "-1", "x", "10 %", "%", "1e3", "nan", "1%%"])
def test_a_budget_is_a_number_or_a_percentage(text: str) -> None:
    with pytest.raises(UsageError, match="not a number of nodes"):
        NodeBudget.read(text)


def test_a_node_that_is_cordoned_again_for_one_fault_flaps() -> None:
    story = Story()
    story.fault(10, 1)
    story.fault(10, 2)
    for begin in (15, 25, 35):
        story.cordon(begin, 1)
        story.uncordon(begin + 5, 1)
    story.cordon(20, 2)

    assert detail(story, "flapping") == {"n1": 2}


def test_repairs_that_end_nothing_are_in_vain_and_followed_by_others() -> None:
    story = Story()
    fault = story.fault(10, 1)
    story.fault(12, 2)
    story.repair(20, 30, 1)
    story.repair(35, 60, 1, fault)
    story.repair(20, None, 2)

    assert number(story, "repair_yield") == 50
    assert detail(story, "repair_yield") == {"in vain": 1}
    more = value(story, "escalations")
    assert isinstance(more, Durations)
    assert (more.count, more.min, more.max) == (2, 0, 1)


def test_times_to_recover_are_of_faults_that_are_not_benign() -> None:
    story = Story(2)
    fault = story.fault(10, 1)
    story.fault(10, 2, severity="benign", end=90)
    story.cordon(20, 1)
    story.repair(30, 50, 1, fault)
    story.uncordon(60, 1)

    assert number(story, "mttr") == 50
    assert number(story, "mtbf") == 200
    assert number(story, "availability") == 80
    own = value(story, "outside_repair")
    assert isinstance(own, Durations)
    assert own.max == 80, "the benign one counts here: a user may have repaired it"
    assert own.min == 30


def test_who_has_acted_is_counted_also_of_repairs_that_somebody_asked_for() -> None:
    story = Story()
    fault = story.fault(10, 1)
    story.cordon(15, 1, "kubectl")
    story.repair(20, 30, 1, fault, trigger="by-hand", by="anna")
    story.repair(40, 50, 1, trigger="cordoned", by="")
    story.uncordon(60, 1)

    assert detail(story, "acts") == {
        "cordon by kubectl": 1,
        "repair by anna": 1,
        "uncordon by unknown": 1,
    }


def test_faults_that_were_not_injected_are_counted_by_reason() -> None:
    story = Story()
    story.fault(10, 1)
    assert value(story, "suppressed") == Missing("no schedule was played")

    story.schedule(20, Limit=3, Broken=1)

    assert number(story, "suppressed") == 4
    assert detail(story, "suppressed") == {"Limit": 3, "Broken": 1}


def test_where_a_schedule_has_a_faster_clock_sums_of_both_clocks_are_refused() -> None:
    story = cordoned_wrongly()
    story.schedule(20, time_scale=60)
    history = story.history()

    for name in (
        "mttr",
        "mtbf",
        "availability",
        "to_return",
        "outside_repair",
        "lost_capacity",
        "over_cordon",
    ):
        found = value(story, name)
        assert isinstance(found, Missing), name
        assert "clock of the schedule" in found.why
    assert isinstance(value(story, "to_cordon"), Durations), "real seconds of a client"
    remark = score_of(history, ScoreRequest(record="x")).remarks[0]
    assert "60 times" in remark
    assert "medic" in remark
    assert any(
        "60 times" in each for each in report_on(history, ReportRequest(record="x")).verdict.remarks
    )
