"""Open faults of the API for tests of the proxy."""

from typing import Any

from kwokctl.api_proxy.api_fault import ApiFault
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.objects.fault_schema import (
    FaultSpec,
    FaultStatus,
    FaultTarget,
    ObjectMeta,
    StoredFault,
)
from kwokctl.faults.overlays.definitions import definition_of, read_definition

CATALOGUE = FaultCatalogue()


def stored_api_fault(name: str, *, seed: int = 7, **parameters: Any) -> StoredFault:
    """Return a Fault of a shipped class that has begun."""
    spec = FaultSpec(
        class_name=name, target=FaultTarget(api=True), parameters=parameters, seed=seed
    )
    return StoredFault(
        metadata=ObjectMeta(name="broken", uid="u-1"),
        spec=spec,
        status=FaultStatus(phase="Injecting", clock=1.0, injected_at="2026-11-29T00:00:00Z"),
    )


def api_fault(name: str, *, seed: int = 7, **parameters: Any) -> ApiFault:
    """Return an open fault of a shipped class."""
    definition = read_definition(definition_of(CATALOGUE, name, ()))
    return ApiFault(stored_api_fault(name, seed=seed, **parameters), definition)
