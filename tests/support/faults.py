"""Nodes and open faults for tests of the overlay."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl.faults.classes.catalogue import FaultCatalogue, FaultDialect
from kwokctl.faults.classes.class_parameters import usual_values
from kwokctl.faults.classes.class_schema import DeviceState, FaultDialectSpec, FaultSignal
from kwokctl.faults.overlays.effects import DueSignal, OpenFault

NOON = 1767268800.0
CATALOGUE = FaultCatalogue()


def dialect(**fields: Any) -> FaultDialect:
    """Return a dialect in which True is a fault."""
    return FaultDialect(name="test", spec=FaultDialectSpec(agent="a test", **fields), document={})


def fault(
    *signals: FaultSignal,
    of: FaultDialect | None = None,
    device: DeviceState | None = None,
    **parameters: Any,
) -> OpenFault:
    """Return an open fault that shows these signals."""
    due = tuple(DueSignal(of or dialect(), each) for each in signals)
    return OpenFault(parameters=parameters, device=device, due=due)


def shipped(name: str, dialects: Sequence[str], **parameters: Any) -> OpenFault:
    """Return an open fault of a class that comes with kwokctl, all of whose signals have come."""
    spec = CATALOGUE.find(name).spec
    due = tuple(
        DueSignal(CATALOGUE.dialect(each), signal)
        for each in dialects
        for signal in spec.signals.get(each, ())
    )
    values = {**usual_values(spec), **parameters}
    return OpenFault(parameters=values, device=spec.effects.device, due=due)


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, str]:
    """Return a condition of a node that is as old as the node."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": "2026-01-01T00:00:00Z",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def node(*conditions: Mapping[str, str], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a node with 8 GPUs."""
    return {
        "metadata": {"name": "n-0", "labels": {"nvidia.com/gpu.count": "8", **(labels or {})}},
        "spec": {},
        "status": {
            "capacity": {"cpu": "224", "nvidia.com/gpu": "8", "rdma/ib": "8"},
            "allocatable": {"cpu": "224", "nvidia.com/gpu": "8", "rdma/ib": "8"},
            "conditions": [condition("Ready", "True", "KubeletReady", "fine"), *conditions],
        },
    }
