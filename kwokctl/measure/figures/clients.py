"""Figures of clients: how many requests each has sent, and how many were refused."""

from collections.abc import Callable
from functools import partial

from kwokctl.measure.figures.figure import Better, Figure, RunView
from kwokctl.measure.figures.values import SingleNumber, Value

_CONFLICT = 409
_REFUSED = 400
_NOTE = "as far as the audit policy has them"


def _count(counts: Callable[[int], bool], view: RunView) -> Value:
    """Return the requests with such a status, by client; of one without any it is 0."""
    requests = view.history.plane.requests
    sums = {
        client: sum(count for code, count in codes.items() if counts(code))
        for client, codes in requests.items()
    }
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return SingleNumber(sum(sums.values()), detail=dict(ordered), note=_NOTE)


def _figure(
    name: str, title: str, counts: Callable[[int], bool], better: Better = "less"
) -> Figure:
    compute = partial(_count, counts)
    return Figure(
        name=f"clients.{name}",
        unit="",
        title=title,
        compute=compute,
        needs="clients",
        parts="client",
        better=better,
    )


FIGURES = (
    _figure("requests", "requests by client, of the recorder and of loads, too", lambda _: True, "neither"),
    _figure("conflicts", "requests that were refused because the object had changed, by client",
            lambda code: code == _CONFLICT),
    _figure("refusals", "requests that were refused for another reason, by client",
            lambda code: code >= _REFUSED and code != _CONFLICT),
)  # fmt: skip
