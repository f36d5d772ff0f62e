"""The keys of an API server that a rewind puts back, and their order."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.etcd_keys import in_words
from kwokctl.etcd.kv.kv import prefix_end
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.etcd.marks.present import Range
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, mark
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.kube.resource import FAULT_CLOCK, NODE_LEASES

_EVENTS = "events/"
_LEFT_ALONE = (
    _EVENTS,
    "leases/kube-node-lease/",
    "leases/kube-system/",
    "masterleases/",
    "peerserverleases/",
)
"""Keys that running programs keep renewing: an old value would make the programs look dead."""
_CLOCK = f"leases/{NODE_LEASES}/{FAULT_CLOCK}"
"""The clock of faults, which goes back with them."""
_SCHEDULES, _FAULT_OBJECTS = "kwokctl.dev/faultschedules/", "kwokctl.dev/faults/"
_FAULTS = "kwokctl.dev/"
_SHOWN = OPEN_FAULTS.encode()
_DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions/"
_SERVICES = "services/specs/"
_PODS = "pods/"
_NODES = "minions/"
_RESTLESS = (_DEFINITIONS, "apiregistration.k8s.io/", _SERVICES, "ipaddresses/", "servicecidrs/")
"""Kinds that controllers within the API server keep consistent: they may react to a write with another."""
_ORDER: tuple[tuple[str, bool | None], ...] = (
    (_DEFINITIONS, True),
    ("apiregistration.k8s.io/", True),
    ("namespaces/", True),
    # Before the nodes: the controller undoes what nodes show of faults that do not exist.
    (_CLOCK, None),
    # A schedule that is put back makes the Faults that do not exist; those whose schedule does not exist are removed.
    (_FAULT_OBJECTS, False),
    (_SCHEDULES, True),
    (_FAULTS, None),
    # The API server deletes an address without its Service, whichever of the two comes or goes first.
    (_SERVICES, None),
    ("ipaddresses/", None),
    ("ranges/", None),
    (_PODS, False),
    ("", True),
    (_PODS, True),
    ("", False),
    ("namespaces/", False),
    (_DEFINITIONS, False),
)
"""Folders in the order of writing: objects that are put back (True), deleted (False), or both."""


class RewindScope:
    """The keys under the prefix of an API server."""

    def __init__(self, prefix: str) -> None:
        """Begin all keys with a prefix such as "/registry"."""
        self._prefix = f"/{prefix.strip('/')}/".encode()

    @property
    def events(self) -> Range:
        """The range of Events."""
        return _range(self._folder(_EVENTS))

    @property
    def ranges(self) -> Sequence[Range]:
        """The ranges that are put back."""
        start, found = self._prefix, []
        clock = self._folder(_CLOCK)
        for folder in sorted(map(self._folder, _LEFT_ALONE)):
            found.append((start, folder))
            if clock.startswith(folder):
                found.append((clock, clock + b"\0"))
            start = prefix_end(folder)
        return (*found, (start, prefix_end(self._prefix)))

    def is_definition(self, key: bytes) -> bool:
        """Return whether a key is that of a CustomResourceDefinition."""
        return key.startswith(self._folder(_DEFINITIONS))

    @property
    def nodes(self) -> Range:
        """The range of nodes."""
        return _range(self._folder(_NODES))

    def is_clock(self, key: bytes) -> bool:
        """Return whether a key is that of the clock of faults, which the controller renews all the time."""
        return key == self._folder(_CLOCK)

    def is_node(self, key: bytes) -> bool:
        """Return whether a key is that of a node."""
        return key.startswith(self._folder(_NODES))

    def is_fault(self, key: bytes) -> bool:
        """Return whether a key is that of a Fault."""
        return key.startswith(self._folder(_FAULT_OBJECTS))

    def is_faulty_node(self, write: Write) -> bool:
        """Return whether a node shows faults before or after a write."""
        return self.is_node(write.key) and any(
            _SHOWN in value for value in (write.former, write.value or b"")
        )

    def moves_pods(self, writes: Iterable[Write]) -> bool:
        """Return whether pods are put back on other nodes than the scheduler may know."""
        pods = self._folder(_PODS)
        put = (w for w in writes if w.value is not None and w.key.startswith(pods))
        return not all(map(keeps_node, put))

    def is_restless(self, writes: Iterable[Write]) -> bool:
        """Return whether the API server itself may change more objects in reaction to these writes."""
        folders = tuple(map(self._folder, _RESTLESS))
        return any(write.key.startswith(folders) for write in writes)

    def in_order(self, writes: Iterable[Write]) -> Sequence[Sequence[Write]]:
        """Return groups of writes, each to be completed before the next."""
        ordered = sorted(writes, key=lambda write: (self._rank(write), write.key))
        return [list(group) for _, group in groupby(ordered, key=self._rank)]

    def words(self, key: bytes) -> Sequence[str]:
        """Return the parts of a key after the prefix: the folder, perhaps a namespace, and the name."""
        return key.removeprefix(self._prefix).decode(errors="replace").split("/")

    def resource(self, key: bytes) -> str:
        """Return kubectl's name for the resource of an object."""
        return in_words("/".join(self.words(key)))[0]

    def name(self, key: bytes) -> str:
        """Return an object's name for people: `nodes/node-000000`, `pods/default/web`."""
        return "/".join(filter(None, in_words("/".join(self.words(key)))))

    def _rank(self, write: Write) -> tuple[int, bool]:
        is_put = write.value is not None
        for number, (folder, puts) in enumerate(_ORDER):
            if folder and puts in (is_put, None) and write.key.startswith(self._folder(folder)):
                return number, is_put
        return _ORDER.index(("", is_put)), is_put

    def _folder(self, name: str) -> bytes:
        return self._prefix + name.encode()


def _range(prefix: bytes) -> Range:
    return prefix, prefix_end(prefix)


_NODE_NAME = (mark(2, LENGTH), mark(2, LENGTH), mark(10, LENGTH))
"""`raw` of a runtime.Unknown, `spec` of a Pod, `nodeName` of a PodSpec, as the `generated.proto` of
k8s.io/apimachinery/pkg/runtime and k8s.io/api/core/v1 number them."""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Pod(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_DECODER = msgspec.json.Decoder(_Pod)


def node_of(pod: bytes) -> str | None:
    """Return the node of a stored pod, empty without a node; None if the value cannot be read, such as an encrypted value."""
    try:
        return _of_protobuf(pod) if pod.startswith(PREFIX) else _DECODER.decode(pod).spec.node_name
    except (MessageError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def keeps_node(write: Write) -> bool:
    """Return whether a write leaves a pod on the node, or without a node, as the scheduler knows it.

    A pod that does not exist now counts only if it was on a node at the mark: it may have been bound since.
    """
    node = node_of(write.value or b"")
    return node == node_of(write.former) is not None if write.seen else bool(node)


def _of_protobuf(pod: bytes) -> str:
    start, stop = len(PREFIX), len(pod)
    for wanted in _NODE_NAME:
        start, stop = _field(pod, wanted, start, stop)
    return pod[start:stop].decode()


def _field(data: bytes, wanted: int, start: int, stop: int) -> tuple[int, int]:
    """Return the start and end of a field in a message; they are equal if it is left out."""
    return next(((at, end) for key, at, end in fields(data, start, stop) if key == wanted), (0, 0))
