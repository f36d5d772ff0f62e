"""The bodies of requests that create objects of a file, or replace existing ones, with their new uids. Pure."""

import re
from collections.abc import Iterable, Mapping

import orjson

from kwokctl.clusters.object_files.restoring.checking import RestoreItem
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import MetadataInJson, ObjectInJson

NOT_SENT = (
    "uid", "resourceVersion", "selfLink", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
"""Metadata that the API server determines."""
_BOOTSTRAPPED = ("kubernetes.io/bootstrapping", "rbac-defaults")
_OF_THE_CLUSTER = frozenset(
    (
        ("ConfigMap", "kube-system", "extension-apiserver-authentication"),
        ("ConfigMap", "kube-system", "kube-apiserver-legacy-service-account-token-tracking"),
        ("Endpoints", "default", "kubernetes"),
        ("EndpointSlice", "default", "kubernetes"),
        ("PriorityClass", "", "system-cluster-critical"),
        ("PriorityClass", "", "system-node-critical"),
        ("Service", "default", "kubernetes"),
    )
)
_ROOT_CA = "kube-root-ca.crt"
_GENERATED = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)
"""Labels that the API server gives to the pods of a Job, and accepts from no client."""
_FIXED = {
    "Node": ("podCIDR", "podCIDRs", "providerID"),
    "PersistentVolumeClaim": ("volumeName",),
    "Service": ("clusterIP", "clusterIPs", "healthCheckNodePort", "ipFamilies", "ipFamilyPolicy"),
}
"""Immutable fields of `spec`."""


def is_of_the_cluster(item: RestoreItem) -> bool:
    """Return whether every cluster creates such an object by itself, with its own values."""
    each = item.object
    if (each.kind, each.namespace, each.name) in _OF_THE_CLUSTER:
        return True
    if each.kind == "ConfigMap" and each.name == _ROOT_CA:
        return True
    if each.group != "rbac.authorization.k8s.io":
        return False
    labels = orjson.loads(each.body)["metadata"].get("labels") or {}
    key, value = _BOOTSTRAPPED
    return bool(labels.get(key) == value)


def sent(body: bytes) -> ObjectInJson:
    """Return the body that creates an object, including its status."""
    value: ObjectInJson = orjson.loads(body)
    metadata: Json = {k: v for k, v in value["metadata"].items() if k not in NOT_SENT}
    value["metadata"] = metadata
    if value["kind"] == "Job" and str(value["apiVersion"]).startswith("batch/"):
        _without_generated(value)
    return value


def replacing(value: ObjectInJson, existing: Mapping[str, Json]) -> ObjectInJson:
    """Return the body that replaces an existing object."""
    there = existing["metadata"]
    metadata: MetadataInJson = {
        **value["metadata"],
        "uid": there["uid"],
        "resourceVersion": there["resourceVersion"],
    }
    changed: ObjectInJson = {**value, "metadata": metadata}
    spec, before = value.get("spec"), existing.get("spec")
    if isinstance(spec, dict) and isinstance(before, dict):
        fixed = {name: before[name] for name in _FIXED.get(value["kind"], ()) if name in before}
        changed["spec"] = {**spec, **fixed}
        if value["kind"] == "Job":
            changed["spec"] |= {name: before[name] for name in ("selector", "template")}
    return changed


def without_address(value: ObjectInJson) -> ObjectInJson | None:
    """Return a Service without its address, so that it gets another; None for other objects."""
    spec = value.get("spec")
    if value["kind"] != "Service" or not spec or spec.get("clusterIP", "None") == "None":
        return None
    left = {k: v for k, v in spec.items() if k not in ("clusterIP", "clusterIPs")}
    return {**value, "spec": left}


def _without_generated(job: ObjectInJson) -> None:
    spec = job.get("spec") or {}
    if spec.get("manualSelector"):
        return
    spec.pop("selector", None)
    for metadata in (spec.get("template", {}).get("metadata") or {}, job["metadata"]):
        labels = metadata.get("labels") or {}
        for name in _GENERATED:
            labels.pop(name, None)


_UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class NewUids:
    """The new uids of objects, by their uids in the file."""

    def __init__(self) -> None:
        """Begin without any."""
        self._new: dict[bytes, bytes] = {}

    def note(self, old: str, new: str) -> None:
        """Note the new uid of an object."""
        if old and new:
            self._new[old.encode()] = new.encode()

    def knows(self, old: str) -> bool:
        """Return whether the new uid of an object is known."""
        return old.encode() in self._new

    def missing(self, owners: Iterable[str]) -> list[str]:
        """Return the owners whose new uids are not known."""
        return [uid for uid in owners if not self.knows(uid)]

    def followed(self, body: bytes) -> bytes:
        """Return an object as JSON, with references to the new objects.

        References are owners, the claim of a volume, and labels of a Job's pods. A uid is replaced wherever it
        occurs, because no other text looks like one.
        """
        return _UID.sub(lambda found: self._new.get(found[0], found[0]), body)
