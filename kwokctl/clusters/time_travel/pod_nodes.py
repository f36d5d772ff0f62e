"""Reads the node of a pod from what the API server has stored of it, without the rest of the pod."""

import msgspec

from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.etcd.marks.difference import Write
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
    """Return the node of a stored pod, empty if it has none; None if the value cannot be read, as an encrypted one."""
    try:
        return _of_protobuf(pod) if pod.startswith(PREFIX) else _DECODER.decode(pod).spec.node_name
    except (MessageError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def keeps_node(write: Write) -> bool:
    """Tell whether a pod that is put back is on the node, or on none, that the scheduler knows it on.

    A pod that is gone counts only if it was on a node at the mark: it may have been bound between these two.
    """
    node = node_of(write.value or b"")
    return node == node_of(write.former) is not None if write.seen else bool(node)


def _of_protobuf(pod: bytes) -> str:
    start, stop = len(PREFIX), len(pod)
    for wanted in _NODE_NAME:
        start, stop = _field(pod, wanted, start, stop)
    return pod[start:stop].decode()


def _field(data: bytes, wanted: int, start: int, stop: int) -> tuple[int, int]:
    """Return where a field of a message is; nowhere if it is left out."""
    return next(((at, end) for key, at, end in fields(data, start, stop) if key == wanted), (0, 0))
