"""The addresses of one new pod and of its node; addresses of others are unknown."""

from collections.abc import Sequence

from kwokctl.dataplane.copies.own_values import OwnValues
from kwokctl.errors import ExpressionError
from kwokctl.expr.gotemplate.symbols import Symbol
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
