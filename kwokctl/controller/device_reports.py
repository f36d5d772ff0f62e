"""The report of a kubelet on devices that are not healthy, as a patch of its node, and the warnings of wrong words."""

from typing import NamedTuple

from kwokctl.controller.object_warnings import COMPONENT, ObjectWarnings
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.errors import ExpressionError
from kwokctl.fleet.device_health import (
    DEVICE_HEALTH,
    DEVICE_INVENTORY,
    Amounts,
    report_of,
    unknown_words,
)
from kwokctl.json_value import Json
from kwokctl.kube.pod_requests import amounts
from kwokctl.kube.resource import NODES
from kwokctl.kube.stored_json import ObjectInJson

_REASON = "DeviceHealthIgnored"


class DevicePatch(NamedTuple):
    """The changes of a node that show the state of its devices."""

    status: dict[str, Json]
    """The parts that change."""
    annotations: dict[str, str | None]
    """Those that change; None for one that goes."""
    due: float | None
    """The time at which to look again, as a POSIX time stamp."""


_AS_IT_IS = DevicePatch({}, {}, None)


class DeviceReports:
    """The devices of nodes, as their annotations say that they are."""

    def __init__(self, warnings: ObjectWarnings) -> None:
        """Warn of annotations that cannot be read."""
        self._warnings = warnings
        self._told: dict[str, str] = {}

    def patch(self, node: ObjectInJson, now: float) -> DevicePatch:
        """Return what is to be written of a node now."""
        status = node.get("status") or {}
        known = {part: amounts(status.get(part) or {}) for part in ("capacity", "allocatable")}
        try:
            report = report_of(node, known["capacity"], now)
            self._tell(node, [*unknown_words(node, known["capacity"])], now)
        except ExpressionError as e:
            self._warn(node, f"{e}; {e.hint}" if e.hint else str(e), now)
            return _AS_IT_IS
        if report is None:
            return _AS_IT_IS
        found = {
            "capacity": _changes(report.capacity, known["capacity"]),
            "allocatable": _changes(report.allocatable, known["allocatable"]),
        }
        kept = (node["metadata"].get("annotations") or {}).get(DEVICE_INVENTORY)
        return DevicePatch(
            {part: changes for part, changes in found.items() if changes},
            {} if kept == report.inventory else {DEVICE_INVENTORY: report.inventory},
            report.due,
        )

    def forget(self, node: str) -> None:
        """Note that a node is gone."""
        self._told.pop(node, None)

    def _tell(self, node: ObjectInJson, words: list[str], now: float) -> None:
        if words:
            names = ", ".join(f"'{word}'" for word in words)
            self._warn(
                node,
                f"the node has no device or resource {names}: see what it has with "
                f"'kubectl describe node {node['metadata']['name']}'",
                now,
            )

    def _warn(self, node: ObjectInJson, problem: str, now: float) -> None:
        """Warn of an annotation, once."""
        meta = node["metadata"]
        text = meta["annotations"][DEVICE_HEALTH]
        if self._told.get(meta["name"]) == text:
            return
        self._told[meta["name"]] = text
        self._warnings.put(
            ObjectEvent(
                resource=NODES,
                about_namespace="",
                about=meta["name"],
                uid=meta["uid"],
                version=meta["resourceVersion"],
                type="Warning",
                reason=_REASON,
                message=f"The annotation '{DEVICE_HEALTH}: {text}': {problem}",
                component=COMPONENT,
                at=now,
            )
        )


def _changes(wanted: Amounts, known: Amounts) -> dict[str, Json]:
    return {name: str(number) for name, number in wanted.items() if known.get(name) != number}
