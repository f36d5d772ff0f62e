"""Faults of a real cluster: made, waited for, and looked at."""

import json
from datetime import datetime
from typing import Any

from kwokctl.expr.duration import parse_duration
from tests.support.installed import Installed, until

JOURNAL, OPEN_FAULTS = "kwokctl.dev/faults", "kwokctl.dev/open-faults"


def inject(cluster: Installed, name: str, found: str, **spec: Any) -> None:
    """Make a Fault of a class, and wait until all of it is shown; `spec` has its other fields, `for` as `lasts`."""
    create(cluster, name, found, **spec)
    until(f"{name} has landed", lambda: phase(cluster, name) == "Landed")


def create(cluster: Installed, name: str, found: str, **spec: Any) -> None:
    """Make a Fault of a class."""
    if "lasts" in spec:
        spec["for"] = spec.pop("lasts")
    document = {
        "apiVersion": "kwokctl.dev/v1alpha1",
        "kind": "Fault",
        "metadata": {"name": name},
        "spec": {"class": found, **spec},
    }
    cluster.create(document)


def status(cluster: Installed, name: str) -> dict[str, Any]:
    """Return the status of a Fault."""
    found: dict[str, Any] = cluster.found("faults", name).get("status", {})
    return found


def phase(cluster: Installed, name: str) -> str:
    """Return the phase of a Fault; empty before it has one."""
    return str(status(cluster, name).get("phase", ""))


def shows(cluster: Installed, node: str) -> set[str]:
    """Return the names of the Faults that a node shows."""
    text = cluster.found("nodes", node)["metadata"].get("annotations", {}).get(OPEN_FAULTS, "[]")
    return {each["fault"] for each in json.loads(text)}


def seconds(duration: str) -> float:
    """Return the seconds of a duration as statuses have it."""
    return parse_duration(duration)


def renewed(cluster: Installed) -> datetime:
    """Return the last renewal of the clock of faults."""
    lease = cluster.found("leases", "kwokctl-fault-clock", "-n", "kube-node-lease")
    return datetime.fromisoformat(lease["spec"]["renewTime"])


def stood(cluster: Installed) -> float:
    """Return the seconds for which the clock of faults has stood still."""
    lease = cluster.found("leases", "kwokctl-fault-clock", "-n", "kube-node-lease")
    return float(lease["metadata"]["annotations"]["kwokctl.dev/stood-still"])


def age(cluster: Installed, name: str) -> float:
    """Return the seconds for which a Fault had been open at the last renewal of the clock."""
    lease = cluster.found("leases", "kwokctl-fault-clock", "-n", "kube-node-lease")
    stood = float(lease["metadata"]["annotations"]["kwokctl.dev/stood-still"])
    at = datetime.fromisoformat(lease["spec"]["renewTime"]).timestamp()
    return at - stood - float(status(cluster, name)["clock"])
