"""The free resources of nodes, and the decision whether a pod fits."""

from kwokctl.controller.lifecycle.admission.claims import Claims, claims_of
from kwokctl.controller.lifecycle.admission.commitments import Commitments
from kwokctl.controller.lifecycle.admission.node_state import node_state
from kwokctl.controller.lifecycle.admission.refusal import Refusal, refusal_of
from kwokctl.controller.nodes.facts import NO_FACTS
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.kube.stored_json import ObjectInJson


class NodeRoom:
    """The pods that live as on a kubelet, counted on their nodes."""

    def __init__(self, nodes: NodeRegistry) -> None:
        self._nodes = nodes
        self._commitments = Commitments()

    def refusal(self, node: str, uid: str, pod: ObjectInJson, claims: Claims) -> Refusal | None:
        """Return why a node refuses a pod that takes so much; None if it admits it, which is then counted."""
        known = self._nodes.get(node)
        facts = NO_FACTS if known is None else known.facts
        used = self._commitments.used(node, without=uid)
        ports = self._commitments.ports(node, without=uid) if claims.ports else ()
        refusal = refusal_of(pod, node_state(node, facts, used, ports), claims)
        if refusal is None:
            self._commitments.take(node, uid, claims)
        return refusal

    def note(self, node: str, uid: str, pod: ObjectInJson) -> None:
        """Count a pod that the node has taken before; count it again if its spec has changed."""
        meta = pod["metadata"]
        is_changed = meta.get("generation") != pod["status"].get("observedGeneration")
        if is_changed or not self._commitments.counts(node, uid):
            self._commitments.take(node, uid, claims_of(pod["spec"]))

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        self._commitments.release(node, uid)
