"""Figures of the API server: how often it answered when it was asked whether it is there."""

from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.values import SingleNumber, Value, distribution


def _availability(view: RunView) -> Value:
    probes = view.history.probes
    answered = sum(200 <= probe.status < 500 for probe in probes)
    return SingleNumber(
        100 * answered / len(probes), note=f"{answered:,} of {len(probes):,} probes"
    )


def _answer(view: RunView) -> Value:
    answered = (probe.took for probe in view.history.probes if probe.status)
    return distribution(answered, what="no probe was answered")


FIGURES = (
    Figure(name="api.availability", unit="%", title="share of the probes that the API server answered",
           compute=_availability, needs="probes", better="more"),
    Figure(name="api.answer", unit="s", title="from a probe to its answer", compute=_answer,
           form="distribution", needs="probes"),
)  # fmt: skip
