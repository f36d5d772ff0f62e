"""Counts what pods request that are not recorded: those that were there before the run."""

from collections import Counter

import msgspec

from kwokctl.kube.collections.known_objects import Metadata
from kwokctl.measure.record.amounts import amounts_in, text_of
from kwokctl.measure.record.fleet_lines import OtherRequests
from kwokctl.measure.watching.numbered_texts import Emit, Texts
from kwokctl.measure.watching.requests import requests_in

STAYING = ("DaemonSet", "Node")
"""The owners of pods that no drain removes: DaemonSets, and kubelets that show their own pods."""


class _Owner(msgspec.Struct, gc=False):
    kind: str = ""


class _OwnedMetadata(Metadata, gc=False, rename="camel"):
    owner_references: list[_Owner] | None = None


class _OwnedPod(msgspec.Struct, gc=False):
    metadata: _OwnedMetadata


_owned = msgspec.json.Decoder(_OwnedPod).decode


class _Other(msgspec.Struct, gc=False):
    requests: str
    node: str = ""
    """The node on which it counts; empty if it is not bound, or has ended."""
    is_over: bool = False
    is_movable: bool = True


class _Taken(msgspec.Struct):
    """The amounts that are taken of a node."""

    pods: int = 0
    movable: int = 0
    amounts: Counter[str] = msgspec.field(default_factory=Counter)


class OtherPods:
    """Writes a line for each change of what they request of a node, once the run has begun."""

    def __init__(self, emit: Emit, texts: Texts) -> None:
        self._emit = emit
        self._texts = texts
        self._pods: dict[str, _Other] = {}
        self._nodes: dict[str, _Taken] = {}
        self._has_begun = False
        self._time = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def begin(self) -> None:
        """Write what was there before."""
        self._has_begun = True
        for node in self._nodes:
            self._write(node, self._time)

    def is_over(self, uid: str) -> bool:
        """Return whether a pod had ended when it was seen last."""
        return self._pods[uid].is_over

    def see(self, uid: str, node: str, raw: bytes, time: int, *, is_over: bool) -> None:
        """Note on which node a pod is, and whether it has ended; `raw` is its JSON."""
        self._time = time
        known = self._pods.get(uid)
        if known is None:
            known = self._pods[uid] = _Other(requests_in(raw), is_movable=_is_movable(raw))
        known.is_over = is_over
        place = "" if is_over else node
        if known.node != place:
            self._move(known, place, time)

    def gone(self, uid: str, time: int) -> None:
        """Note that a pod exists no longer."""
        known = self._pods.pop(uid, None)
        if known is not None and known.node:
            self._move(known, "", time)

    def _move(self, pod: _Other, node: str, time: int) -> None:
        for name, sign in ((pod.node, -1), (node, 1)):
            if not name:
                continue
            taken = self._nodes.setdefault(name, _Taken())
            taken.pods += sign
            taken.movable += sign * pod.is_movable
            for resource, amount in amounts_in(pod.requests).items():
                taken.amounts[resource] += sign * amount
            if self._has_begun:
                self._write(name, time)
        pod.node = node

    def _write(self, node: str, time: int) -> None:
        taken = self._nodes[node]
        text = text_of((name, amount) for name, amount in taken.amounts.items() if amount)
        number = self._texts.number(text)
        self._emit(OtherRequests(time, node, taken.pods, number, taken.movable))


def _is_movable(raw: bytes) -> bool:
    """Return whether a drain removes a pod."""
    owners = _owned(raw).metadata.owner_references or ()
    return all(owner.kind not in STAYING for owner in owners)
