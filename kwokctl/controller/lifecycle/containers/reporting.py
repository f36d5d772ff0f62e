"""The status and the Events that a kubelet reports for one container."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kwokctl.controller.lifecycle.containers.parts import REGULAR, Part
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.expr.gotemplate.symbols import deferring


@deferring
def _about_pod(words: str, name: str, namespace: str, uid: str) -> str:
    return f"{words}{name}_{namespace}({uid})"


@dataclass(slots=True, kw_only=True)
class ReportedContainer:
    """A container, and the Events about it that are to be written."""

    spec: Mapping[str, Any]
    pod: Mapping[str, Any]
    """The metadata of its pod."""
    part: Part = REGULAR
    reported: float = 0.0
    """Up to when its Events have been written, as a POSIX time stamp."""
    events: list[PodEvent] = field(default_factory=list)

    def about_pod(self, words: str) -> str:
        """Return a message that ends with the name of its pod, as a kubelet writes that."""
        pod = self.pod
        message: str = _about_pod(words, pod["name"], pod["namespace"], pod["uid"])
        return message

    def report(self, reason: str, message: str, type_: str = "Normal") -> None:
        """Report that something happens to it."""
        place = f"spec.{self.part.spec}{{{self.spec['name']}}}"
        self.events.append(PodEvent(type=type_, reason=reason, message=message, field=place))

    def report_all(self, events: Iterable[tuple[str, str, str]]) -> None:
        """Report several things: type, reason and message of each."""
        for type_, reason, message in events:
            self.report(reason, message, type_)

    def report_start(self) -> None:
        """Report that it runs."""
        self.report("Created", "Container created")
        self.report("Started", "Container started")

    def report_killing(self, why: str) -> None:
        """Report that it gets the signal to end."""
        self.report("Killing", f"Container {self.spec['name']} {why}")

    def report_back_off(self, now: float, at: float) -> None:
        """Report once, when its time has come, that it is not started again yet."""
        if self.reported < at <= now:
            words = f"Back-off restarting failed container {self.spec['name']} in pod "
            self.report("BackOff", self.about_pod(words), "Warning")
