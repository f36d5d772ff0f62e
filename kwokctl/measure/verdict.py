"""The verdict on a run: whether its figures mean something, and whether it came to an end. Pure."""

from collections.abc import Iterator

import msgspec

from kwokctl.measure.assertions import Judgement
from kwokctl.measure.figures.values import SECOND
from kwokctl.measure.history import History
from kwokctl.measure.plane_history import PROFILES, WHY_ENDED

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
    remarks += [*_past_the_api_server(history), *_gaps(history)]
    return MeasuredVerdict(
        passed=not problems,
        valid=not invalid,
        drained=UNDRAINED not in moments,
        problems=tuple(problems),
        remarks=tuple(remarks),
    )


def _invalid(history: History) -> list[str]:
    found = [*_ended(history)]
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


def _past_the_api_server(history: History) -> Iterator[str]:
    if history.header.conditions.get("data path") == "etcd" and history.plane.samples:
        yield (
            "the fake kubelets have written to etcd: these writes are not among the requests of the API server, "
            "nor in their latencies"
        )


def _gaps(history: History) -> list[str]:
    return [
        f"{len(gaps):,} gaps in the watch of {kind}: what was received late is not in percentiles"
        for kind, gaps in sorted(history.gaps.items())
    ]
