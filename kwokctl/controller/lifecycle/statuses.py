"""The addresses in the status of a pod, and how a status is written."""

from collections.abc import Mapping, Sequence

from kwokctl.controller.lifecycle.outcome import NodeOffer
from kwokctl.dataplane.port import Patch
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.statuses import DEVICES_FIELD
from kwokctl.kube.stored_json import ObjectInJson

KEPT = (DEVICES_FIELD,)
"""The fields that are written only if the API server is known to keep them."""


def addresses_of(place: NodeOffer, *, has_pod: bool) -> dict[str, Json]:
    """Return the addresses in the status of a pod: those of its own once it has them."""
    found: dict[str, Json] = {}
    if place.host_ips:
        found["hostIP"] = place.host_ips[0]
        found["hostIPs"] = [{"ip": ip} for ip in place.host_ips]
    if has_pod and place.pod_ips:
        found["podIP"] = place.pod_ips[0]
        found["podIPs"] = [{"ip": ip} for ip in place.pod_ips]
    return found


def own_ips(pod: ObjectInJson, *, is_host: bool) -> Sequence[str]:
    """Return the addresses that a pod has, and keeps; none for one with those of its node."""
    if is_host:
        return ()
    return [each["ip"] for each in (pod.get("status") or {}).get("podIPs") or ()]


def has_started(pod: ObjectInJson) -> bool:
    """Return whether a kubelet has begun with a pod."""
    return "startTime" in (pod.get("status") or {})


def status_patch(
    pod: ObjectInJson, status: Json, annotations: Mapping[str, str] | None = None
) -> Patch:
    """Replace the parts of a pod's status that have changed; no part is ever removed.

    The result is certain, also with the nulls that the API server shows within conditions: they are
    what they have been before. It shares with the pod what is equal, which is not checked again then.
    The API server takes annotations together with a status.
    """
    before = pod.get("status") or {}
    changed = {name: part for name, part in status.items() if before.get(name) != part}
    meta: dict[str, Json] = {"uid": pod["metadata"]["uid"]}
    result = {**pod, "status": {**before, **changed}}
    if annotations is not None:
        meta["annotations"] = annotations
        known = pod["metadata"].get("annotations") or {}
        result["metadata"] = {**pod["metadata"], "annotations": {**known, **annotations}}
    return Patch(
        document={"metadata": meta, "status": changed},
        type=PatchType.MERGE,
        subresource="status",
        result=result,
        kept=KEPT,
    )
