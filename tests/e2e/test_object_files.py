"""Objects leave one API server for a file, and come back from it, with all that refers to them."""

import json
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from kwokctl.json_value import Json
from tests.support.changing import documents
from tests.support.installed import PATIENCE, Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

SPACE = "twin"
KINDS = (
    "namespace,serviceaccount,configmap,persistentvolumeclaim,persistentvolume,pod,service,"
    "deployment.apps,replicaset.apps,job.batch,crd,lamps.example.net"
)
WORLD = Path(__file__).parent / "object_files" / "world.yaml"
UNTIMED = ("uid", "creationTimestamp", "resourceVersion", "managedFields", "generation")
IN_PART = """
apiVersion: v1
kind: ConfigMap
metadata: {name: taken, namespace: default}
---
apiVersion: v1
kind: Secret
metadata: {name: Not_A_Name, namespace: default}
"""


@pytest.fixture(scope="module")
def cluster(storage: Installed) -> Iterator[Installed]:
    """The shared cluster with something of each kind in a namespace; no controller acts on it."""
    storage.apply(*documents(WORLD.read_text()))
    storage.wait_for("Established", "crd/lamps.example.net")
    storage.create(LAMP)
    claim = _get(storage, "pvc/data")["metadata"]["uid"]
    bound = json.dumps({"spec": {"claimRef": {"uid": claim}}})
    storage.patch("pv/disk", "--type=merge", "-p", bound)
    _own(storage, "replicaset/front-1", "deployment/front")
    _own(storage, "pod/front-1-a", "replicaset/front-1")
    _own(storage, "configmap/lit", "lamp/hall")
    storage.patch("-n", SPACE, "pod/front-1-a", "--subresource=status", "-p", json.dumps(STATUS))
    yield storage
    _forget(storage)


