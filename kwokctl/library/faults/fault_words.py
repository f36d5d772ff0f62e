"""The keyword arguments of an injection, as the options of `kwokctl fault inject` are called."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from kwokctl.clusters.faults.inject_request import InjectRequest
from kwokctl.faults.objects.fault_schema import FaultTarget, PodTarget
from kwokctl.json_value import Json
from kwokctl.library.keywords import demand_known
from kwokctl.waits import USUAL


class FaultWords(TypedDict, total=False):
    """The words of an injection: target, values, times."""

    nodes: str | Sequence[str]
    """Names of nodes."""
    unit: str
    """A unit of the fleet, such as `dgx-h100-leaf-0002`."""
    where: str
    """An expression of CEL over each node; `rack(3)` returns one."""
    count: int
    """So many are drawn of what the other words allow."""
    percent: float
    usage: Literal["any", "busy", "idle"]
    namespace: str
    """For classes that hit pods."""
    selector: str
    """Likewise: the labels of the pods."""
    follow: bool
    """Whether nodes that come later are hit, too."""
    foreign: bool
    """Whether nodes that no controller of kwokctl plays may be hit."""
    parameters: Mapping[str, Json]
    """Values of parameters of the class: `{"gpu": 3}`."""
    dialects: str | Sequence[str]
    at: str | float
    """From now until it happens, as `30s` or in seconds."""
    lasts: str | float
    """From its start to its end, as `10m` or in seconds; without it, until it is cleared."""
    until: str
    """The time of day of its end, as RFC 3339 writes it."""
    seed: int
    """Of all that is drawn; drawn itself if it is not given."""
    gang: bool
    """Whether its effect on a pod is one on all pods of the pod's gang."""
    name: str
    """Of the Fault; the class and some letters unless given."""
    wait: float | None
    """Seconds that all units have to show it; None does not wait. Unless it is given, the wait ends when no
    further unit has shown it for minutes."""


WORDS = tuple(FaultWords.__annotations__)
"""The names of all of them."""


def demand_words(words: Mapping[str, object]) -> None:
    """Raise UsageError, with the nearest one, for an unknown keyword."""
    demand_known(words, WORDS, "an injection")


def request_of(class_name: str, words: FaultWords, name: str) -> InjectRequest:
    """Return the request of an injection of a Fault with this name; UsageError for unknown words."""
    demand_words(words)
    namespace, selector = words.get("namespace", ""), words.get("selector", "")
    target = FaultTarget(
        nodes=_names(words.get("nodes", ())),
        unit=words.get("unit", ""),
        where=words.get("where", ""),
        count=words.get("count"),
        percent=words.get("percent"),
        usage=words.get("usage", "any"),
        pods=PodTarget(namespace=namespace, selector=selector) if namespace or selector else None,
        foreign=words.get("foreign", False),
        follow=words.get("follow", False),
    )
    return InjectRequest(
        name=name,
        class_name=class_name,
        target=target,
        settings=tuple(f"{key}={value}" for key, value in words.get("parameters", {}).items()),
        dialects=_names(words.get("dialects", ())),
        at=_duration(words.get("at", "")),
        lasts=_duration(words.get("lasts", "")),
        until=words.get("until", ""),
        seed=words.get("seed"),
        gang=words.get("gang", False),
        wait=words.get("wait", USUAL),
    )


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _duration(given: str | float) -> str:
    return given if isinstance(given, str) else f"{given:g}s"
