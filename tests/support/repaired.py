"""Repairs of a real cluster: policies, Repairs that are made and waited for, and their nodes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.injected import shows
from tests.support.installed import Installed, condition, until

OWN = "kwokctl.dev/v1alpha1"
QUICK = {"takes": "2s"}
"""The rules of an action that is soon over."""


@contextmanager
def policy(cluster: Installed, name: str, **spec: Any) -> Iterator[None]:
    """Have a policy in force meanwhile."""
    body = {"apiVersion": OWN, "kind": "RepairPolicy", "metadata": {"name": name}, "spec": spec}
    cluster.create(body)
    try:
        yield
    finally:
        cluster.delete("repairpolicy", name)


def ask(cluster: Installed, name: str, node: str, action: str, **spec: Any) -> None:
    """Make a Repair."""
    fields = {"node": node, "action": action, "takes": "2s", **spec}
    cluster.create(
        {"apiVersion": OWN, "kind": "Repair", "metadata": {"name": name}, "spec": fields}
    )


def repairs(cluster: Installed, node: str) -> list[dict[str, Any]]:
    """Return the Repairs of a node in the order in which they were accepted."""
    found = [each for each in cluster.objects("repairs") if each["spec"]["node"] == node]
    return sorted(found, key=lambda each: str(each.get("status", {}).get("acceptedAt", "~")))


def ended(cluster: Installed, name: str) -> dict[str, Any]:
    """Wait until a Repair is over, and return its status."""
    over = {"Succeeded", "Failed", "Refused"}

    def state() -> dict[str, Any]:
        found: dict[str, Any] = cluster.found("repairs", name).get("status", {})
        return found

    until(f"{name} is over", lambda: state().get("phase") in over)
    return state()


def only_ended(cluster: Installed, node: str) -> dict[str, Any]:
    """Wait until the one Repair of a node is over, and return it."""
    until(f"{node} is repaired", lambda: repairs(cluster, node))
    (one,) = repairs(cluster, node)
    ended(cluster, one["metadata"]["name"])
    (one,) = repairs(cluster, node)
    return one


def node(cluster: Installed, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.found("nodes", name)
    return found


def boot(cluster: Installed, name: str) -> str:
    return str(node(cluster, name)["status"]["nodeInfo"]["bootID"])


def is_healthy(cluster: Installed, name: str) -> bool:
    return condition(node(cluster, name), "Ready") == "True" and not shows(cluster, name)


def use(cluster: Installed, pod: str, name: str) -> None:
    """Put a pod on a node."""
    until("pods may be made", lambda: cluster.objects("serviceaccounts", "-n", "default"))
    cluster.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "default"},
         "spec": {"nodeName": name, "containers": [{"name": "a", "image": "a"}]}}
    )  # fmt: skip


def uid(cluster: Installed, name: str) -> str:
    """Return the uid of a node; empty while there is none."""
    found = [each for each in cluster.objects("nodes") if each["metadata"]["name"] == name]
    return str(found[0]["metadata"]["uid"]) if found else ""
