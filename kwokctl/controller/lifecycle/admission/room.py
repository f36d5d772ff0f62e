"""What nodes have left for pods, and whether they take one more."""

from kwokctl.controller.lifecycle.admission.commitments import Commitments
from kwokctl.controller.lifecycle.admission.node_state import node_state
from kwokctl.controller.lifecycle.admission.refusal import Refusal, refusal_of
from kwokctl.controller.lifecycle.admission.requests import Amounts, requests_of
from kwokctl.controller.nodes.facts import NO_FACTS
from kwokctl.controller.nodes.registry import NodeRegistry
from kwokctl.json_value import Json


class NodeRoom:
    """The pods that live as on a kubelet, counted on their nodes."""

    def __init__(self, nodes: NodeRegistry) -> None:
        """Begin without pods."""
        self._nodes = nodes
        self._commitments = Commitments()

    def refusal(self, node: str, uid: str, pod: Json, requests: Amounts) -> Refusal | None:
        """Return why a node refuses a pod that requests so much; None if it takes it, which is then counted."""
        known = self._nodes.get(node)
        facts = NO_FACTS if known is None else known.facts
        used = self._commitments.used(node, without=uid)
        refusal = refusal_of(pod, node_state(node, facts, used), requests)
        if refusal is None:
            self._commitments.take(node, uid, requests)
        return refusal

    def note(self, node: str, uid: str, pod: Json) -> None:
        """Count a pod that the node has taken before; again if its spec is another one."""
        meta = pod["metadata"]
        is_changed = meta.get("generation") != pod["status"].get("observedGeneration")
        if is_changed or not self._commitments.counts(node, uid):
            self._commitments.take(node, uid, requests_of(pod["spec"]))

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        self._commitments.release(node, uid)
