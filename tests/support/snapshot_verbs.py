"""What `snapshot` and `etcd` do with objects, as steps of the life of a cluster in any runtime."""

import json
import signal
import subprocess
from collections.abc import Callable, Mapping

from kwokctl.json_value import Json
from tests.support.installed import PATIENCE, Installed, until
from tests.support.on_kind import fake_nodes

_NAME, _NODE = "noted", "node-000001"


def _data(cluster: Installed) -> object:
    return cluster.found("configmap", _NAME)["data"]


def changes_are_rewound(cluster: Installed) -> None:
    """Mark a cluster, lose and make something, and go back twice in a row."""
    nodes = fake_nodes(cluster)
    cluster.ok("snapshot", "mark")
    assert "mark" in cluster.ok("snapshot", "list")
    kept = _node(cluster)
    cluster.kubectl("create", "namespace", "new")
    cluster.delete("node", _NODE)

    for _ in range(2):
        cluster.ok("snapshot", "rewind", timeout=PATIENCE)

    assert _node(cluster)["metadata"]["uid"] == kept["metadata"]["uid"]
    assert fake_nodes(cluster) == nodes
    assert "new" not in cluster.kubectl("get", "namespaces", "-o", "name")
    assert cluster.statuses() == {"Ready"}
    cluster.ok("snapshot", "drop", "--all")


def _node(cluster: Installed) -> Json:
    return json.loads(cluster.ok("etcd", "get", "no", _NODE, "-o", "json"))


def objects_leave_and_come_back(cluster: Installed) -> None:
    """Save and export an object, delete it, and restore it."""
    own = str(cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml")
    saved, exported = (cluster.folder / f"{name}.yaml" for name in ("saved", "exported"))
    only = ("--format", "k8s", "--filter", "configmap", "--path", str(saved))
    cluster.kubectl("create", "configmap", _NAME, "--from-literal=a=1")
    cluster.ok("snapshot", "save", *only)
    cluster.ok("snapshot", "export", "--kubeconfig", own, *only[2:-1], str(exported))
    assert exported.read_text() == saved.read_text()
    cluster.delete("configmap", _NAME)

    cluster.ok("snapshot", "restore", *only, timeout=PATIENCE)

    assert _data(cluster) == {"a": "1"}
    assert cluster.statuses() == {"Ready"}
    saved.unlink()
    exported.unlink()


def changes_are_replayed(cluster: Installed) -> None:
    """Record a change, undo it, and play the recording."""
    file = cluster.folder / "recorded.yaml"
    part = file.with_name("recorded.yaml.part")
    recorder = cluster.start("snapshot", "record", "--path", str(file), "--filter", "configmap")
    until("the recording has begun", lambda: part.exists() and _NAME in part.read_text())
    cluster.patch("configmap", _NAME, "-p", '{"data":{"a":"2"}}')
    until("the change is recorded", lambda: 'method: "patch"' in part.read_text())
    recorder.send_signal(signal.SIGINT)
    _, said = recorder.communicate(timeout=PATIENCE)
    assert recorder.returncode == 0, said
    cluster.patch("configmap", _NAME, "-p", '{"data":{"a":"1"}}')

    cluster.ok("snapshot", "replay", "--path", str(file), "--speed", "100", timeout=PATIENCE)

    assert _data(cluster) == {"a": "2"}
    file.unlink()


def a_socket_rewinds(cluster: Installed) -> None:
    """Mark and rewind by requests to the socket of `snapshot serve`."""
    server = cluster.start("snapshot", "serve")
    assert server.stdout is not None
    socket = server.stdout.readline().split()[-1]
    try:
        _posted(socket, "mark")
        cluster.patch("configmap", _NAME, "-p", '{"data":{"a":"3"}}')
        _posted(socket, "rewind")
        assert _data(cluster) == {"a": "2"}
        _posted(socket, "drop", '{"all": true}')
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE)


def _posted(socket: str, what: str, body: str = "{}") -> None:
    words = ("curl", "-sSf", "--unix-socket", socket, "-d", body, f"http://marks/{what}")
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)


def etcd_is_written(cluster: Installed) -> None:
    """Take an object out of etcd, change it there, and delete it, by either command."""
    text = cluster.ok("etcd", "get", "configmap", _NAME, "-n", "default", "-o", "json")
    changed = json.loads(text)
    changed["data"] = {"a": "4"}
    file = cluster.folder / "put.json"
    file.write_text(json.dumps(changed))
    cluster.ok("etcd", "put", "--path", str(file))
    file.unlink()
    assert _data(cluster) == {"a": "4"}

    cluster.ok("kectl", "delete", "configmap", _NAME, "-n", "default")

    assert _NAME not in cluster.kubectl("get", "configmaps", "-o", "name")


VERBS: Mapping[str, Callable[[Installed], None]] = {
    "restore": objects_leave_and_come_back,
    "replay": changes_are_replayed,
    "serve": a_socket_rewinds,
    "etcd put": etcd_is_written,
}
"""Each stands on what those before it have left."""
