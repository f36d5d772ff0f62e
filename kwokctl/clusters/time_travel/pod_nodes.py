"""Reads the node of a pod from its stored value, without decoding the rest."""

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.etcd.protobuf import LENGTH, MessageError, fields, mark

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
