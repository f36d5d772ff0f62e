"""What `fault score` and the report of a run say of reactions to faults."""

from kwokctl.measure.figures.values import Durations, Levels, Missing, SingleNumber
from kwokctl.measure.reports.report import ReportRequest, report_on
from kwokctl.measure.reports.score import ScoreRequest, score_of
from kwokctl.measure.reports.score_text import score_text
from kwokctl.measure.reports.text import text_of
from kwokctl.measure.scoring.score_words import NodeBudget, ScoreWords
from tests.support.scored import cordoned_wrongly
from tests.support.storied import Story


def test_a_run_without_faults_has_no_such_figure_and_its_report_says_so_once() -> None:
    report = report_on(Story().history(), ReportRequest(record="x"))

    assert report.figures["incidents.recall"].value == Missing("no fault was open")
    assert text_of(report).count("incidents") == 1


def test_groups_are_of_classes_of_nodes_and_of_dialects_with_their_own_signals() -> None:
    story = Story()
    story.fault(10, 1, marks={"aks": ("GpuMissing=True",), "device-plugin": ("devices",)})
    story.fault(10, 2, of="xid-94")
    story.node(12, 1, shows="GpuMissing=True,Ready=True")
    story.node(15, 1, gpus=7)
    story.cordon(20, 1)

    report = score_of(story.history(), ScoreRequest(record="x", by=("class", "node", "dialect")))

    assert [*report.groups["class"]] == ["xid-79", "xid-94"]
    assert [*report.groups["node"]] == ["n1", "n2"]
    detected = {
        name: figures["incidents.to_detect"].value
        for name, figures in report.groups["dialect"].items()
    }
    found = {name: each.max for name, each in detected.items() if isinstance(each, Durations)}
    assert found == {"aks": 8, "device-plugin": 5}
    assert len(report.incidents) == 2


def test_a_wide_score_has_a_line_for_each_incident_with_the_times_after_its_beginning() -> None:
    story = cordoned_wrongly()
    report = score_of(story.history(), ScoreRequest(record="x"))

    lines = score_text(report, is_wide=True).splitlines()

    assert lines[0] == "3 incidents in 100 s: x"
    (row,) = (line.split() for line in lines if line.startswith("fault-1 "))
    words = "fault-1 xid-79 n1 10.00 s 1.00 s 5.00 s 5.00 s 5.00 s - 30.00 s 40.00 s medic"
    assert row == words.split()
    narrow = score_text(report, is_wide=False).splitlines()
    assert not [line for line in narrow if line.startswith("fault-1 ")]


def test_a_phase_of_the_user_goes_from_a_fault_until_its_expression_holds() -> None:
    story = Story()
    story.phase(5, 1)
    story.phase(8, 1, holds=False)
    story.phase(8, 2)
    story.fault(10, 1)
    story.fault(10, 2)
    story.fault(10, 3)
    story.phase(13, 1)
    story.phase(14, 1, holds=False)
    story.phase(15, 1)
    story.phase(16, 2)
    history = story.history(phases=("called=self.spec.x",))

    report = score_of(history, ScoreRequest(record="x", by=("node",)))

    found = report.figures["incidents.phase.called"].value
    assert isinstance(found, Durations)
    assert (found.count, found.max, found.open) == (1, 3, 2)
    assert [each.phases for each in report.incidents] == [{"called": 3.0}, {}, {}]
    of_node = report.groups["node"]["n2"]["incidents.phase.called"].value
    assert of_node == Missing("it never held after a fault")


def test_schedules_are_cases_of_the_score_each_with_the_time_until_all_is_absorbed() -> None:
    story = Story()
    story.fault(10, 1, end=20, schedule="burst")
    story.fault(12, 2, end=35, schedule="burst")
    story.fault(40, 3)

    report = score_of(story.history(), ScoreRequest(record="x", by=("schedule",)))

    burst, none = (report.groups["schedule"][name] for name in ("burst", "none"))
    assert burst["incidents.absorbed"].value == SingleNumber(25)
    assert none["incidents.absorbed"].value == Missing("of 1 nodes 1 are not back")
    backlog = report.figures["incidents.backlog"].value
    assert isinstance(backlog, Levels)
    assert (backlog.min, backlog.max, backlog.last) == (0, 2, 1)


def test_the_report_of_a_run_has_the_breaches_of_a_budget() -> None:
    story = Story(4)
    story.fault(5, 1)
    story.cordon(10, 1)
    words = ScoreWords(budget=NodeBudget.read("0"))

    report = report_on(story.history(), ReportRequest(record="x", score=words))

    assert report.figures["incidents.budget_exceeded"].value == SingleNumber(90)
