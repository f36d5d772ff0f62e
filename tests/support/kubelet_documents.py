"""Documents of a cluster whose kubelet server answers for containers: logs, commands, attaching and ports."""

from collections.abc import Sequence

from tests.support import changing
from tests.support.direct import PODS_ON_NODES
from tests.support.installed import Installed

DOCUMENTS = """\
kind: Logs
metadata: {name: pod-000001}
spec: {logs: [{logsFile: FOLDER/written.log}]}
---
kind: Logs
metadata: {name: pod-000002}
spec: {logs: [{logsFile: FOLDER/docker.log}]}
---
kind: ClusterLogs
metadata: {name: all}
spec:
  logs:
  - generated: {template: "{{ .pod }} line {{ .line }}", linesPerSecond: 20}
---
kind: ClusterExec
metadata: {name: all}
spec: {execs: [{local: {workDir: FOLDER, envs: [{name: GREETING, value: hello}]}}]}
---
kind: Exec
metadata: {name: closed}
spec: {execs: []}
---
kind: ClusterAttach
metadata: {name: all}
spec: {attaches: [{logsFile: FOLDER/attached.log}]}
---
kind: ClusterPortForward
metadata: {name: all}
spec: {forwards: [{ports: [80], command: [tr, a-z, A-Z]}]}
"""


def options(cluster: Installed) -> Sequence[str]:
    """Return how a cluster is created that has the documents."""
    documents = cluster.folder / "documents.yaml"
    documents.write_text(DOCUMENTS.replace("FOLDER", str(cluster.folder)))
    return ("--config", str(documents), *PODS_ON_NODES)


def populate(cluster: Installed) -> list[str]:
    """Make two nodes and the account that pods need; return the names of the nodes."""
    cluster.create(changing.service_account("default"))
    cluster.ok("scale", "node", "--replicas", "2")
    # What is declared before a node is Ready would be overwritten.
    nodes = cluster.names("nodes")
    cluster.wait_for("Ready", *(f"node/{name}" for name in nodes))
    return nodes
