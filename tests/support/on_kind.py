"""Clusters on a node of kind's, of the tests' own image."""

from tests.support.installed import Installed

PATIENCE = 300.0
"""Seconds in which a node starts on a busy machine."""
OWN = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
- role: control-plane
  labels:
    from: the-user
"""


def create(cluster: Installed, *words: str, runtime: str = "kind") -> None:
    """Create a cluster with that configuration of kind, which lies in the cluster's folder."""
    own = own_file(cluster)
    cluster.ok("--config", own, "create", "cluster", "--runtime", runtime, *words, timeout=PATIENCE)


def own_file(cluster: Installed) -> str:
    """Return a file with the user's own configuration of kind."""
    file = cluster.folder / "own.yaml"
    file.write_text(OWN)
    return str(file)


def fake_nodes(cluster: Installed) -> int:
    """Count the nodes that are not kind's."""
    return len(cluster.objects("nodes", "--selector", "type=kwok"))
