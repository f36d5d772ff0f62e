"""The devices that pods have through ResourceClaims, on nodes for whose DRA drivers the controller stands in."""

from functools import lru_cache

from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.nodes.facts import NodeFacts
from kwokctl.fleet.allocations import HEALTHY, UNHEALTHY, claimed_in
from kwokctl.fleet.claimed_devices import is_unhealthy
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.replacing import replace


@lru_cache(maxsize=64)
def drivers_of(annotation: str) -> frozenset[str]:
    """Return the DRA drivers that the annotation of a node names."""
    return frozenset(each.strip() for each in annotation.split(",")) - {""}


class ClaimedDevices:
    """The devices that pods say they have, and those that were prepared for pods that start."""

    def __init__(self) -> None:
        self._pods: dict[str, Devices] = {}
        self._awaited: set[str] = set()

    def awaits(self, uid: str, pod: ObjectInJson) -> bool:
        """Return whether the claims of a pod must be prepared: it does not say which devices it has by them."""
        if uid in self._pods:
            return False
        if found := tuple(dict.fromkeys(claimed_in(pod))):
            self._pods[uid] = tuple(replace(each, health=HEALTHY) for each in found)
            return False
        self._awaited.add(uid)
        return True

    def prepared(self, uid: str, devices: Devices) -> None:
        """Note the devices, perhaps none, of a pod whose claims are prepared, unless it is gone meanwhile."""
        if uid in self._awaited:
            self._awaited.remove(uid)
            self._pods[uid] = devices

    def of(self, node: str, uid: str, facts: NodeFacts) -> Devices:
        """Return the devices of a pod, with their present health."""
        devices = self._pods.get(uid, ())
        if not facts.device_health:
            return devices
        return tuple(
            replace(each, health=UNHEALTHY)
            if is_unhealthy(each.device_id, node, facts.device_health)
            else each
            for each in devices
        )

    def forget(self, uid: str) -> None:
        """Note that a pod has no devices any more."""
        self._awaited.discard(uid)
        self._pods.pop(uid, None)
