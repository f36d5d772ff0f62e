"""A cluster goes back to a mark while its API server and its watches go on."""

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

import pytest

from kwokctl import Cluster
from kwokctl.etcd.kv.kv import Kv
from kwokctl.host.processes.supervise import read_pid_file
from kwokctl.json_value import Json
from kwokctl.kube.collections.paging import ListQuery
from kwokctl.kube.resource import CONFIG_MAPS
from tests.support import changing
from tests.support.changing import documents
from tests.support.etcd_alarms import disarm, refuse_writes
from tests.support.eventually import eventually
from tests.support.followers import Event, Follower, Manner
from tests.support.installed import Installed, until
from tests.support.planes import answer_to_token, connected, paths, reached
from tests.support.rewinding import (
    CHANGES,
    differences,
    disturb,
    forget_history,
    opened,
    resting,
    service,
    state,
)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

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
PIPE = "=/proc/self/fd/3"
WORLD = Path(__file__).parent / "rewind" / "world.yaml"
OBJECTS = Path(__file__).parent / "rewind" / "objects.yaml"
KINDS = OBJECTS.with_name("kinds.yaml")


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    """A cluster with something of everything, that has come to rest."""
    installed.ok("create", "cluster", "--wait", "180s", "--etcd-fsync", "off", "--nodes", "3")
    installed.apply(*documents(WORLD.read_text()))
    installed.wait_for("Established", "crd/widgets.example.com")
    installed.apply(*documents(OBJECTS.read_text()), *documents(KINDS.read_text()))
    _create(installed, OLD)
    for each in ("deployment/web", "statefulset/store", "daemonset/agent"):
        installed.kubectl("rollout", "status", each, "--timeout=120s")
    installed.wait_for("Complete", "job/work")
    installed.kubectl("wait", "pvc/data", "--for=jsonpath={.status.phase}=Bound", "--timeout=120s")
    # It is first looked at after a quarter of a minute.
    installed.kubectl("wait", "hpa/web", "--for=condition=ScalingActive=False", "--timeout=120s")
    # A quota that is counted while pods are created may lack one until it is counted again.
    installed.patch("quota/few", "-p", '{"spec":{"hard":{"services":"40"}}}')
    counted = "--for=jsonpath={.status.hard.services}=40"
    installed.kubectl("wait", "quota/few", counted, "--timeout=120s")
    yield installed
    installed.ok("delete", "cluster")


def _create(cluster: Installed, names: Sequence[str]) -> None:
    head = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": "1"}}
    cluster.create(*(head | {"metadata": {"name": name}} for name in names))


def test_a_mark_is_listed(cluster: Installed) -> None:
    resting(cluster)
    assert cluster.run("snapshot", "mark", "rest").code == 0

    assert cluster.ok("snapshot", "list").splitlines()[1].startswith("rest ")


def test_whatever_has_changed_is_as_it_was_at_the_mark(cluster: Installed) -> None:
    before = state(cluster)
    disturb(cluster)
    assert "restored" in cluster.ok("snapshot", "rewind", "--dry-run")

    done = cluster.run("snapshot", "rewind")

    assert done.code == 0, done.err
    assert "again and again" not in done.err
    assert differences(before, state(cluster)) == []
    cluster.deploy("alive", replicas=1)
    cluster.ok("snapshot", "rewind", "--keep-events")
    assert any(map(_is_of_alive, cluster.objects("events")))
    cluster.ok("snapshot", "rewind")
    assert not any(map(_is_of_alive, cluster.objects("events")))
    assert differences(before, resting(cluster)) == []


def _is_of_alive(event: Mapping[str, Json]) -> bool:
    return str(event["involvedObject"]["name"]).startswith("alive")


def test_any_changes_are_taken_back_though_etcd_forgets_what_there_was(cluster: Installed) -> None:
    before = state(cluster)
    # Each of them once: what is changed together is random.
    mixed = random.Random(18).sample(CHANGES, len(CHANGES))
    with opened(cluster) as there:
        for number in range(3):
            changes = mixed[number::3]
            disturb(cluster, changes)
            if number == 0:
                asyncio.run(forget_history(cluster))

            done = there.rewind("rest")

            assert (differences(before, state(cluster)), done.unsettled) == ([], ()), changes
        assert differences(before, resting(cluster)) == []


