"""What a cluster does for its users is the same whether it is written to through the API or in etcd."""

import json
from collections.abc import Mapping
from ipaddress import ip_address, ip_network

import pytest

from kwokctl.json_value import Json
from tests.support.changing import documents
from tests.support.data_paths import data_paths
from tests.support.installed import TELLING, Installed, condition, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]


NODE_NUMBER, POD_NUMBER = 40, 120
HELD = {"metadata": {"finalizers": ["example.com/held"]}}
FREE = {"metadata": {"finalizers": None}}
OWNED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences: [{{apiVersion: v1, kind: Pod, name: {name}, uid: {uid}}}]
"""
SERVICES = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokctlResource
metadata: {name: service}
parameters: {}
template: |
  apiVersion: v1
  kind: Service
  metadata: {name: {{ Name }}}
  spec: {ports: [{port: 80}]}
"""


@pytest.fixture(scope="module", params=["api", "etcd"])
def cluster(by_path: Mapping[str, Installed], request: pytest.FixtureRequest) -> Installed:
    return by_path[request.param]


def scale(cluster: Installed, *words: str) -> None:
    """Scale, and see that it went the cluster's way."""
    done = cluster.run(*TELLING, "scale", *words)
    assert done.code == 0, done.err
    # Services go on through the API: each has an address of its own.
    assert data_paths(done.err)[0] == cluster.name.removeprefix("by-")


def pods(cluster: Installed, set_name: str) -> Mapping[str, Json]:
    selector = f"kwok.x-k8s.io/kwokctl-scale={set_name}"
    return {pod["metadata"]["name"]: pod for pod in cluster.objects("pods", "-l", selector)}


def oldest(number: int, objects: Mapping[str, Json]) -> list[str]:
    """Return the names of the oldest objects, sorted; of those made in one second the first."""
    ages = ((each["metadata"]["creationTimestamp"], name) for name, each in objects.items())
    return sorted(name for _, name in sorted(ages)[:number])


def nodes(cluster: Installed) -> Mapping[str, Json]:
    return {node["metadata"]["name"]: node for node in cluster.objects("nodes")}


def leases(cluster: Installed) -> Mapping[str, Json]:
    found = cluster.objects("leases", "-n", "kube-node-lease")
    return {lease["metadata"]["name"]: lease for lease in found}


def patch(cluster: Installed, name: str, document: Json) -> None:
    cluster.patch("pod", name, "--type=merge", "--patch", json.dumps(document))


def test_nodes_are_ready_and_hold_leases_that_are_theirs(cluster: Installed) -> None:
    scale(cluster, "node", "--replicas", str(NODE_NUMBER), "--wait")

    found = nodes(cluster)
    assert {condition(node, "Ready") for node in found.values()} == {"True"}
    assert [node for node in found.values() if node["spec"].get("taints")] == []
    until("each node has its lease", lambda: leases(cluster).keys() == found.keys())
    for name, lease in leases(cluster).items():
        owner = lease["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["uid"]) == ("Node", found[name]["metadata"]["uid"])
        assert lease["spec"]["holderIdentity"] == lease["metadata"]["name"]


def test_pods_run_spread_over_nodes_each_with_its_own_address(cluster: Installed) -> None:
    scale(cluster, "pod", "--replicas", str(POD_NUMBER), "--on-nodes", "type=kwok", "--wait")

    found = pods(cluster, "pod")
    networks = {name: ip_network(node["spec"]["podCIDR"]) for name, node in nodes(cluster).items()}
    assert {pod["status"]["phase"] for pod in found.values()} == {"Running"}
    assert {condition(pod, "Ready") for pod in found.values()} == {"True"}
    assert len({pod["status"]["podIP"] for pod in found.values()}) == POD_NUMBER
    for pod in found.values():
        assert ip_address(pod["status"]["podIP"]) in networks[pod["spec"]["nodeName"]]


def test_pods_that_the_scheduler_places_run_too_and_have_other_addresses(
    cluster: Installed,
) -> None:
    scale(cluster, "pod", "placed", "--replicas", "40", "--wait")

    everybody = [*pods(cluster, "pod").values(), *pods(cluster, "placed").values()]
    assert len({pod["status"]["podIP"] for pod in everybody}) == len(everybody) == POD_NUMBER + 40


def test_a_deployment_runs_and_is_collected_with_its_pods(cluster: Installed) -> None:
    cluster.deploy("web", replicas=10)

    cluster.delete("deployment", "web")

    until("its pods are gone", lambda: not cluster.objects("pods", "-l", "app=web"))


def test_fewer_pods_are_the_oldest_and_what_the_others_own_is_collected(cluster: Installed) -> None:
    before = pods(cluster, "pod")
    kept = oldest(60, before)
    name = next(name for name in before if name not in kept)
    uid = before[name]["metadata"]["uid"]
    cluster.create(*documents(OWNED.format(name=name, uid=uid)))

    scale(cluster, "pod", "--replicas", "60", "--wait")

    assert sorted(pods(cluster, "pod")) == kept
    until(
        "what it owned is collected",
        lambda: not cluster.objects("configmaps", "--field-selector", "metadata.name=owned"),
    )


def test_a_pod_that_is_held_goes_when_it_is_let_go(cluster: Installed) -> None:
    patch(cluster, "placed-000000", HELD)

    waited = cluster.refused("scale", "pod", "placed", "--replicas", "0", "--wait", "2s")

    assert "placed-000000 still exists until the finalizer" in waited
    until("the others are gone", lambda: pods(cluster, "placed").keys() == {"placed-000000"})
    assert "deletionTimestamp" in pods(cluster, "placed")["placed-000000"]["metadata"]
    patch(cluster, "placed-000000", FREE)
    until("it is gone, too", lambda: not pods(cluster, "placed"))


def test_a_grace_period_is_given(cluster: Installed) -> None:
    with cluster.paused("kwok-controller"):
        scale(cluster, "pod", "--replicas", "30", "--grace-period", "7")
        going = [pod["metadata"] for pod in pods(cluster, "pod").values()]
        seconds = [each.get("deletionGracePeriodSeconds") for each in going]

    assert sorted(seconds, key=str) == [*[7] * 30, *[None] * 30]
    until("they are gone", lambda: len(pods(cluster, "pod")) == 30)


def test_services_go_with_their_addresses(cluster: Installed) -> None:
    config = cluster.folder / "services.yaml"
    config.write_text(SERVICES)
    before = len(cluster.objects("ipaddresses"))
    words = ("service", "--config", str(config), "--wait")

    scale(cluster, *words, "--replicas", "30")
    during = len(cluster.objects("ipaddresses"))
    scale(cluster, *words, "--replicas", "0")

    assert during == before + 30
    assert len(cluster.objects("ipaddresses")) == before


def test_nodes_go_with_their_pods_and_leases(cluster: Installed) -> None:
    kept = oldest(10, nodes(cluster))

    scale(cluster, "node", "--replicas", "10", "--wait")

    assert sorted(nodes(cluster)) == kept
    assert {pod["spec"]["nodeName"] for pod in pods(cluster, "pod").values()} <= {*kept}
    until("their leases are gone", lambda: sorted(leases(cluster)) == kept)


def test_leases_are_renewed(cluster: Installed) -> None:
    def old() -> list[str]:
        return [
            name
            for name, lease in leases(cluster).items()
            if lease["spec"]["renewTime"] == lease["spec"]["acquireTime"]
        ]

    until("every lease is renewed", lambda: not old())
    assert {condition(node, "Ready") for node in nodes(cluster).values()} == {"True"}
