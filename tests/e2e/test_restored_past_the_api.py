"""Pods of a file come out the same, whether they go through the API server or past it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.restoring.checking import checked
from kwokctl.clusters.object_files.restoring.loading import LoadCounts
from kwokctl.clusters.object_files.restoring.restore import load_items
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.config.options import with_values
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.objects.stored_values import decoded
from kwokctl.etcd.kv.kv import prefix_end
from kwokctl.host.paths import WorkDir, cache_dir
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.replacing import replace
from tests.support import changing
from tests.support.installed import Installed

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

SPACE, MANY, ODD = "crowd", 40, 4
OWN = ("uid", "creationTimestamp", "managedFields")
"""Metadata that differ between two restores, whichever way they go."""
STATUS = {
    "phase": "Running",
    "startTime": "2026-01-01T00:00:00Z",
    "conditions": [
        {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"}
    ],
}


@pytest.fixture
def cluster(storage: Installed) -> Iterator[Installed]:
    """The shared cluster with a namespace, in which pods may be."""
    storage.create(changing.namespace(SPACE))
    storage.kubectl("create", "serviceaccount", "default", "--namespace", SPACE)
    yield storage
    _empty(storage)
    storage.delete("namespace", SPACE, "--wait=false")
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    path = f"/api/v1/namespaces/{SPACE}/finalize"
    storage.kubectl("replace", "--raw", path, "-f", "-", stdin=json.dumps(space))


def _empty(cluster: Installed) -> None:
    cluster.delete("-n", SPACE, "pods", "--all", "--force", "--grace-period=0")


def _file(cluster: Installed) -> Path:
    """Write pods that are alike, and some that are not, as an API server has completed them."""
    cluster.kubectl("-n", SPACE, "run", "model", "--image=nginx", "--restart=Never")
    model = cluster.found("pod", "model", "-n", SPACE)
    pods = [_pod(model, number) for number in range(MANY)]
    pods[7]["spec"]["containers"][0]["image"] = "other"
    pods[8]["metadata"]["labels"] = {"not": "a value!"}
    pods[9]["status"]["podIP"] = "no address"
    del pods[10]["spec"]["tolerations"]
    path = cluster.folder / "crowd.yaml"
    path.write_text("\n---\n".join(json.dumps(pod) for pod in pods))
    return path


def _pod(model: Json, number: int) -> Json:
    name, ip = f"p-{number}", f"10.0.0.{number + 1}"
    uid = f"00000000-0000-4000-8000-{number:012}"
    spec = json.dumps({**model["spec"], "nodeName": f"n-{number % 3}"})
    token = next(volume["name"] for volume in model["spec"]["volumes"])
    labels = {"number": str(number)}
    return {
        **model,
        "metadata": {"name": name, "namespace": SPACE, "uid": uid, "labels": labels},
        "spec": json.loads(spec.replace(token, f"kube-api-access-{number:05}")),
        "status": {**STATUS, "qosClass": "BestEffort", "podIP": ip, "podIPs": [{"ip": ip}]},
    }


async def _restored(cluster: Installed, file: Path, data_path: str) -> LoadCounts:
    home = Home(workdir=WorkDir(cluster.workdir), cache=cache_dir())
    async with reached(home, cluster_name(cluster.name)) as reach:
        items = checked(ObjectFile(file), await served_kinds(reach.client), (), 0)
        return await load_items(_by(reach, data_path), items, NewUids())


def _by(reach: Reach, data_path: str) -> Reach:
    options = with_values(reach.saved.options, {"data_path": data_path})
    return replace(reach, saved=replace(reach.saved, options=options))


async def _stored(cluster: Installed) -> dict[str, Json]:
    home = Home(workdir=WorkDir(cluster.workdir), cache=cache_dir())
    async with reached(home, cluster_name(cluster.name)) as reach:
        folder = Keys(reach.prefix).folder(PODS, SPACE)
        page = await reach.kv.page(folder, prefix_end(folder))
    return {each.key.decode(): decoded(each.value).document for each in page.items}


def _without_own(pod: Json) -> Json:
    return {**pod, "metadata": {k: v for k, v in pod["metadata"].items() if k not in OWN}}


def test_pods_are_stored_the_same_either_way(cluster: Installed) -> None:
    file = _file(cluster)
    _empty(cluster)
    counts, states, past = {}, {}, {}
    for data_path in ("api", "etcd"):
        counts[data_path] = asyncio.run(_restored(cluster, file, data_path))
        stored = asyncio.run(_stored(cluster))
        past[data_path] = sum("managedFields" not in each["metadata"] for each in stored.values())
        states[data_path] = {key: _without_own(each) for key, each in stored.items()}
        _empty(cluster)

    assert past == {"api": 0, "etcd": MANY - 1 - ODD}
    assert len(states["etcd"]) == MANY - 1
    assert states["etcd"] == states["api"]
    assert sorted(counts["etcd"].failed) == sorted(counts["api"].failed)
