"""Faults of the API: what real clients see of them through the proxy, and that no client gets the rights of another user by it."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from kwokctl.kube.kubeconfig.access import load_access
from tests.support import asking
from tests.support.api_clients import NODES, ApiClient
from tests.support.installed import Installed, condition, until
from tests.support.open_paths import answered, open_paths
from tests.support.stranger import Stranger

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(900, func_only=True),
]

DOCUMENT = """\
kind: ClusterExec
metadata: {name: all}
spec: {execs: [{local: {workDir: FOLDER}}]}
"""
FORGED = {
    "X-Remote-User": "kwok-admin",
    "X-Remote-Group": "system:masters",
    "X-Remote-Extra-Scopes": "all",
}
PROXY = "kwok-api-proxy"


@pytest.fixture(scope="module")
def cluster(installed: Installed) -> Iterator[Installed]:
    document = installed.folder / "exec.yaml"
    document.write_text(DOCUMENT.replace("FOLDER", str(installed.folder)))
    installed.ok(
        "create", "cluster", "--api-faults", "--config", str(document), "--etcd-fsync", "off", "--wait", "180s",
    )  # fmt: skip
    installed.ok("scale", "node", "--replicas", "3", "--wait", "180s")
    yield installed
    installed.ok("delete", "cluster")


def folder(cluster: Installed) -> Path:
    return cluster.workdir / "clusters" / cluster.name


def person(cluster: Installed, agent: str = "test/1", **more: Any) -> ApiClient:
    """Return a client with the kubeconfig of the cluster's owner."""
    return ApiClient(folder(cluster) / "kubeconfig.yaml", agent, **more)


def directly(cluster: Installed) -> Path:
    """Return the kubeconfig of kwokctl's own commands."""
    return folder(cluster) / "kubeconfigs" / "kwokctl.yaml"


@contextmanager
def broken(cluster: Installed, class_name: str, *words: str) -> Iterator[str]:
    """Let a fault of the API be carried out meanwhile; yields its name."""
    made = cluster.ok("fault", "inject", class_name, *words, "--wait", "180s", "-o", "json")
    name: str = json.loads(made)["result"]["name"]
    try:
        yield name
    finally:
        cluster.ok("fault", "clear", name)
        until(f"{name} has ended", lambda: f"fault '{name}' has ended" in log_of(cluster))


def log_of(cluster: Installed) -> str:
    return (folder(cluster) / "logs" / f"{PROXY}.log").read_text()


def create_pod(cluster: Installed, name: str) -> None:
    container = {"name": "c", "image": "x"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}  # fmt: skip
    asking.create(directly(cluster), body)


def is_ready(cluster: Installed, pod: str) -> bool:
    return condition(asking.found(directly(cluster), "pod", pod), "Ready") == "True"


def all_ready(cluster: Installed) -> bool:
    nodes = asking.found(directly(cluster), "nodes")["items"]
    return all(condition(each, "Ready") == "True" for each in nodes)


def test_clients_dial_the_proxy_and_kwokctl_the_api_server(cluster: Installed) -> None:
    known = cluster.components()
    ports = {name: known[name]["ports"][0]["hostPort"] for name in (PROXY, "kube-apiserver")}

    for name in ("kube-scheduler", "kube-controller-manager", "kwok-controller", "kwok-kubelet"):
        file = folder(cluster) / "kubeconfigs" / f"{name}.yaml"
        assert load_access(file).server.endswith(f":{ports[PROXY]}")
    assert load_access(folder(cluster) / "kubeconfig.yaml").server.endswith(f":{ports[PROXY]}")
    assert load_access(directly(cluster)).server.endswith(f":{ports['kube-apiserver']}")
    assert f":{ports[PROXY]}" in cluster.ok("get", "kubeconfig", "--user", "bob")
    assert cluster.statuses() == {"Ready"}


