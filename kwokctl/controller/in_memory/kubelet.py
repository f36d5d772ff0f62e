"""The fake kubelets of a cluster for `scale`: they play new objects before these are written."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from kwokctl.controller.in_memory.at_once import EndlessPlayError, is_at_once, play
from kwokctl.controller.in_memory.play_manners import AllObjects, OneObject, guarded
from kwokctl.controller.stages.compiled_stage import PatchStep, Stage
from kwokctl.controller.stages.lives import KUBELET, LIFE
from kwokctl.controller.stages.stage_functions import Kubelet, common, for_nodes, for_pods
from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.embedded.selection import Selection, requirements
from kwokctl.embedded.silence import is_silent
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import NotSymbolicError, Symbol, for_symbols
from kwokctl.json_value import Json


class OwnAddresses:
    """Returns the addresses of one pod at a time."""

    def __init__(self) -> None:
        """Know no pod yet."""
        self._uid: Json = ""
        self._node: Json = ""
        self._own = OwnValues(now="")
        self._is_on_host = False

    def of(self, body: Json, own: OwnValues) -> None:
        """Take the addresses of a new object, which the other methods return from now on."""
        self._uid = body["metadata"].get("uid")
        self._node = (body.get("spec") or {}).get("nodeName")
        self._own = own
        self._is_on_host = bool((body.get("spec") or {}).get("hostNetwork"))

    def of_node(self, name: Json) -> Sequence[Json]:
        """Return the addresses of the pod's node."""
        if not _is_same(name, self._node):
            raise ExpressionError("the addresses of other nodes are not known yet")
        return self._own.host_ips

    def of_pod(self, uid: Json, node: Json, *, host_network: bool) -> Sequence[Json]:
        """Return the addresses of the pod."""
        if host_network:
            return self.of_node(node)
        if not _is_same(uid, self._uid) or not _is_same(node, self._node):
            raise ExpressionError("the addresses of other pods are not known yet")
        return self.pod_ips()

    def pod_ips(self) -> Sequence[Json]:
        """Return the addresses of the pod in a network of its own.

        No address is reserved for a pod in its node's network: if a Stage asks for one, the controller
        allocates it.
        """
        if self._is_on_host or not self._own.pod_ips:
            raise ExpressionError("no address has been requested")
        return self._own.pod_ips


def _is_same(one: Json, other: Json) -> bool:
    if isinstance(one, Symbol) or isinstance(other, Symbol):
        return one is other
    return bool(one == other)


_ADDRESSES = frozenset({"PodIP", "PodIPWith", "PodIPsWith"})
_VERSION = "resourceVersion"


class ControllerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The values that identify a controller in the objects that it writes."""

    kubelet: Kubelet
    started: str
    """Its start time, which templates see."""
    manager: str
    """Its name as a field manager."""


class InMemoryKubelet:
    """Plays the Stages of one kind, nodes or pods, on objects before they are written."""

    def __init__(
        self,
        kind: str,
        stages: Sequence[Stage],
        *,
        selection: Selection,
        identity: ControllerIdentity,
        random: Random,
    ) -> None:
        """Play Stages as the controller with this identity would."""
        self.is_current = True
        """Set to False when the cluster's Stages have changed."""
        self._is_endless = False
        self._kind = kind
        self._stages = tuple(stages)
        self._guarded = guarded(stages)
        self._selection = selection
        self._labels = requirements(selection.label_selector)
        self._manager = identity.manager
        self._random = random
        self._now: Json = ""
        self._addresses = OwnAddresses()
        self._functions = self._all_functions(identity)

    @property
    def needs_addresses(self) -> bool:
        """Whether a Stage that is played here may use addresses of pods."""
        return any(
            isinstance(step, PatchStep) and not _ADDRESSES.isdisjoint(step.template.required)
            for stage in self._stages
            if is_at_once(stage)
            for step in stage.steps
        )

    def play(self, body: Json, own: OwnValues) -> Json:
        """Return a new object with all changes that its Stages make without delay; itself without any."""
        value = None if self._is_endless else self._seen(body, own)
        if value is None:
            return body
        manner = OneObject(
            self._kind,
            self._functions,
            self._random,
            manager=self._manager,
            now=own.now,
            selected=self._plays,
        )
        try:
            played = play(self._stages, value, manner)
        except NotSymbolicError:
            return body  # a Stage looks at the version of the object, which it does not have yet
        except EndlessPlayError:
            self._is_endless = True  # sixteen plays for each object would take minutes
            return body
        # The controller must render the conditions of Stages itself, to recognize them later.
        return body if manner.conditions.has_learnt else _unseen(body, value, played)

    def pattern(self, body: Json, own: OwnValues) -> Json:
        """Play all objects together, with symbols for the values that differ between objects.

        Raises NotSymbolicError if the Stages treat objects differently.
        """
        value = self._seen(body, own)
        if value is None:
            return body
        manner = AllObjects(self._kind, self._functions, now=own.now)
        try:
            return _unseen(body, value, play(self._guarded, value, manner))
        except EndlessPlayError:
            return body

    def _seen(self, body: Json, own: OwnValues) -> Json | None:
        """Return an object as the controller would see it; None if it would not play the object."""
        if not self._plays(body):
            return None
        self._now = own.now
        self._addresses.of(body, own)
        return {**body, "metadata": {**body["metadata"], _VERSION: Symbol(_VERSION)}}

    def _plays(self, body: Json) -> bool:
        """Return whether the controller would play an object."""
        metadata = body["metadata"]
        annotations, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
        selection = self._selection
        if annotations.get(LIFE) == KUBELET:
            return False
        if self._kind != "Node":
            return not selection.disregards(annotations, labels)
        if selection.node_name and metadata["name"] != selection.node_name:
            return False
        is_watched = all(holds(labels) for holds in self._labels)
        return is_watched and selection.manages(annotations, labels) and not is_silent(annotations)

    def _all_functions(self, identity: ControllerIdentity) -> Mapping[str, Callable[..., Any]]:
        shared = {
            **common(lambda: 0.0),
            "Now": for_symbols(lambda: self._now),
            "StartTime": lambda: identity.started,
        }
        if self._kind == "Node":
            return for_nodes(shared, identity.kubelet)
        addresses = self._addresses
        functions = for_pods(shared, identity.kubelet, addresses)
        functions["PodIP"] = lambda: addresses.pod_ips()[0]
        for name in ("NodeIPWith", "NodeIPsWith", "PodIP", "PodIPWith", "PodIPsWith"):
            functions[name] = for_symbols(functions[name])
        return functions


def _unseen(body: Json, before: Json, after: Json) -> Json:
    """Return the resulting object without a version, which it does not have yet."""
    if after is before:
        return body
    metadata = {name: value for name, value in after["metadata"].items() if name != _VERSION}
    return {**after, "metadata": metadata}
