"""The object of a Fault, as it is sent to a cluster. Pure."""

import msgspec

from kwokctl.config.document_kinds import FAULT, OWN
from kwokctl.faults.objects.fault_schema import FaultSpec, FaultTarget, PodTarget
from kwokctl.json_value import Json

_ALWAYS = frozenset({"class", "target", "seed"})
"""Fields that are written even if they have their default: to repeat a fault takes its seed."""


def fault_body(spec: FaultSpec, name: str = "") -> dict[str, Json]:
    """Return the object of a Fault; without a name, the API server makes one."""
    usual = FaultSpec(class_name=spec.class_name, target=FaultTarget())
    fields = _other(spec, usual)
    fields["target"] = _other(spec.target, usual.target)
    if spec.target.pods is not None:
        fields["target"]["pods"] = _other(spec.target.pods, PodTarget())
    return {
        "apiVersion": OWN,
        "kind": FAULT,
        "metadata": {"name": name} if name else {"generateName": f"{spec.class_name}-"},
        "spec": fields,
    }


def _other(given: msgspec.Struct, usual: msgspec.Struct) -> dict[str, Json]:
    """Return the fields that differ from their defaults, as JSON."""
    fields, plain = (msgspec.json.decode(msgspec.json.encode(each)) for each in (given, usual))
    return {key: each for key, each in fields.items() if key in _ALWAYS or each != plain[key]}
