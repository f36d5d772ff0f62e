"""The handling that is special to nodes and pods: who may write to them, and their addresses."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from kwokctl.controller.engine.decoded import DecodedNode, DecodedObject, DecodedPod
from kwokctl.controller.engine.node_reading import (
    addresses_of,
    boot_of,
    facts_of,
    is_down,
    says_ready,
)
from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.known_faults.newborns import Newborns
from kwokctl.controller.known_faults.silent_kubelets import SilentKubelets
from kwokctl.controller.nodes.address_pool import PodIPs
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.controller.stages.lives import LIFE
from kwokctl.embedded.selection import Selection
from kwokctl.embedded.silence import is_silent

_NOTHING: Mapping[str, str] = {}


S_contra = TypeVar("S_contra", contravariant=True)


class Hooks(Protocol[S_contra]):
    """The handling that is special to objects of a kind, which are decoded as `S_contra`."""

    def came(self, key: str, seen: S_contra) -> str:
        """Note an object that was not known; return its node if it is a pod."""
        ...

    def seen(self, state: ObjectState, seen: S_contra) -> bool:
        """Note the present state of an object; False if this controller may not write to it."""
        ...

    def gone(self, state: ObjectState) -> None:
        """Note that an object does not exist any more."""
        ...

    def is_ready(self, state: ObjectState) -> bool:
        """Return whether Stages may be played on an object now."""
        ...

    def functions(self, state: ObjectState) -> Mapping[str, object]:
        """Return the functions that templates may call for an object."""
        ...


class PlainHooks:
    """Kinds without special handling."""

    def __init__(self, functions: Mapping[str, object]) -> None:
        """Offer `functions` to templates."""
        self._functions = functions

    def came(self, key: str, seen: DecodedObject) -> str:
        """Return an empty text: the object is on no node."""
        return ""

    def seen(self, state: ObjectState, seen: DecodedObject) -> bool:
        """Return True: every object may be written to."""
        return True

    def gone(self, state: ObjectState) -> None:
        """Do nothing."""

    def is_ready(self, state: ObjectState) -> bool:
        """Return True: objects may be played at any time."""
        return True

    def functions(self, state: ObjectState) -> Mapping[str, object]:
        """Return the given functions for every object."""
        return self._functions


class Leases(Protocol):
    """Decides whether this controller may write to a node."""

    def want(self, node: str, uid: str, *, can_wait: bool, at_once: bool = False) -> None:
        """Take the lease of a node, a little later if there is nothing to do on it yet; one's own is renewed `at_once`."""
        ...

    def hurry(self, node: str) -> None:
        """Take the lease of a waiting node soon, because there is something to do on it."""
        ...

    def forget(self, node: str) -> None:
        """Release a node."""
        ...


class NoLeases:
    """Lets this controller hold every managed node at once and permanently."""

    def __init__(self, changed: Callable[[str, Hold], None]) -> None:
        """Call `changed` with each node that is held."""
        self._changed = changed

    def want(self, node: str, uid: str, *, can_wait: bool, at_once: bool = False) -> None:
        """Hold a node."""
        self._changed(node, Hold.HELD)

    def hurry(self, node: str) -> None:
        """Do nothing: the node is held already."""

    def forget(self, node: str) -> None:
        """Do nothing."""


