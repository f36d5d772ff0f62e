"""The texts of faults: templates with the parameters of the fault and the facts of the node that it hits."""

from collections.abc import Mapping

import msgspec

from kwokctl.expr.gotemplate import template
from kwokctl.fleet.devices import gpus
from kwokctl.json_value import Json

FACTS = ("node", "gpus", "found", "uuid", "pci", "bus", "product")
"""The names that a template has beside the parameters."""
_GPU = "gpu"


class HitNode(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a node that faults depend on, without anything that a fault shows."""

    name: str
    labels: Mapping[str, str]
    capacity: Mapping[str, int]
    """The number of devices by resource, also of those that are not healthy."""


def context(node: HitNode, parameters: Mapping[str, Json], *, missing: int) -> dict[str, Json]:
    """Return the values of templates; `missing` is the number of GPUs that faults have taken away.

    `pci` is as `nvidia-smi` writes it, `bus` as the kernel does: `0000:1b:00`.
    """
    all_of_them = gpus(node.name, node.labels, node.capacity)
    index = parameters.get(_GPU)
    hit = all_of_them[index] if isinstance(index, int) and index < len(all_of_them) else None
    pci = hit.pci_bus_id if hit is not None else ""
    return {
        **parameters,
        "node": node.name,
        "gpus": len(all_of_them),
        "found": len(all_of_them) - missing,
        "uuid": hit.uuid if hit is not None else "",
        "pci": pci,
        "bus": pci[4:].lower().partition(".")[0],
        "product": hit.product if hit is not None else "",
    }


def rendered(text: str, values: Mapping[str, Json]) -> str:
    """Return the text of a template; raise ExpressionError if it is not one."""
    return template.compile(text).render(values, {}) if "{{" in text else text
