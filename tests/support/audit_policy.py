"""Clusters with an audit log of every request, which has the pods that were created."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.support.installed import Installed

_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create]
  resources: [{group: "", resources: [pods]}]
- level: Metadata
"""


def options(cluster: Installed) -> Sequence[str]:
    """Return how a cluster is created that has the log."""
    policy = cluster.folder / "audit.yaml"
    policy.write_text(_POLICY)
    return ("--kube-audit-policy", str(policy))


def log_of(cluster: Installed) -> Path:
    """Return the audit log of a cluster."""
    return cluster.workdir / "clusters" / cluster.name / "logs/audit.log"


def creations(cluster: Installed, plural: str, subresource: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events of a log in which objects of a kind, or subresources of them, were created or could not be."""
    for line in log_of(cluster).read_bytes().splitlines():
        event: dict[str, Any] = msgspec.json.decode(line)
        about = event.get("objectRef", {})
        is_about = (about.get("resource"), about.get("subresource", "")) == (plural, subresource)
        if event["verb"] == "create" and is_about and "dryRun" not in event["requestURI"]:
            yield event