def test_a_client_is_who_it_is_without_the_proxy(cluster: Installed) -> None:
    bob = cluster.folder / "bob.yaml"
    bob.write_text(cluster.ok("get", "kubeconfig", "--user", "bob", "--group", "devs"))
    scheduler = folder(cluster) / "kubeconfigs" / "kube-scheduler.yaml"

    status, user, groups = person(cluster).whoami()
    assert (status, user) == (201, "kwok-admin")
    assert "system:masters" in groups
    assert ApiClient(bob).whoami() == (201, "bob", ["devs", "system:authenticated"])
    assert ApiClient(scheduler).whoami()[:2] == (201, "system:kube-scheduler")
    as_ann = person(cluster, headers={"Impersonate-User": "ann"})
    assert as_ann.whoami() == (201, "ann", ["system:authenticated"])


def test_nobody_becomes_somebody_else(cluster: Installed) -> None:
    bob = cluster.folder / "mallory.yaml"
    bob.write_text(cluster.ok("get", "kubeconfig", "--user", "mallory", "--group", "devs"))
    nobody = person(cluster, is_known=False, headers=FORGED)
    worthless = person(cluster, is_known=False, headers={**FORGED, "Authorization": "Bearer x"})

    assert person(cluster, is_known=False).ask().json["reason"] == nobody.ask().json["reason"]
    assert nobody.ask().status == 403
    assert '"system:anonymous"' in nobody.ask().json["message"]
    assert worthless.ask().status == 401
    assert ApiClient(bob, headers=FORGED).whoami() == (
        201,
        "mallory",
        ["devs", "system:authenticated"],
    )
    hidden = {**FORGED, "Connection": "close, X-Remote-User"}
    assert ApiClient(bob, headers=hidden).whoami()[1] == "mallory"


@pytest.mark.parametrize("credential", ["", "worthless"])
def test_another_user_of_the_machine_is_answered_as_by_the_api_server(
    cluster: Installed, credential: str
) -> None:
    if os.geteuid():
        pytest.skip("only root can try it as another user")
    found = answered(cluster, Stranger(token=credential))

    expected = open_paths()["kube-apiserver"] if not credential else set()
    assert found[PROXY] == found["kube-apiserver"] == expected


def test_requests_are_late_for_one_user_agent_and_not_for_another(cluster: Installed) -> None:
    with broken(cluster, "api-latency", "--set", "latency=2s", "--set", "userAgent=slow/*") as name:
        assert person(cluster, "slow/1").ask().seconds >= 2.0
        status = json.loads(cluster.ok("fault", "status", name, "-o", "json"))
        log = [json.loads(line) for line in cluster.ok("fault", "log", name, "-o", "json").splitlines()]  # fmt: skip

    assert (status[0]["phase"], status[0]["units"], status[0]["landed"]) == ("Landed", 1, 1)
    assert [each["phase"] for each in log] == ["injected", "landed"]
    assert {each["node"] for each in log} == {"kube-apiserver"}
    with broken(cluster, "api-latency", "--set", "latency=1h", "--set", "userAgent=slow/*"):
        with pytest.raises(TimeoutError):
            person(cluster, "slow/1").ask(timeout=3)
        assert person(cluster, "quick/1").ask().status == 200
    assert person(cluster, "slow/1").ask().status == 200


def test_a_client_is_told_to_ask_again_and_kubectl_does(cluster: Installed) -> None:
    with broken(cluster, "api-429", "--set", "retryAfter=3s", "--set", "userAgent=many/*"):
        refused = person(cluster, "many/1").ask()

        assert (refused.status, refused.headers["Retry-After"]) == (429, "3")
        assert refused.json["reason"] == "TooManyRequests"
        assert person(cluster, "few/1").ask().status == 200
    # By this seed, the first request is refused and the second is not.
    words = ("--set", "share=50", "--seed", "5", "--set", "userAgent=kubectl/*")
    with broken(cluster, "api-429", *words):
        found = cluster.run("kubectl", "get", "--raw", NODES, "-v", "6")

    assert found.code == 0
    assert found.err.count(" 429 ") == 1
    assert len(json.loads(found.out)["items"]) == 3


