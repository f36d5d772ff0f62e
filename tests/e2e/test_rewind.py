"""A cluster goes back to a mark while its API server and its watches go on."""

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest

from kwokctl import Cluster
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.json_value import Json
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.resource import CONFIG_MAPS
from kwokctl.kube.transport.pool import Pool
from tests.support.eventually import eventually
from tests.support.followers import Event, Follower, Manner
from tests.support.installed import Installed, until
from tests.support.planes import connected, paths, reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

State = Mapping[bytes, bytes]
"""What a rewind puts back: values by key."""
OLD, NEW = [f"old-{n}" for n in range(30)], [f"new-{n}" for n in range(10)]
CHANGED, DELETED = OLD[:20], OLD[20:]
BUSY: Json = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "busy"},
    "spec": {
        "replicas": 60,
        "selector": {"matchLabels": {"app": "busy"}},
        "template": {
            "metadata": {"labels": {"app": "busy"}},
            "spec": {"containers": [{"name": "busy", "image": "busy"}]},
        },
    },
}
WORLD = Path(__file__).parent / "rewind" / "world.yaml"
OBJECTS = Path(__file__).parent / "rewind" / "objects.yaml"


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    """A cluster with something of everything, that has come to rest."""
    installed.ok("create", "cluster", "--wait", "180s", "--etcd-fsync", "off", "--nodes", "3")
    installed.kubectl("apply", "-f", str(WORLD))
    installed.kubectl("wait", "crd/widgets.example.com", "--for=condition=Established")
    installed.kubectl("apply", "-f", str(OBJECTS))
    _create(installed, OLD)
    installed.kubectl("rollout", "status", "deployment/web", "--timeout=120s")
    installed.kubectl("wait", "job/work", "--for=condition=Complete", "--timeout=120s")
    installed.kubectl("wait", "pvc/data", "--for=jsonpath={.status.phase}=Bound", "--timeout=120s")
    yield installed
    installed.ok("delete", "cluster")


def _create(cluster: Installed, names: Sequence[str]) -> None:
    head = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": "1"}}
    cluster.kubectl(
        "create",
        "-f",
        "-",
        stdin="\n".join(json.dumps(head | {"metadata": {"name": name}}) for name in names),
    )


def _state(cluster: Installed) -> State:
    """Return what is stored, without what a rewind leaves alone."""

    async def read() -> State:
        async with reached(cluster) as there:
            pages = [await there.kv.page(*each) for each in RewindScope("/registry").ranges]
            return {item.key: item.value for page in pages for item in page.items}

    return asyncio.run(read())


def _differences(one: State, other: State) -> list[str]:
    return sorted(
        key.decode() for key in one.keys() | other.keys() if one.get(key) != other.get(key)
    )


def _resting(cluster: Installed) -> State:
    """Return what is stored when two looks in a row find the same."""
    seen: list[State] = [{}]

    def rests() -> bool:
        seen.append(_state(cluster))
        return not _differences(seen[-1], seen[-2])

    until("the cluster rests", rests)
    return seen[-1]


def _disturb(cluster: Installed) -> None:
    """Change something of everything, and leave it half done."""
    cluster.kubectl("delete", "--wait=false", "crd/widgets.example.com")
    cluster.kubectl("delete", "--wait=false", "namespace/full", "pvc/data", "pv/disk")
    cluster.kubectl("delete", "deployment/web", "job/work", "service/web", "service/port")
    cluster.kubectl("delete", "node", "node-000000")
    cluster.kubectl("delete", "--wait=false", "configmap/held")
    cluster.kubectl("create", "namespace", "new")
    cluster.kubectl("create", "deployment", "other", "--image=x", "--replicas=7")
    cluster.kubectl("create", "service", "clusterip", "other", "--tcp=80")
    cluster.kubectl("label", "nodes", "--all", "touched=yes")


def test_a_mark_is_listed(cluster: Installed) -> None:
    _resting(cluster)
    assert cluster.run("snapshot", "mark", "rest").code == 0

    assert cluster.ok("snapshot", "list").splitlines()[1].startswith("rest ")


def test_whatever_has_changed_is_as_it_was_at_the_mark(cluster: Installed) -> None:
    before = _state(cluster)
    _disturb(cluster)
    assert "put back" in cluster.ok("snapshot", "rewind", "--dry-run")

    done = cluster.run("snapshot", "rewind")

    assert done.code == 0, done.err
    assert "again and again" not in done.err
    assert _differences(before, _state(cluster)) == []
    cluster.kubectl("create", "deployment", "alive", "--image=x")
    cluster.kubectl("rollout", "status", "deployment/alive", "--timeout=60s")
    cluster.ok("snapshot", "rewind")
    assert _differences(before, _resting(cluster)) == []


def test_a_damaged_mark_is_refused_before_anything_stops(cluster: Installed) -> None:
    cluster.ok("snapshot", "mark", "spoiled", "--max-age", "1h")
    (file,) = paths(cluster).marks.glob("spoiled_*.content")
    content = file.read_bytes()
    file.write_bytes(content[:999] + bytes((content[999] ^ 1,)) + content[1000:])
    pids = cluster.pids()

    assert "is damaged" in cluster.refused("snapshot", "rewind", "spoiled")

    assert cluster.pids() == pids
    cluster.ok("snapshot", "drop", "spoiled")


