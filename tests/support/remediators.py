"""Clients of an API server that act in the name of a user, as remediators do."""

from pathlib import Path

from tests.support.api_clients import ApiClient, Reply

_MERGE = "application/merge-patch+json"


class Remediator:
    """A user of a cluster with all rights, who sends each request once."""

    def __init__(self, kubeconfig: Path, user: str, manager: str) -> None:
        """Act as `user`; what is set is owned by the field manager `manager`."""
        self._manager = manager
        headers = {"Impersonate-User": user, "Impersonate-Group": "system:masters"}
        self._client = ApiClient(kubeconfig, agent=f"{manager}/1", headers=headers)
        self._patching = ApiClient(
            kubeconfig, agent=f"{manager}/1", headers=headers | {"Content-Type": _MERGE}
        )

    def cordon(self, node: str, *, undo: bool = False) -> None:
        """Keep pods away from a node, or let them come again."""
        body = {"spec": {"unschedulable": None if undo else True}}
        path = f"/api/v1/nodes/{node}?fieldManager={self._manager}"
        _accepted(self._patching.ask(path, "PATCH", body))

    def evict(self, pod: str) -> int:
        """Evict a pod of the namespace `default`; return the status of the answer."""
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        return self._client.ask(f"{_pod(pod)}/eviction", "POST", body).status

    def delete(self, pod: str, *, grace: int | None = None) -> None:
        """Delete a pod of the namespace `default`, whatever protects it."""
        options = {} if grace is None else {"gracePeriodSeconds": grace}
        _accepted(self._client.ask(_pod(pod), "DELETE", options))


def _pod(name: str) -> str:
    return f"/api/v1/namespaces/default/pods/{name}"


def _accepted(reply: Reply) -> None:
    assert reply.status < 300, reply.body.decode(errors="replace")
