"""What the pods of each node request together, kept up as pods come and go."""

from collections import Counter, defaultdict

from kwokctl.controller.lifecycle.admission.requests import Amounts


class Commitments:
    """The requests of the pods that their nodes have taken."""

    def __init__(self) -> None:
        """Begin without pods."""
        self._nodes: defaultdict[str, dict[str, Amounts]] = defaultdict(dict)

    def take(self, node: str, uid: str, requests: Amounts) -> None:
        """Count a pod, or count it anew."""
        self._nodes[node][uid] = requests

    def counts(self, node: str, uid: str) -> bool:
        """Return whether a pod is counted."""
        return node in self._nodes and uid in self._nodes[node]

    def release(self, node: str, uid: str) -> None:
        """Do not count a pod any more."""
        pods = self._nodes.get(node)
        if pods is None:
            return
        pods.pop(uid, None)
        if not pods:
            del self._nodes[node]

    def used(self, node: str, *, without: str) -> dict[str, int]:
        """Return what the pods of a node request, without one of them, and under "pods" their number."""
        total: Counter[str] = Counter()
        for uid, requests in self._nodes.get(node, {}).items():
            if uid != without:
                total.update({"pods": 1, **dict(requests)})
        return total