class Witness(Follower):
    """Counts the changes that a watch shows."""

    changes = 0

    def _take(self, event: Event) -> None:
        self.changes += event.type != "BOOKMARK"
        super()._take(event)


def test_a_watch_goes_on_and_sees_each_change_once(cluster: Installed) -> None:
    number = len(OLD) + len(NEW)

    async def watched() -> int:
        query = ListQuery(resource=CONFIG_MAPS, namespace="default")
        async with connected(cluster) as client, asyncio.TaskGroup() as tasks:
            follower = Witness(client, query, Manner.PAGES)
            task = tasks.create_task(follower.run())
            await eventually(lambda: follower.known)
            changes = [
                ("patch", "configmap", *CHANGED, "-p", '{"data":{"value":"new"}}'),
                ("delete", "--wait=false", "configmap", *DELETED),
            ]
            for words in changes:
                await asyncio.to_thread(cluster.kubectl, *words)
            await asyncio.to_thread(_create, cluster, NEW)
            await eventually(lambda: follower.changes == number)
            await asyncio.to_thread(cluster.ok, "snapshot", "rewind")
            await eventually(lambda: follower.changes >= 2 * number)
            await asyncio.to_thread(cluster.ok, "snapshot", "rewind")
            task.cancel()
            return follower.changes

    assert asyncio.run(watched()) == 2 * number


def test_a_rewind_that_was_killed_at_any_moment_is_done_again(cluster: Installed) -> None:
    before, began = _state(cluster), time.monotonic()
    cluster.ok("snapshot", "rewind")
    whole = time.monotonic() - began
    moments = [random.uniform(0.4, 1) * whole for _ in range(3)]
    for number, after in enumerate(moments):
        cluster.kubectl("label", "--overwrite", "configmaps", "--all", f"touched={number}")
        running = cluster.start("snapshot", "rewind")
        try:
            running.wait(after)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
        running.communicate()

    cluster.ok("snapshot", "rewind")

    assert _differences(before, _resting(cluster)) == [], moments
    assert cluster.statuses() == {"Ready"}


def test_controllers_that_were_at_work_at_a_mark_finish_it_after_the_rewind(
    cluster: Installed,
) -> None:
    there = Cluster.open(cluster.name, workdir=cluster.workdir)
    there.apply(BUSY)
    there.mark("busy")
    there.wait_for("deployment/busy", "Available", timeout=120)
    assert any(each.key.startswith("pods/default/busy-") for each in there.changes("busy"))
    # The scheduler does not bear each rewind of pods that it has bound.
    for _ in range(3):
        there.remove("deployment/busy")
        there.wait_for("pods", "deleted", selector="app=busy", timeout=120)
        there.rewind("busy")
        there.wait_for("deployment/busy", "Available", timeout=120)
    there.mark("done", rest=1)
    assert len(there.find("pods", selector="app=busy")) == 60
    [owner] = there.find("replicasets", selector="app=busy")
    assert owner["status"]["replicas"] == owner["status"]["readyReplicas"] == 60
    assert cluster.statuses() == {"Ready"}
    there.rewind("rest")
    for name in ("busy", "done"):
        there.drop(name)
    there.close()


def test_a_mark_is_good_after_a_restore(cluster: Installed) -> None:
    before = _state(cluster)
    file = cluster.folder / "later.db"
    cluster.kubectl("label", "configmaps", "--all", "touched=yes")
    cluster.ok("snapshot", "save", "--path", str(file))
    cluster.ok("snapshot", "rewind")
    cluster.ok("snapshot", "restore", "--path", str(file))

    done = cluster.run("snapshot", "rewind")

    assert done.code == 0, done.err
    assert "all of it is compared" in done.err
    assert _differences(before, _resting(cluster)) == []


def test_a_fork_begins_with_what_there_was_and_accepts_its_tokens(cluster: Installed) -> None:
    token = cluster.kubectl("create", "token", "default").strip()
    cluster.ok("create", "cluster", "--name", "twin", "--from", "kwok", "--wait", "180s")
    twin = cluster.called("twin")

    assert _names(twin, "widgets") == _names(cluster, "widgets")
    assert _names(twin, "nodes") == _names(cluster, "nodes")
    assert asyncio.run(_status(twin, token)) == HTTPStatus.CREATED
    assert twin.statuses() == {"Ready"}
    port = json.loads(twin.kubectl("get", "service/kubernetes", "-o", "json"))["spec"]["ports"][0]
    assert port["targetPort"] in twin.ports()
    twin.ok("delete", "cluster")


def _names(cluster: Installed, kind: str) -> list[str]:
    return [each["metadata"]["name"] for each in cluster.objects(kind)]


async def _status(cluster: Installed, token: str) -> int:
    """Return what an API server answers to a token when it is asked who that is."""
    access = await asyncio.to_thread(load_access, paths(cluster).kubeconfig)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    only_token = replace(access, token=token, cert=None, key=None)
    async with Pool(only_token) as pool:
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        return (await pool.request("POST", path, body=json.dumps(review).encode())).status


def test_a_dropped_mark_is_gone(cluster: Installed) -> None:
    cluster.ok("snapshot", "drop", "rest")

    assert "has no mark" in cluster.refused("snapshot", "rewind")
    assert list((cluster.workdir / "clusters" / "kwok" / "marks").iterdir()) == []