LAMP = {
    "apiVersion": "example.net/v1",
    "kind": "Lamp",
    "metadata": {"name": "hall", "namespace": SPACE},
    "spec": {"watts": 7, "owners": {"gladys": "gladys"}},
}
STATUS = {"status": {"phase": "Running", "podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]}}


def _get(cluster: Installed, what: str) -> Json:
    return cluster.found(what, "-n", SPACE)


def _own(cluster: Installed, what: str, by: str) -> None:
    owner = _get(cluster, by)
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    patch = {"metadata": {"ownerReferences": [reference]}}
    cluster.patch("-n", SPACE, what, "--type=merge", "-p", json.dumps(patch))


def _forget(cluster: Installed, space: str = SPACE) -> None:
    """Take all in a namespace away, as controllers would that do not run here."""
    patch = '{"metadata":{"finalizers":null}}'
    named = [
        f"{kind}/{name}" for kind in ("pvc", "pods") for name in cluster.names(kind, "-n", space)
    ]
    volumes = [volume for volume in _volumes(cluster) if volume["space"] == space]
    for what in (*named, *(volume["name"] for volume in volumes)):
        cluster.patch("-n", space, what, "-p", patch, "--type=merge")
    kinds = "lamps,pods,replicasets,deployments,jobs,services,configmaps,secrets,pvc,sa"
    cluster.delete("-n", space, kinds, "--all", "--force", "--grace-period=0")
    cluster.delete(*(volume["name"] for volume in volumes))
    if space == SPACE:
        cluster.delete("crd/lamps.example.net")
    cluster.delete("namespace", space, "--wait=false")
    wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}
    path = f"/api/v1/namespaces/{space}/finalize"
    cluster.kubectl("replace", "--raw", path, "-f", "-", stdin=json.dumps(wanted))


def _volumes(cluster: Installed) -> list[dict[str, str]]:
    found = cluster.objects("pv")
    return [
        {"name": f"pv/{v['metadata']['name']}", "space": v["spec"]["claimRef"]["namespace"]}
        for v in found
    ]


def _without_identity(value: Json) -> Json:
    """Return an object as it was written by its maker."""
    text = {k: v for k, v in value["metadata"].items() if k not in UNTIMED}
    for owner in text.get("ownerReferences", ()):
        owner.pop("uid")
    return {**value, "metadata": text}


def _state(path: Path) -> dict[tuple[str, str], Json]:
    objects = yaml.safe_load_all(path.read_bytes())
    return {
        (each["kind"], each["metadata"]["name"]): each
        for each in objects
        if each["metadata"].get("namespace") == SPACE or each["kind"] == "PersistentVolume"
    }


def test_a_cluster_is_saved_without_its_secrets(cluster: Installed) -> None:
    done = cluster.run(
        "snapshot", "save", "--format", "k8s", "--path", str(_file(cluster)), "--force"
    )

    assert done.code == 0, done.err
    text = _file(cluster).read_text()
    assert "front-1-a" in text
    assert "kind: Lamp" in text
    assert "kind: Secret" not in text
    assert "hush" not in text


def _file(cluster: Installed, name: str = "twin.yaml") -> Path:
    return cluster.folder / name


def test_what_was_deleted_comes_back_as_it_was(cluster: Installed) -> None:
    before = _state(_file(cluster))
    _forget(cluster)

    done = cluster.run("snapshot", "restore", "--format", "k8s", "--path", str(_file(cluster)))

    assert done.code == 0, done.err
    assert "refused" not in done.err
    assert "without their owner" not in done.err
    again = _file(cluster, "again.yaml")
    cluster.ok(
        "snapshot", "save", "--format", "k8s", "--path", str(again), "--force", "--filter", KINDS
    )
    after = _state(again)
    assert sorted(before) == sorted(after)
    for key, value in before.items():
        if key[0] != "Job":
            assert _without_identity(after[key]) == _follow(_without_identity(value), after), key


def _follow(value: Json, after: dict[tuple[str, str], Json]) -> Json:
    """Return a volume as it is when it belongs to the new claim."""
    if value["kind"] == "PersistentVolume":
        claim = after["PersistentVolumeClaim", "data"]["metadata"]
        value["spec"]["claimRef"]["uid"] = claim["uid"]
    return value


def test_a_second_restore_updates_what_is_there(cluster: Installed) -> None:
    cluster.patch("-n", SPACE, "configmap/lit", "-p", '{"data":{"by":"nothing"}}')

    done = cluster.run(
        "snapshot", "restore", "--format", "k8s", "--path", str(_file(cluster)), "--filter", "cm"
    )

    assert done.code == 0, done.err
    assert "0 objects created" in done.err
    assert _get(cluster, "configmap/lit")["data"] == {"by": "the lamp"}


def test_any_cluster_is_exported_by_its_kubeconfig_page_by_page(cluster: Installed) -> None:
    path = _file(cluster, "exported.yaml.gz")
    config = str(cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml")
    done = cluster.run(
        "snapshot", "export", "--kubeconfig", config, "--path", str(path), "--page-size", "3",
        "--qps", "200", "--filter", "pod,configmap", "--as", "system:admin", "--as-group", "system:masters",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert path.read_bytes()[:2] == b"\x1f\x8b"

    refused = cluster.run(
        "snapshot", "export", "--kubeconfig", config, "--path", f"{path}2", "--as", "nobody-known"
    )
    assert refused.code == 1
    assert "nobody-known" in refused.err


def test_a_twin_has_the_shape_of_the_cluster_and_none_of_its_words(cluster: Installed) -> None:
    path = _file(cluster, "twin-of-it.yaml")
    config = str(cluster.workdir / "clusters" / cluster.name / "kubeconfig.yaml")
    kinds = f"{KINDS},secret"
    cluster.ok(
        "snapshot", "export", "--kubeconfig", config, "--path", str(path), "--rules", "twin",
        "--filter", kinds,
    )  # fmt: skip
    text = path.read_text()
    for word in ("hush", "gladys", "front", "nginx", "somewhere", "disk", "hall", f'"{SPACE}"'):
        assert word not in text, word

    done = cluster.run("snapshot", "restore", "--format", "k8s", "--path", str(path))

    assert done.code == 0, done.err
    assert "refused" not in done.err
    lamps = cluster.objects("lamps", "-A")
    lamp = next(each for each in lamps if each["metadata"]["name"] != "hall")
    assert lamp["spec"]["watts"] == 7
    (key,) = lamp["spec"]["owners"]
    assert lamp["spec"]["owners"] == {key: key}
    _forget(cluster, lamp["metadata"]["namespace"])


def test_a_restore_that_was_refused_in_part_fails_and_says_so(cluster: Installed) -> None:
    path = _file(cluster, "wrong.yaml")
    path.write_text(IN_PART)
    words = ("snapshot", "restore", "--format", "k8s", "--path", str(path))

    done, as_json = cluster.run(*words), cluster.run(*words, "-o", "json")

    assert (done.code, as_json.code) == (1, 1)
    assert f"restored a part of '{path}'" in done.err
    assert "1 refused:" in done.err
    assert len(json.loads(as_json.out)["result"]["failed"]) == 1
    cluster.delete("configmap", "taken")


def test_a_service_with_a_port_of_the_nodes_is_updated(cluster: Installed) -> None:
    path = _file(cluster, "port.yaml")
    cluster.kubectl("-n", SPACE, "create", "service", "nodeport", "outside", "--tcp=80")
    service = _get(cluster, "service/outside")
    path.write_text(json.dumps(service))

    cluster.ok("snapshot", "restore", "--format", "k8s", "--path", str(path))

    assert _get(cluster, "service/outside")["spec"] == service["spec"]
    cluster.delete("-n", SPACE, "service", "outside")


def test_what_happens_is_recorded_and_done_again(cluster: Installed) -> None:
    path, wanted = _file(cluster, "recorded.yaml"), "configmap,pod"
    recorder = cluster.start("snapshot", "record", "--path", str(path), "--filter", wanted)
    part = path.with_name("recorded.yaml.part")
    until("the recording has begun", lambda: part.exists() and "front-1-a" in part.read_text())
    kubectl = partial(cluster.kubectl, "-n", SPACE)
    kubectl("create", "configmap", "seen", "--from-literal=a=1")
    kubectl("patch", "configmap/seen", "-p", '{"data":{"a":null,"b":"2"}}')
    kubectl("patch", "pod/front-1-a", "--type=merge", "-p", LABELS)
    kubectl("patch", "pod/front-1-a", "--subresource=status", "-p", '{"status":{"phase":"Failed"}}')
    kubectl("delete", "configmap", "lit")
    until("all of it is recorded", lambda: part.read_text().count('method: "delete"') == 1)
    recorder.send_signal(signal.SIGINT)
    _, said = recorder.communicate(timeout=PATIENCE)
    assert recorder.returncode == 0, said
    kubectl("delete", "configmap", "seen")

    done = cluster.run("snapshot", "replay", "--path", str(path), "--speed", "100")

    assert done.code == 0, done.err
    assert "refused" not in done.err
    assert _get(cluster, "configmap/seen")["data"] == {"b": "2"}
    pod = _get(cluster, "pod/front-1-a")
    assert pod["metadata"]["labels"] == {"app": "front", "new": "yes"}
    assert pod["metadata"]["finalizers"] == ["example.net/b"]
    assert pod["status"]["phase"] == "Failed"
    assert "lit" not in cluster.kubectl("-n", SPACE, "get", "configmaps", "-o", "name")


LABELS = '{"metadata":{"labels":{"new":"yes"},"finalizers":["example.net/b"]}}'