class NodeHooks:
    """The handling of nodes: they are selected, held by a lease, and recorded for the pods on them."""

    def __init__(
        self,
        nodes: NodeRegistry,
        selection: Selection,
        functions: Mapping[str, object],
        leases: Leases,
        newborns: Newborns,
        silent: SilentKubelets,
    ) -> None:
        """Manage the nodes of the selection, each as soon as its lease is held, and what hits it at birth is known."""
        self._newborns = newborns
        self._silent = silent
        self._nodes = nodes
        self._selection = selection
        self._functions = functions
        self._leases = leases
        silent.listen(self._turned, self._faults_changed)

    def came(self, key: str, seen: DecodedNode) -> str:
        """Return an empty text: a node is on no node."""
        return ""

    def seen(self, state: ObjectState, seen: DecodedNode) -> bool:
        """Note a node; False if it is not managed or held by another controller."""
        metadata = seen.metadata
        selection = self._selection
        if not selection.manages(metadata.annotations or _NOTHING, metadata.labels or _NOTHING):
            self.gone(state)
            return False
        spec = seen.spec
        cidrs = tuple(spec.pod_cidrs or ((spec.pod_cidr,) if spec.pod_cidr else ()))
        node = self._nodes.get(state.name)
        if node is not None and node.uid == state.uid:
            if cidrs != node.cidrs:
                self._nodes.move(node, cidrs)
            node.addresses = addresses_of(seen)
            node.is_silenced = is_silent(metadata.annotations)
            self._nodes.set_boot(node, boot_of(seen))
            self._nodes.set_down(node, is_down=is_down(seen))
            self._nodes.describe(node, facts_of(seen))
            self._note_silence(node)
            return node.hold is not Hold.FOREIGN
        node = ManagedNode(state.name, state.uid, cidrs, addresses_of(seen), facts=facts_of(seen))
        node.boot, node.is_down = boot_of(seen), is_down(seen)
        node.created = metadata.creation_timestamp
        node.is_silenced = is_silent(metadata.annotations)
        node.is_silent = self._is_silent(node)
        self._nodes.put(node)
        can_wait = says_ready(seen) and not self._nodes.pods(state.name)
        self._claim(node, can_wait=can_wait)
        return node.hold is not Hold.FOREIGN

    def _is_silent(self, node: ManagedNode) -> bool:
        return self._silent.is_silent(node.name, node.uid, node.facts.faults) or node.is_silenced

    def _note_silence(self, node: ManagedNode) -> None:
        """Claim a node whose kubelet is back, which renews its Lease at once, or give up one that is silent."""
        if node.is_silent is not self._is_silent(node):
            node.is_silent = not node.is_silent
            self._claim(node, can_wait=False, at_once=True)

    def _turned(self, name: str) -> None:
        node = self._nodes.get(name)
        if node is not None:
            self._note_silence(node)

    def _faults_changed(self, nodes: Mapping[str, str]) -> None:
        for uid, name in nodes.items():
            node = self._nodes.get(name)
            if node is None or node.uid != uid:
                continue
            self._note_silence(node)
            if node.hold is Hold.PENDING:
                self._leases.hurry(name)  # there is something to do on it

    def _claim(self, node: ManagedNode, *, can_wait: bool, at_once: bool = False) -> None:
        """Take the lease of a node, unless its kubelet is silent: then no controller holds it."""
        if node.is_silent:
            self._leases.forget(node.name)
            self._nodes.set_hold(node.name, Hold.FOREIGN)
        else:
            self._leases.want(node.name, node.uid, can_wait=can_wait, at_once=at_once)

    def gone(self, state: ObjectState) -> None:
        """Note that a node does not exist, or is not managed, any more."""
        node = self._nodes.get(state.name)
        if node is not None and node.uid == state.uid:
            self._nodes.remove(state.name)
            self._leases.forget(state.name)
            self._silent.forget(state.name)
        self._newborns.forget(state.uid)

    def is_ready(self, state: ObjectState) -> bool:
        """Return whether the node is held, and no fault is about to hit it as a new one."""
        node = self._nodes.get(state.name)
        if node is None or node.hold is not Hold.HELD:
            return False
        return not self._newborns.waits(node.name, node.uid, node.created, state.opened)

    def functions(self, state: ObjectState) -> Mapping[str, object]:
        """Return the functions for nodes."""
        return self._functions


class PodHooks:
    """The handling of pods: only those on managed nodes are played, and they get addresses."""

    def __init__(
        self,
        nodes: NodeRegistry,
        selection: Selection,
        addresses: PodIPs,
        functions: Mapping[str, object],
        leases: Leases,
    ) -> None:
        """Play the pods of the nodes that are managed and held."""
        self._nodes = nodes
        self._leases = leases
        self._selection = selection
        self._addresses = addresses
        self._functions = functions
        self.lives: dict[str, str] = {}
        """The annotations that choose between Stages and the rules of kubelets, by the uids of pods."""

    def came(self, key: str, seen: DecodedPod) -> str:
        """Note the node of a new pod, which never changes, and return it."""
        node = seen.spec.node_name
        self._nodes.add_pod(node, key)
        return node

    def seen(self, state: ObjectState, seen: DecodedPod) -> bool:
        """Note a pod; False if its node is not managed or held by another controller."""
        metadata, status = seen.metadata, seen.status
        if metadata.annotations or self.lives:
            self._note_life(state.uid, metadata.annotations or _NOTHING)
        if (status.pod_ips or status.pod_ip) and not seen.spec.host_network:
            addresses = [item.ip for item in status.pod_ips or ()] or [status.pod_ip]
            self._addresses.note(state.uid, state.node, addresses)
        if self._selection.disregards(
            metadata.annotations or _NOTHING, metadata.labels or _NOTHING
        ):
            return False
        node = self._nodes.get(state.node)
        if node is not None and node.hold is Hold.PENDING:
            self._leases.hurry(state.node)
        return node is not None and node.hold is not Hold.FOREIGN

    def _note_life(self, uid: str, annotations: Mapping[str, str]) -> None:
        if life := annotations.get(LIFE):
            self.lives[uid] = life
        else:
            self.lives.pop(uid, None)

    def gone(self, state: ObjectState) -> None:
        """Note that a pod does not exist any more."""
        self.lives.pop(state.uid, None)
        self._nodes.remove_pod(state.node, state.key)
        self._addresses.release(state.uid)

    def is_ready(self, state: ObjectState) -> bool:
        """Return whether the pod's node is held, and its kubelet is not down."""
        node = self._nodes.get(state.node)
        return node is not None and node.plays_pods

    def functions(self, state: ObjectState) -> Mapping[str, object]:
        """Return the functions for pods; `PodIP` returns the address of this pod."""

        def pod_ip() -> str:
            return next(iter(addresses.of_pod(state.uid, state.node, host_network=False)), "")

        addresses = self._addresses
        return {**self._functions, "PodIP": pod_ip}
