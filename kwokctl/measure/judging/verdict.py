"""The verdict on a run: whether its figures mean something, and whether it came to an end. Pure."""

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.plane_history import PROFILES, WHY_ENDED
from kwokctl.measure.judging.assertions import Judgement
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.sampling.sampled_metrics import ALARMS
from kwokctl.model import ETCD

NOSPACE = "NOSPACE"
LATE = SECOND
"""The longest time that what was received may wait."""
UNDRAINED, COMMAND, INTERRUPTED, LOAD = "undrained", "command failed", "interrupted", "load"
"""The moments of a record that count for the verdict."""


class MeasuredVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The verdict on a run."""

    passed: bool
    """Whether nothing is wrong."""
    valid: bool
    """Whether the figures can be relied on."""
    drained: bool
    problems: tuple[str, ...]
    remarks: tuple[str, ...]
    """Remarks for the reader that are no failures."""


def verdict(
    history: History, judgements: list[Judgement], *, allow_undrained: bool
) -> MeasuredVerdict:
    """Judge a run."""
    invalid = [*_invalid(history)]
    moments = history.moments
    problems = list(invalid)
    remarks: list[str] = []
    if undrained := moments.get(UNDRAINED):
        text = f"not drained: {undrained.detail}"
        (remarks if allow_undrained else problems).append(text)
    if failed := moments.get(COMMAND):
        problems.append(failed.detail)
    if INTERRUPTED in moments:
        problems.append("it was interrupted before its end")
    if load := moments.get(LOAD):
        remarks.append(load.detail)
    if profiles := moments.get(PROFILES):
        remarks.append(profiles.detail)
    if failures := sum(not each.passed for each in judgements):
        problems.append(f"{failures:,} of {len(judgements):,} assertions failed")
    remarks += [*_past_the_api_server(history), *_gaps(history), *_clocks(history)]
    return MeasuredVerdict(
        passed=not problems,
        valid=not invalid,
        drained=UNDRAINED not in moments,
        problems=tuple(problems),
        remarks=tuple(remarks),
    )


def _invalid(history: History) -> list[str]:
    found = [*_ended(history), *_stopped(history), *_full(history)]
    if history.behind > LATE:
        found.append(
            f"invalid: the recorder was {history.behind / SECOND:.1f} s behind; run it on a machine with "
            "more processors, or with a smaller load"
        )
    if history.is_cut or "end" not in history.moments:
        found.append("invalid: the end of the record is missing")
    return found


def _ended(history: History) -> Iterator[str]:
    """Say which components did not run all the time, and why, if that is known."""
    for name, what in history.plane.interrupted().items():
        why = history.moments.get(f"{WHY_ENDED}{name}")
        reason = f": {why.detail}" if why else ""
        yield f"invalid: {name} {what} while it was measured{reason}"


def _stopped(history: History) -> Iterator[str]:
    """Say which components a signal has stopped, and for how long."""
    for name, nanoseconds in history.plane.stopped.items():
        seconds = max(1, round(nanoseconds / SECOND))
        yield f"invalid: a signal (SIGSTOP) has stopped {name} for about {seconds} s while it was measured"


def _full(history: History) -> Iterator[str]:
    """Say that etcd had no room, so that what was to happen could not be written."""
    plane = history.plane
    for labels, values in plane.gauges(ETCD, ALARMS):
        # There is no such series before the first alarm.
        before = [0.0] if values[0][0] > plane.samples[ETCD][0].time else []
        levels = [*before, *(value for _, value in values)]
        is_raised = any(later > earlier for earlier, later in pairwise(levels))
        if is_raised and labels.get("alarm_type") == NOSPACE:
            yield (
                "invalid: etcd has refused writes while it was measured, for it had reached its quota (alarm NOSPACE); make room "
                "with 'kwokctl doctor --fix', or give a new cluster a larger '--etcd-quota-backend-size'"
            )


def _past_the_api_server(history: History) -> Iterator[str]:
    if history.header.conditions.get("data path") == "etcd" and history.plane.samples:
        yield (
            "the fake kubelets have written to etcd: these writes are not among the requests of the API server, "
            "nor in their latencies"
        )


def _gaps(history: History) -> list[str]:
    return [
        f"{len(gaps):,} gap{'s' * (len(gaps) > 1)} in the watch of {kind}: what was received late is not in percentiles"
        for kind, gaps in sorted(history.gaps.items())
    ]


def _clocks(history: History) -> Iterator[str]:
    """Say that a schedule had a clock of its own: all other programs kept theirs."""
    scales = {each.time_scale for each in history.incidents.schedules.values()} - {1}
    for scale in sorted(scales):
        yield (
            f"the clock of a schedule of faults was {scale:g} times as fast as that of other programs, such as "
            "kube-controller-manager and kube-scheduler: their times are real seconds, and sums of both are not given"
        )
