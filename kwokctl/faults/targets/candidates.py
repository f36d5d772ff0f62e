"""The properties of nodes that selections of faults see: the place, the devices, and the pods that use them. Pure."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.faults.classes.message_texts import HitNode
from kwokctl.faults.journal import NodeField
from kwokctl.faults.overlays.node_fields import facts_of
from kwokctl.faults.targets.pod_gpus import gpus_by_pod
from kwokctl.fleet.device_health import DEVICE_INVENTORY
from kwokctl.fleet.devices import gpus
from kwokctl.fleet.tree import PLACE, SHAPE, place_of
from kwokctl.json_value import Json

_ENDED = frozenset({"Succeeded", "Failed"})
_MIRROR = "kubernetes.io/config.mirror"
_DAEMON_SET = "DaemonSet"
_UNREACHABLE = "node.kubernetes.io/unreachable"


class CandidatePod(msgspec.Struct, frozen=True, kw_only=True):
    """A pod on a node, which has not ended."""

    key: str
    """Namespace and name: `default/web-0`."""
    uid: str
    labels: Mapping[str, str]
    gpus: frozenset[int]
    """The indices of the GPUs that it uses, also of those that it has a part of."""
    is_of_node: bool = False
    """Whether it is there only because of the node: a pod of a DaemonSet, or a static pod."""
    stay: float | None = 300.0
    """The seconds for which it tolerates that its node is unreachable; None for ever."""


class CandidateNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that a fault may hit."""

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    capacity: Mapping[str, int]
    """The number of devices by resource, also of those that are not healthy or missing."""
    place: Mapping[str, str]
    """Its unit of each level: `{"rack": "dgx-rack-0003", …}`."""
    shape: str
    """Empty for a node of no shape."""
    is_ready: bool
    is_cordoned: bool
    gpus: int
    """The number of its GPUs, also of those that are not healthy or missing."""
    pods: tuple[CandidatePod, ...] = ()
    is_ours: bool = True
    """Whether a controller of kwokctl plays it."""

    @property
    def in_use(self) -> frozenset[int]:
        """The indices of the GPUs that pods use."""
        return frozenset().union(*(each.gpus for each in self.pods))

    @property
    def gpu_users(self) -> tuple[str, ...]:
        """The pods that use GPUs of it, in the order of their names."""
        return tuple(sorted(each.key for each in self.pods if each.gpus))

    @property
    def is_busy(self) -> bool:
        """Whether a pod is on it that would be elsewhere without it."""
        return any(not each.is_of_node for each in self.pods)


def candidate(
    node: Mapping[str, Json], pods: Sequence[Mapping[str, Json]] = (), *, is_ours: bool = True
) -> CandidateNode:
    """Return what selections see of a node; `node` and the `pods` on it are whole objects, as JSON.

    Pods that have ended are left out.
    """
    meta, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    annotations = meta.get("annotations") or {}
    facts = _facts(node, meta.get("labels") or {}, annotations)
    conditions = status.get("conditions") or ()
    return CandidateNode(
        name=facts.name,
        uid=meta.get("uid", ""),
        labels=facts.labels,
        annotations=annotations,
        capacity=facts.capacity,
        place=place_of(annotations.get(PLACE, "")),
        shape=facts.labels.get(SHAPE, ""),
        is_ready=any(each["type"] == "Ready" and each["status"] == "True" for each in conditions),
        is_cordoned=bool(spec.get("unschedulable")),
        gpus=len(gpus(facts.name, facts.labels, facts.capacity)),
        pods=_pods(facts, pods),
        is_ours=is_ours,
    )


def _facts(
    node: Mapping[str, Json], labels: Mapping[str, str], annotations: Mapping[str, str]
) -> HitNode:
    """Return the facts of a node; conditions, which are most of its fields, say nothing of them."""
    fields: dict[NodeField, Json] = {NodeField("labels", key): text for key, text in labels.items()}
    fields[NodeField("annotations", DEVICE_INVENTORY)] = annotations.get(DEVICE_INVENTORY, "")
    return facts_of(node, fields)


def _has_ended(pod: Mapping[str, Json]) -> bool:
    return (pod.get("status") or {}).get("phase") in _ENDED


def _pods(node: HitNode, pods: Sequence[Mapping[str, Json]]) -> tuple[CandidatePod, ...]:
    there = [pod for pod in pods if not _has_ended(pod)]
    return tuple(map(_pod, there, gpus_by_pod(node, there) if there else ()))


def _pod(pod: Mapping[str, Json], used: frozenset[int]) -> CandidatePod:
    meta = pod["metadata"]
    owners = meta.get("ownerReferences") or ()
    return CandidatePod(
        key=f"{meta['namespace']}/{meta['name']}",
        uid=meta.get("uid", ""),
        labels=meta.get("labels") or {},
        gpus=used,
        is_of_node=_MIRROR in (meta.get("annotations") or {})
        or any(each.get("kind") == _DAEMON_SET and each.get("controller") for each in owners),
        stay=_stay((pod.get("spec") or {}).get("tolerations") or ()),
    )


def _stay(tolerations: Sequence[Mapping[str, Json]]) -> float | None:
    """Return the seconds of the first toleration of the taint `node.kubernetes.io/unreachable:NoExecute`."""
    for each in tolerations:
        if _tolerates(each):
            seconds = each.get("tolerationSeconds")
            return None if seconds is None else max(float(seconds), 0.0)
    return 0.0


def _tolerates(toleration: Mapping[str, Json]) -> bool:
    key, exists = toleration.get("key") or "", toleration.get("operator") == "Exists"
    return (
        (toleration.get("effect") or "NoExecute") == "NoExecute"
        and (key == _UNREACHABLE or (not key and exists))
        and (exists or not toleration.get("value"))
    )
