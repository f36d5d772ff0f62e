"""The node that takes the place of one that is replaced: the same name, labels and capacity, and nothing of its life. Pure."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from kwokctl.faults.journal import JOURNAL
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.faults.overlays.slice_overlay import slice_beneath
from kwokctl.fleet.uuids import uuid_for
from kwokctl.json_value import Json
from kwokctl.kube.stored_json import ObjectInJson

_OF_LIFE = frozenset(
    {
        JOURNAL, OPEN_FAULTS, "node.alpha.kubernetes.io/ttl",
        "volumes.kubernetes.io/controller-managed-attach-detach",
        "kubectl.kubernetes.io/last-applied-configuration",
    }
)  # fmt: skip
"""Annotations that a new node does not have, or gets by itself."""
_OF_CONTROLLERS = "node.kubernetes.io/"
_OF_STATUS = ("capacity", "allocatable", "nodeInfo")


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """A node that is to be made, with the slices that its devices are published in."""

    node: dict[str, Json]
    slices: tuple[dict[str, Json], ...] = ()


def replacement_of(
    node: Mapping[str, Json], slices: Sequence[Mapping[str, Json]], repair: str, now: float
) -> Replacement:
    """Return what is to be made in place of a node; `repair` names the Repair, and `now` is a POSIX time stamp."""
    beneath = overlay(node, (), now)
    return Replacement(
        node=_new_node(beneath, repair), slices=tuple(_new_slice(each) for each in slices)
    )


def owned_by(body: Mapping[str, Json], uid: str) -> dict[str, Json]:
    """Return a slice that belongs to the node with a uid."""
    owners = [
        {**each, "uid": uid} if each.get("kind") == "Node" else each
        for each in body["metadata"].get("ownerReferences") or ()
    ]
    return {**body, "metadata": {**body["metadata"], "ownerReferences": owners}}


def is_of_other_node(body: Mapping[str, Json], uid: str) -> bool:
    """Return whether a slice belongs to a node, and to none with this uid."""
    owners = body["metadata"].get("ownerReferences") or ()
    nodes = [each["uid"] for each in owners if each.get("kind") == "Node"]
    return bool(nodes) and uid not in nodes


def _new_node(node: Mapping[str, Json], repair: str) -> dict[str, Json]:
    meta, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    annotations = {
        key: text for key, text in (meta.get("annotations") or {}).items() if key not in _OF_LIFE
    }
    taints = [
        {key: value for key, value in each.items() if key != "timeAdded"}
        for each in spec.get("taints") or ()
        if not each["key"].startswith(_OF_CONTROLLERS)
    ]
    kept = {key: status[key] for key in _OF_STATUS if key in status}
    if "nodeInfo" in kept:
        kept["nodeInfo"] = {**kept["nodeInfo"], **_machine(meta["name"], repair)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": meta["name"],
            "labels": dict(meta.get("labels") or {}),
            "annotations": annotations,
        },
        "spec": {
            **{key: spec[key] for key in ("providerID",) if key in spec},
            **({"taints": taints} if taints else {}),
        },
        "status": kept,
    }


def _machine(node: str, repair: str) -> dict[str, Json]:
    """Return the ids of another machine: Stages derive those of a node from its name."""
    return {
        "bootID": uuid_for("boot", node, repair),
        "machineID": uuid_for("machine", node, repair).replace("-", ""),
        "systemUUID": uuid_for("system", node, repair),
    }


def _new_slice(found: Mapping[str, Json]) -> dict[str, Json]:
    """Return a slice without faults, as the node has none; those that the repair has left are shown when they know the new node."""
    body = slice_beneath(cast("ObjectInJson", found))
    meta = body["metadata"]
    kept = {
        key: meta[key]
        for key in ("name", "labels", "annotations", "ownerReferences")
        if key in meta
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": kept,
        "spec": body["spec"],
    }


def read_replacement(text: str) -> Replacement:
    """Return what an annotation says; raises MsgspecError for one that says nothing."""
    return _decode(text)


def replacement_text(replacement: Replacement) -> str:
    """Return the value of the annotation."""
    return msgspec.json.encode(replacement).decode()


_decode = msgspec.json.Decoder(Replacement).decode
