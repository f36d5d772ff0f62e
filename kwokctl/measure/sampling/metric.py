"""A metric that a user asks for: `--metric 'workqueue_depth{name="job"} max'`."""

import re
from typing import Literal, cast

import msgspec

from kwokctl.errors import UsageError
from kwokctl.kube.collections.metrics_text import WantedMetric, read_series, series_text

Statistic = Literal["rate", "delta", "max", "p99"]
_FORM = re.compile(
    r"\s*(?:(?P<field>[a-zA-Z_]\w*)\s*=\s*)?(?:(?P<component>[a-z0-9][a-z0-9.-]*):)?"
    r"(?P<series>(?P<name>[a-zA-Z_]\w*)(?:\{.*\})?)\s+(?P<statistic>rate|delta|max|p99)\s*"
)
_EXAMPLE = "for example: 'workqueue_depth{name=\"job\"} max'"


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of a component, and what is computed of it."""

    field: str
    """Its name in reports and assertions, behind `metrics.`."""
    component: str = ""
    """Empty until it is known which component has it."""
    name: str
    labels: tuple[tuple[str, str], ...] = ()
    """The labels that its series must have; those that have them are added up."""
    statistic: Statistic

    @classmethod
    def read(cls, text: str) -> "Metric":
        """Read `[FIELD=][COMPONENT:]NAME{LABEL="VALUE",…} STATISTIC`; UsageError if it is not that."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise UsageError(
                f"'--metric' is '{text}', not a metric and one of rate, delta, max and p99",
                hint=_EXAMPLE,
            )
        name, labels = read_series(match["series"])
        if series_text(name, labels) != match["series"].replace(", ", ","):
            raise UsageError(f"'--metric' is '{text}', whose labels cannot be read", hint=_EXAMPLE)
        return cls(
            field=match["field"] or name,
            component=match["component"] or "",
            name=name,
            labels=tuple(sorted(labels.items())),
            statistic=cast("Statistic", match["statistic"]),
        )

    @property
    def wanted(self) -> WantedMetric:
        """The part of a component's metrics that it is computed from."""
        return WantedMetric(name=self.name, where=self.labels, is_histogram=self.statistic == "p99")

    def __str__(self) -> str:
        field = "" if self.field == self.name else f"{self.field}="
        component = f"{self.component}:" if self.component else ""
        return f"{field}{component}{series_text(self.name, dict(self.labels))} {self.statistic}"


def read_metrics_asked(texts: list[str]) -> tuple[Metric, ...]:
    """Read metrics; UsageError for one that cannot be understood, and for two with one name."""
    found = tuple(map(Metric.read, texts))
    fields = [each.field for each in found]
    for each in found:
        if fields.count(each.field) > 1:
            raise UsageError(
                f"two of '--metric' are called '{each.field}'",
                hint=f"give one another name: OTHER={each}",
            )
    return found
