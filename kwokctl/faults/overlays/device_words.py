"""Says in the annotation of a node's device health which of its GPUs are at fault. Pure.

The controller follows that annotation: in capacity and allocatable as a kubelet counts them, and in the statuses of
pods that have such a device (`kwokctl/fleet/device_health.py`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_duration
from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.journal import NodeField
from kwokctl.faults.overlays.effects import NodeEffects
from kwokctl.fleet.device_health import DEVICE_HEALTH, DeviceHealth, read_health
from kwokctl.json_value import Json

HEALTH = NodeField("annotations", DEVICE_HEALTH)
_VENDOR = "nvidia.com/"
_SECOND = 1_000_000_000


def device_words(
    node: HitNode, base: Mapping[NodeField, Json], effects: Sequence[NodeEffects]
) -> Iterator[tuple[NodeField, str]]:
    """Yield the annotation while a device is at fault: with the words that lie beneath, if they can be read."""
    if not any(each.devices for each in effects):
        return
    try:
        beneath = read_health(base.get(HEALTH, ""))
    except ExpressionError:
        beneath = DeviceHealth()
    plugin = any("plugin-gone" in each.devices for each in effects)
    words = {
        "unhealthy": [*beneath.unhealthy, *_hit(effects, "unhealthy")],
        "missing": [*beneath.missing, *_hit(effects, "missing")],
        "gone": [*beneath.gone, *(_resources(node) if plugin else ())],
        "delay": [format_duration(round(beneath.delay * _SECOND))] if beneath.delay else [],
    }
    yield HEALTH, " ".join(f"{word}={_listed(each)}" for word, each in words.items() if each)


def _hit(effects: Iterable[NodeEffects], state: str) -> Iterator[str]:
    """Yield the numbers of the GPUs that are in a state."""
    hit = (each.gpu for each in effects if state in each.devices)
    yield from map(str, sorted(gpu for gpu in hit if gpu is not None))


def _resources(node: HitNode) -> Iterator[str]:
    """Yield the resources that the device plugin of the GPUs advertises."""
    yield from sorted(name for name in node.capacity if name.startswith(_VENDOR))


def _listed(words: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(words))
