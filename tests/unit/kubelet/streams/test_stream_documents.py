""""""

import pytest

from kwokctl.errors import ConfigError
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.streams.stream_routes import StreamRoutes
from tests.support.stream_server import Pods, read_documents


def _read(text: str) -> None:
    StreamRoutes(Pods(), read_documents(text), FileChanges(), {}, {})


WHOLE = """
kind: Exec
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: web, namespace: default}
spec:
  execs:
  - containers: [main, side]
    local:
      workDir: /tmp
      envs: [{name: A, value: b}, {name: EMPTY}]
      securityContext: {runAsUser: 1000, runAsGroup: 1000}
---
kind: ClusterExec
metadata: {name: all}
spec: {selector: {matchNamespaces: [a], matchNames: [b]}, execs: [{local: {}}]}
---
kind: Attach
metadata: {name: web}
spec: {attaches: [{containers: [main], logsFile: /var/log/x}]}
---
kind: ClusterAttach
metadata: {name: all}
spec: {attaches: [{logsFile: /var/log/x}]}
---
kind: PortForward
metadata: {name: web}
spec: {forwards: [{ports: [80], target: {address: localhost, port: 8080}}]}
---
kind: ClusterPortForward
metadata: {name: all}
spec: {selector: {matchNames: [b]}, forwards: [{command: [socat, "-", "TCP:localhost:80"]}]}
---
kind: Stage
metadata: {name: of-others}
"""


def test_all_fields_of_the_original_are_known() -> None:
    _read(WHOLE)


@pytest.mark.parametrize(
    "spec",
    [
        "execs: [{}]",
        "execs: [{containers: null, local: {envs: null, securityContext: null}}]",
        "attaches: [{}]",
        "attaches: [{containers: [a], logsFile: null}]",
        "forwards: [{}]",
        "forwards: [{ports: [80], target: null}]",
        "selector: null",
        "selector: {matchNames: null}",
    ],
)
def test_what_is_not_yet_usable_is_read(spec: str) -> None:
    kinds = {"execs": "ClusterExec", "attaches": "ClusterAttach", "forwards": "ClusterPortForward"}
    kind = kinds.get(spec.partition(":")[0], "ClusterExec")
    _read(f"kind: {kind}\nmetadata: {{name: all}}\nspec: {{{spec}}}\n")
    _read(f"kind: {kind}\nmetadata: {{name: all}}\n")


@pytest.mark.parametrize(
    ("kind", "entry", "problem"),
    [
        ("ClusterExec", "execs: [{locl: {}}]", "'spec.execs[0]'"),
        ("ClusterExec", "execs: [{local: {workdir: /}}]", "'spec.execs[0].local'"),
        ("ClusterExec", "execs: [{local: {envs: [{name: A=B}]}}]", "'spec.execs[0].local.envs[0].name'"),
        ("ClusterExec", "execs: [{local: {envs: [{value: B}]}}]", "'spec.execs[0].local.envs[0]'"),
        ("ClusterExec", "execs: [{local: {securityContext: {runAsUser: -1}}}]", "runAsUser"),
        ("ClusterAttach", "attaches: [{logFile: /a}]", "'spec.attaches[0]'"),
        ("ClusterPortForward", "forwards: [{ports: [0], command: [a]}]", "'spec.forwards[0].ports[0]'"),
        ("ClusterPortForward", "forwards: [{target: {address: a}}]", "'spec.forwards[0].target'"),
        ("ClusterPortForward", "forwards: [{target: {address: '', port: 1}}]", "address"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(kind: str, entry: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        _read(f"kind: {kind}\nmetadata: {{name: all}}\nspec: {{{entry}}}\n")

    assert problem in str(raised.value)