def test_a_namespace_that_was_ending_at_the_mark_ends_after_the_rewind(cluster: Installed) -> None:
    cluster.create(changing.namespace("ending"))
    held = {"name": "held", "namespace": "ending", "finalizers": ["example.com/hold"]}
    head: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": held}
    cluster.apply(head)
    cluster.delete("--wait=false", "namespace/ending")
    with opened(cluster) as there:
        there.wait_for("namespace/ending", "NamespaceFinalizersRemaining", timeout=60)
        there.mark("ending", rest=1)
        before = state(cluster)
        for _ in range(2):
            cluster.patch(
                "-n", "ending", "configmap/held", "-p", '{"metadata":{"finalizers":null}}'
            )
            there.wait_for("namespace/ending", "deleted", timeout=120)
            there.rewind("ending")
            assert differences(before, resting(cluster)) == []
        there.rewind("rest")
        there.drop("ending")


def test_a_damaged_mark_is_refused_before_anything_stops(cluster: Installed) -> None:
    cluster.ok("snapshot", "mark", "spoiled", "--max-age", "1h")
    (file,) = paths(cluster).marks.glob("spoiled_*.content")
    content = file.read_bytes()
    file.write_bytes(content[:999] + bytes((content[999] ^ 1,)) + content[1000:])
    pids = cluster.pids()

    assert "is damaged" in cluster.refused("snapshot", "rewind", "spoiled")

    assert cluster.pids() == pids
    cluster.ok("snapshot", "drop", "spoiled")


def test_with_an_etcd_that_takes_no_writes_nothing_is_stopped(cluster: Installed) -> None:
    pids = cluster.pids()
    _with_etcd(cluster, refuse_writes)

    try:
        said = cluster.refused("snapshot", "rewind", "rest")
    finally:
        _with_etcd(cluster, disarm)

    assert "alarm NOSPACE" in said
    assert "doctor --fix" in said
    assert cluster.pids() == pids


def _with_etcd(cluster: Installed, do: Callable[[Kv], Awaitable[None]]) -> None:
    async def main() -> None:
        async with reached(cluster) as there:
            await do(there.kv)

    asyncio.run(main())


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
            patch = ("-p", '{"data":{"value":"new"}}')
            await asyncio.to_thread(cluster.patch, "configmap", *CHANGED, *patch)
            await asyncio.to_thread(cluster.delete, "--wait=false", "configmap", *DELETED)
            await asyncio.to_thread(_create, cluster, NEW)
            await eventually(lambda: follower.changes == number)
            await asyncio.to_thread(cluster.ok, "snapshot", "rewind")
            await eventually(lambda: follower.changes >= 2 * number)
            await asyncio.to_thread(cluster.ok, "snapshot", "rewind")
            task.cancel()
            return follower.changes

    assert asyncio.run(watched()) == 2 * number


def test_a_rewind_that_was_killed_at_any_moment_is_done_again(cluster: Installed) -> None:
    before = state(cluster)
    for change in (CHANGES[:6], CHANGES[6:]):
        disturb(cluster, change)
        after = _killed(cluster, "snapshot", "rewind", "rest")
        disturb(cluster, CHANGES[-4:])

        cluster.ok("snapshot", "rewind", "rest")

        assert differences(before, resting(cluster)) == [], after
    assert cluster.statuses() == {"Ready"}


def test_a_rewind_that_was_killed_while_the_new_controllers_wait_leaves_none_of_them(
    cluster: Installed,
) -> None:
    before = state(cluster)
    disturb(cluster)
    held, running = _held_controllers(cluster)
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()

    until("the new controller-manager has ended", lambda: not _words(held))
    assert _words(cluster.pids()["kube-controller-manager"]) == []
    cluster.ok("snapshot", "rewind", "rest")

    assert differences(before, resting(cluster)) == []
    cluster.deploy("alive", replicas=1)
    cluster.ok("snapshot", "rewind", "rest")


def test_a_cluster_that_is_stopped_after_a_rewind_was_killed_starts_again(
    cluster: Installed,
) -> None:
    before = state(cluster)
    disturb(cluster, CHANGES[:3])
    held, running = _held_controllers(cluster)
    os.kill(running.pid, signal.SIGSTOP)
    stopping = cluster.start("stop", "cluster")
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()

    assert stopping.wait(120) == 0, stopping.communicate()
    stopping.communicate()
    assert not _words(held)
    cluster.ok("start", "cluster", "--wait", "180s")
    cluster.ok("snapshot", "rewind", "rest")
    assert differences(before, resting(cluster)) == []