def test_a_pod_is_bound_when_the_scheduler_may_write_again(cluster: Installed) -> None:
    words = ("--set", "user=system:kube-scheduler", "--set", "resource=pods/binding")
    with broken(cluster, "api-5xx", *words) as name:
        create_pod(cluster, "late")
        until("the scheduler has tried", lambda: refusals(cluster, name))
        assert not asking.found(directly(cluster), "pod", "late")["spec"].get("nodeName")

    until("the pod runs", lambda: is_ready(cluster, "late"))


def refusals(cluster: Installed, name: str) -> bool:
    """Return whether an Event of a pod tells of the fault."""
    events = asking.found(directly(cluster), "events")["items"]
    return any(name in each.get("message", "") for each in events)


def test_watches_are_cut_and_clients_go_on(cluster: Installed) -> None:
    with broken(cluster, "watch-cut", "--set", "every=1s") as name:
        assert is_cut(cluster)
        create_pod(cluster, "watched")
        until("the pod runs", lambda: is_ready(cluster, "watched"))
        assert is_cut(cluster)

    (line,) = [each for each in log_of(cluster).splitlines() if f"'{name}' has ended" in each]
    assert int(line.split(" and cut ")[1].split()[0]) >= 2


def is_cut(cluster: Installed) -> bool:
    """Watch until the watch breaks off: the API server itself would end it whole."""
    connection = person(cluster).connect()
    try:
        connection.request("GET", f"{NODES}?watch=1")
        answer = connection.getresponse()
        while answer.read1(65536):
            pass
    except (HTTPException, OSError):
        return True
    finally:
        connection.close()
    return False


def test_where_the_whole_api_fails_the_fault_can_be_seen_and_cleared(cluster: Installed) -> None:
    with broken(cluster, "api-5xx", "--set", "code=502") as name:
        assert person(cluster).ask().status == 502
        assert person(cluster).ask("/readyz").status == 200
        cluster.ok("scale", "node", "--replicas", "4")
        assert name in cluster.ok("fault", "status")

    until("its nodes are Ready", lambda: all_ready(cluster))
    assert person(cluster).ask().status == 200


def test_a_fault_of_the_whole_api_ends_by_itself(cluster: Installed) -> None:
    with broken(cluster, "api-5xx", "--for", "2s") as name:
        until(
            "it is over",
            lambda: asking.found(directly(cluster), "fault", name)["status"]["phase"] == "Cleared",
        )
        until("the API answers", lambda: person(cluster).ask().status == 200)


def test_programs_are_run_through_the_proxy(cluster: Installed) -> None:
    create_pod(cluster, "shell")
    until("the pod runs", lambda: is_ready(cluster, "shell"))

    assert cluster.kubectl("exec", "shell", "--", "echo", "hello").strip() == "hello"


def test_a_proxy_that_was_killed_comes_back_and_carries_on(cluster: Installed) -> None:
    with broken(cluster, "api-5xx", "--set", "userAgent=hit/*"):
        os.kill(cluster.pids()[PROXY], signal.SIGKILL)
        until("it is noticed", lambda: cluster.components()[PROXY]["status"] != "Ready")
        cluster.ok("start", "cluster", "--wait", "180s")

        until("the fault is carried out", lambda: person(cluster, "hit/1").ask().status == 503)
        assert person(cluster, "other/1").ask().status == 200


def test_a_fault_stays_open_while_the_cluster_is_stopped_and_started(cluster: Installed) -> None:
    with broken(cluster, "api-5xx", "--set", "userAgent=hit/*"):
        cluster.ok("stop", "cluster")
        cluster.ok("start", "cluster", "--wait", "180s")

        until("the fault is carried out", lambda: person(cluster, "hit/1").ask().status == 503)
        assert cluster.statuses() == {"Ready"}
    until("the nodes are Ready", lambda: all_ready(cluster))


def test_a_dry_run_says_which_requests_are_hit(cluster: Installed) -> None:
    said = cluster.ok("fault", "inject", "api-429", "--set", "verb=list", "--set", "share=20", "--dry-run")  # fmt: skip

    assert "hits the API: requests with the verb 'list'." in said
    assert "20 % of the requests are refused with the status 429, and Retry-After: 1s" in said
    assert "'spec.target' is not 'api: true' alone" in cluster.refused(
        "fault", "inject", "api-429", "--node", "node-000000"
    )
