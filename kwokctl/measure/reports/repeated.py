"""The report on runs that were repeated: the verdict on each, and the median and the range of each figure. Pure."""

from collections.abc import Sequence
from statistics import median

import msgspec

from kwokctl.measure.comparing.same_faults import HINT, are_unequal, in_words, suppressed_in
from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import Assertion, Judgement, judge
from kwokctl.measure.judging.verdict import MeasuredVerdict
from kwokctl.measure.reports.csv_rows import ReportedNumber, numbers_of
from kwokctl.measure.reports.report import ReportRequest, RunReport, report_on
from kwokctl.replacing import replace

FORM = "kwokctl.dev/measure-repeated"
VERSION = 1


class OneOfSeveral(msgspec.Struct, frozen=True, kw_only=True):
    """One run: its report without assertions, and what the assertions found in it."""

    report: RunReport
    judgements: tuple[Judgement, ...]
    is_warm_up: bool
    suppressed: int | None = None
    """The number of faults of schedules that were not injected; None if no schedule was played."""


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The report on one of the runs, without its figures."""

    record: str
    wall: str
    seconds: float
    verdict: MeasuredVerdict


class RepeatedNumber(msgspec.Struct, frozen=True, kw_only=True):
    """One number of all runs."""

    name: str
    unit: str
    median: float | None
    """None if it was not measured in each run."""
    values: tuple[float | None, ...]
    """In the order of the runs."""
    why: str = ""
    """Why it was not measured in the first run that lacks it."""

    @property
    def known(self) -> tuple[float, ...]:
        """The values that there are."""
        return tuple(value for value in self.values if value is not None)


class RepeatedJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an assertion, which is on the median of the runs."""

    assertion: str
    passed: bool
    number: RepeatedNumber


class RepeatedReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All that is said of several runs."""

    form: str = FORM
    version: int = VERSION
    passed: bool
    cluster: str
    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    runs: tuple[RunOutcome, ...]
    assertions: tuple[RepeatedJudgement, ...]
    numbers: tuple[RepeatedNumber, ...]


def one_of_several(history: History, request: ReportRequest) -> OneOfSeveral:
    """Report on one run."""
    view = whole_run(history, request.since)
    return OneOfSeveral(
        report=report_on(history, replace(request, assertions=())),
        judgements=tuple(judge(request.assertions, view)),
        is_warm_up=history.header.warm_up,
        suppressed=suppressed_in(history),
    )


def repeated_report(
    runs: Sequence[OneOfSeveral],
    assertions: Sequence[Assertion],
    *,
    wanted: int,
    remarks: Sequence[str] = (),
) -> RepeatedReport:
    """Report on the runs that there were of those that were wanted; warm-up runs do not count, but must not fail.

    Assertions are a gate: they fail if the runs did not have the same faults. Without any, a remark says so.
    """
    counted = [each for each in runs if not each.is_warm_up]
    judgements = [_judged(place, each, counted) for place, each in enumerate(assertions)]
    problems = [*_problems(runs)]
    if len(counted) < wanted:
        problems.append(f"there were {len(counted)} of {wanted} runs")
    unequal = _unequal_storms(counted)
    if unequal and judgements:
        problems.append(f"{unequal}; {HINT.format('leave out the assertions')}")
    if failures := sum(not each.passed for each in judgements):
        problems.append(f"{failures:,} of {len(judgements):,} assertions failed")
    marked = [unequal] if unequal and not judgements else []
    return RepeatedReport(
        passed=not problems,
        cluster=runs[0].report.conditions.get("cluster", "") if runs else "",
        problems=tuple(problems),
        remarks=(*remarks, *marked),
        runs=tuple(map(_outcome, counted)),
        assertions=tuple(judgements),
        numbers=tuple(_numbers([each.report for each in counted])),
    )


def _problems(runs: Sequence[OneOfSeveral]) -> Sequence[str]:
    return [
        f"{_name(each)}: {problem}" for each in runs for problem in each.report.verdict.problems
    ]


def _unequal_storms(runs: Sequence[OneOfSeveral]) -> str:
    """Say how many faults of schedules were not injected, if that differs too much; empty if it does not."""
    counts = [each.suppressed for each in runs]
    if not are_unequal(counts):
        return ""
    return f"the runs have suppressed different numbers of faults: {in_words(counts)}"


def _name(run: OneOfSeveral) -> str:
    return run.report.record.rpartition("/")[2]


def _outcome(run: OneOfSeveral) -> RunOutcome:
    report = run.report
    return RunOutcome(
        record=report.record, wall=report.wall, seconds=report.seconds, verdict=report.verdict
    )


def _judged(place: int, assertion: Assertion, runs: Sequence[OneOfSeveral]) -> RepeatedJudgement:
    found = [run.judgements[place] for run in runs]
    why = next((each.why for each in found if each.actual is None), "")
    values = tuple(each.actual for each in found)
    number = _number(assertion.text, assertion.figure.unit, values, why)
    passed = number.median is not None and assertion.holds(number.median)
    return RepeatedJudgement(assertion=assertion.text, passed=passed, number=number)


def _numbers(reports: Sequence[RunReport]) -> Sequence[RepeatedNumber]:
    """Return each number of any run; a group that some runs lack is not measured in them."""
    by_name = [_by_name(report) for report in reports]
    names = dict.fromkeys(name for each in by_name for name in each)
    return [_of_runs(name, [each.get(name) for each in by_name]) for name in names]


def _by_name(report: RunReport) -> dict[str, ReportedNumber]:
    """Return the numbers that were measured by their names, others by that of their figure."""
    return {each.name: each for each in numbers_of(report)}


def _of_runs(name: str, found: Sequence[ReportedNumber | None]) -> RepeatedNumber:
    values = tuple(
        each.value if each and not isinstance(each.value, str) else None for each in found
    )
    why = next((each.why for each in found if each and each.why), "")
    unit = next(each.unit for each in found if each)
    return _number(name, unit, values, why)


def _number(name: str, unit: str, values: tuple[float | None, ...], why: str) -> RepeatedNumber:
    known = [value for value in values if value is not None]
    is_whole = bool(known) and len(known) == len(values)
    return RepeatedNumber(
        name=name, unit=unit, median=median(known) if is_whole else None, values=values, why=why
    )