def _held_controllers(cluster: Installed) -> tuple[int, subprocess.Popen[str]]:
    """Begin a rewind; return the new controller-manager, as soon as that waits to be let go, and the command."""
    file = paths(cluster).pids / "kube-controller-manager.pid"
    former, rewind = read_pid_file(file), cluster.start("snapshot", "rewind", "rest")
    until_then = time.monotonic() + 60
    while time.monotonic() < until_then and rewind.poll() is None:
        process = read_pid_file(file)
        if process and process != former and PIPE in " ".join(_words(process.pid)):
            return process.pid, rewind
        time.sleep(0.001)  # it waits for some tenths of a second
    raise AssertionError(f"no controller-manager was held: {rewind.communicate()}")


def _words(pid: int) -> list[str]:
    """Return the command of a process; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def test_what_else_was_killed_is_done_again(cluster: Installed) -> None:
    before = state(cluster)
    file, recording = cluster.folder / "objects.yaml", cluster.folder / "recording.yaml"
    cluster.ok("snapshot", "save", "--format", "k8s", "--path", str(file))
    changes = [json.dumps(_recorded(number, name)) for number, name in enumerate(OLD)]
    recording.write_text("\n---\n".join([file.read_text(), *changes]))
    for words in (
        ("snapshot", "mark", "rest"),
        ("snapshot", "restore", "--format", "k8s", "--path", str(file)),
        ("snapshot", "replay", "--path", str(recording)),
    ):
        after = _killed(cluster, *words)

        done = cluster.run(*words)

        assert done.code == 0, (after, done.err)
        assert cluster.statuses() == {"Ready"}, after
    cluster.ok("snapshot", "rewind", "rest")
    assert differences(before, resting(cluster)) == []


def _killed(cluster: Installed, *words: str) -> float:
    """Kill a command at some moment, unless it ends before; return the seconds until then."""
    after = random.uniform(0.3, 1.5)
    running = cluster.start(*words)
    try:
        running.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    return after


def _recorded(number: int, name: str) -> Json:
    """Return a change of a recording, twenty milliseconds after the one before."""
    return {
        "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
        "kind": "ResourcePatch",
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "target": {"name": name, "namespace": "default"},
        "durationNanosecond": number * 20_000_000,
        "method": "patch",
        "template": {"data": {"value": "replayed"}},
    }


def test_controllers_that_were_at_work_at_a_mark_finish_it_after_the_rewind(
    cluster: Installed,
) -> None:
    there = Cluster.open(cluster.name, workdir=cluster.workdir)
    there.apply(BUSY)
    there.mark("busy")
    there.wait_for("deployment/busy", "Available", timeout=120)
    assert any(each.key.startswith("pods/default/busy-") for each in there.changes("busy"))
    # The scheduler does not bear each rewind of pods that it has bound.
    for _ in range(2):
        there.remove("deployment/busy")
        there.wait_for("pods", "deleted", selector="app=busy", timeout=120)
        there.rewind("busy")
        there.wait_for("deployment/busy", "Available", timeout=120)
    there.mark("done", rest=1)
    assert len(there.find("pods", selector="app=busy")) == 60
    [owner] = there.find("replicasets", selector="app=busy")
    assert owner["status"]["replicas"] == owner["status"]["readyReplicas"] == 60
    assert cluster.statuses() == {"Ready"}
    scheduler = cluster.pids()["kube-scheduler"]
    there.remove("deployment/busy")
    there.wait_for("pods", "deleted", selector="app=busy", timeout=120)
    there.rewind("done")
    # All come back on their nodes, so the scheduler runs on, and binds what comes next.
    assert cluster.pids()["kube-scheduler"] == scheduler
    more = ("--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":70}}')
    cluster.patch("deployment/busy", *more)
    there.wait_for("deployment/busy", ".status.readyReplicas == 70", timeout=120)
    there.rewind("rest")
    for name in ("busy", "done"):
        there.drop(name)
    there.close()


def test_a_mark_is_good_after_a_restore(cluster: Installed) -> None:
    before = state(cluster)
    file = cluster.folder / "later.db"
    cluster.label("configmaps", "--all", "touched=yes")
    cluster.ok("snapshot", "save", "--path", str(file))
    cluster.ok("snapshot", "rewind")
    cluster.ok("snapshot", "restore", "--path", str(file))

    done = cluster.run("snapshot", "rewind")

    assert done.code == 0, done.err
    assert "all of it is compared" in done.err
    assert differences(before, resting(cluster)) == []


def test_forks_with_other_authorities_have_all_but_what_the_source_accepts(
    cluster: Installed,
) -> None:
    token = cluster.kubectl("create", "token", "default").strip()
    cluster.deploy("seen", replicas=1, wait=False)
    until("there are Events", lambda: _uids(cluster))
    cluster.ok(
        "create", "cluster", "--name", "twin", "--from", "kwok", "--count", "2", "--new-pki", "--wait", "180s",
    )  # fmt: skip
    twins = [cluster.called("twin-1"), cluster.called("twin-2")]
    for twin in twins:
        assert _names(twin, "widgets") == _names(cluster, "widgets")
        assert _names(twin, "nodes") == _names(cluster, "nodes")
        assert asyncio.run(answer_to_token(twin, token)) == HTTPStatus.UNAUTHORIZED
        authority = (paths(twin).pki / "ca.crt").read_text()
        until("the API server says whom it trusts", lambda: _trusted(twin) == authority)  # noqa: B023 - called here
        assert not _uids(twin) & _uids(cluster)
        service = twin.found("service/kubernetes")
        assert service["spec"]["ports"][0]["targetPort"] in twin.ports()
        assert twin.statuses() == {"Ready"}
        _create(twin, [twin.name])
    assert [_names(each, "configmaps").count("twin-1") for each in (*twins, cluster)] == [1, 0, 0]
    for twin in twins:
        twin.ok("delete", "cluster")
    cluster.ok("snapshot", "rewind", "rest")


def _uids(cluster: Installed) -> set[str]:
    """Return which Events there are."""
    return {each["metadata"]["uid"] for each in cluster.objects("events", "--all-namespaces")}


def _trusted(cluster: Installed) -> str:
    """Return the authority that the API server tells extensions to trust."""
    words = (
        "-n",
        "kube-system",
        "--field-selector",
        "metadata.name=extension-apiserver-authentication",
    )
    found = cluster.objects("configmaps", *words)
    return str(found[0]["data"].get("client-ca-file")) if found else ""


def _names(cluster: Installed, kind: str) -> list[str]:
    return [each["metadata"]["name"] for each in cluster.objects(kind)]


def test_what_is_older_than_a_minute_stays_as_it_was_for_longer_than_a_minute(
    cluster: Installed,
) -> None:
    # The API server's own controllers look each minute, and only at what is older than a minute.
    with opened(cluster) as there:
        there.rewind("rest")
        text = there.get("service/web")["metadata"]["creationTimestamp"]
        made = datetime.fromisoformat(text).timestamp()
        there.mark("old", rest=1)
        before = state(cluster)
        until("all is older than a minute", lambda: time.time() - made > 62)
        disturb(cluster)

        there.rewind("old")
        assert differences(before, state(cluster)) == []
        there.mark("later", rest=70)

        assert differences(before, state(cluster)) == []
        for name in ("door", "gate", "hatch"):
            cluster.create(service(name, kind="NodePort"))
        services = cluster.objects("services", "--all-namespaces")
        given = [(each["spec"]["clusterIP"], _node_ports(each)) for each in services]
        assert len({ip for ip, _ in given}) == len(given)
        doors = [port for _, ports in given for port in ports]
        assert len(doors) == len(set(doors)) == 4
        for mark in ("old", "later"):
            there.rewind(mark)
            there.drop(mark)
        assert differences(before, resting(cluster)) == []


def _node_ports(service: Mapping[str, Json]) -> list[int]:
    return [port["nodePort"] for port in service["spec"]["ports"] if "nodePort" in port]


def test_a_dropped_mark_is_gone(cluster: Installed) -> None:
    cluster.ok("snapshot", "drop", "rest")

    assert "has no mark" in cluster.refused("snapshot", "rewind")
    assert list((cluster.workdir / "clusters" / "kwok" / "marks").iterdir()) == []
