"""Nodes and pods that were written past the API server are to other programs what real ones are."""

import json
from ipaddress import ip_address, ip_network

import pytest

from kwokctl.json_value import Json
from tests.support.data_paths import data_paths
from tests.support.installed import Installed, until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]


NODES = 30
RESOURCES = '.containers[0].resources = {requests: {cpu: "100m", memory: "64Mi"}}'


@pytest.fixture(scope="module")
def cluster(with_faults: Installed) -> Installed:
    with_faults.ok("scale", "node", "a", "--replicas", str(NODES), "--wait", "180s")
    words = ("--on-nodes", "type=kwok", "--param", RESOURCES, "--wait", "180s")
    done = with_faults.run("scale", "pod", "--replicas", str(NODES), *words)
    assert done.code == 0, done.err
    assert "api" not in data_paths(done.err)
    return with_faults


def pod(cluster: Installed, serial: int) -> Json:
    return cluster.found("pod", f"pod-{serial:06d}")


def test_applying_to_a_stamped_object_conflicts_with_the_manager_of_its_fields(
    cluster: Installed,
) -> None:
    name = f"a-{NODES - 1:06d}"
    labelled = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"type": "other"}},
    }
    # To validate it, a kubectl would have the API server make its OpenAPI documents.
    apply = ("apply", "--server-side", "--validate=false", "-f", "-")
    done = cluster.run("kubectl", *apply, stdin=json.dumps(labelled))

    assert 'conflict with "kwok"' in done.err
    labelled["metadata"] = {"name": name, "labels": {"type": "kwok"}}
    cluster.kubectl(*apply, stdin=json.dumps(labelled))
    words = ("get", "node", name, "-o", "json", "--show-managed-fields")
    managers = {
        (each["manager"], each["operation"], each.get("subresource", ""))
        for each in json.loads(cluster.kubectl(*words))["metadata"]["managedFields"]
    }
    assert managers == {
        ("kubectl", "Apply", ""),
        ("kwok", "Update", ""),
        ("kwok-controller", "Update", "status"),
    }


def test_pods_that_were_copied_have_no_managed_fields(cluster: Installed) -> None:
    words = ("get", "pod", f"pod-{NODES - 1:06d}", "-o", "json", "--show-managed-fields")

    assert "managedFields" not in json.loads(cluster.kubectl(*words))["metadata"]


def test_the_status_of_a_deployment_s_pod_is_the_controller_s(cluster: Installed) -> None:
    cluster.kubectl("create", "deployment", "web", "--image", "nginx")
    cluster.kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=180s")

    (found,) = cluster.objects("pods", "-l", "app=web", "--show-managed-fields")

    writers = [
        (each["manager"], each.get("subresource", ""))
        for each in found["metadata"]["managedFields"]
    ]
    assert ("kwok-controller", "status") in writers
    assert ("kube-controller-manager", "") in writers


def test_a_node_shows_the_port_of_its_kubelet_from_the_start(cluster: Installed) -> None:
    port = cluster.components()["kwok-kubelet"]["ports"][0]["hostPort"]

    ports = {
        node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        for node in cluster.objects("nodes")
    }

    assert ports == {port}


def test_no_field_that_a_kubelet_reports_is_empty(cluster: Installed) -> None:
    for node in cluster.objects("nodes"):
        assert all(node["status"]["nodeInfo"].values())
    statuses = [each["status"]["containerStatuses"][0] for each in cluster.objects("pods")]
    assert all(each["imageID"] for each in statuses)
    assert len({each["containerID"] for each in statuses}) == len(statuses)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("logs", "pod-000007"), "no Logs or ClusterLogs document says what container"),
        (("exec", "pod-000007", "--", "ls"), "no document of kind Exec or ClusterExec"),
        (("attach", "pod-000007"), "no document of kind Attach or ClusterAttach"),
    ],
)
def test_what_is_not_answered_is_refused_with_a_sentence(
    cluster: Installed, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in cluster.refused("kubectl", *words)


def test_a_dump_of_the_cluster_ends(cluster: Installed) -> None:
    assert "pod-000007" in cluster.kubectl("cluster-info", "dump")


def test_an_in_place_resize_changes_the_status(cluster: Installed) -> None:
    amounts = {"cpu": "200m", "memory": "64Mi"}
    wanted = {"requests": amounts, "limits": amounts}
    spec = {"spec": {"containers": [{"name": "container-0", "resources": wanted}]}}
    name = f"pod-{NODES - 1:06d}"
    cluster.kubectl("patch", "pod", name, "--subresource", "resize", "-p", json.dumps(spec))

    def has_followed() -> bool:
        (status,) = pod(cluster, NODES - 1)["status"]["containerStatuses"]
        is_allocated = status["allocatedResources"] == amounts
        return bool(is_allocated and status["resources"] == wanted)

    until("the status has the new resources", has_followed)


def test_an_ephemeral_container_runs(cluster: Installed) -> None:
    cluster.run(
        "kubectl", "debug", "pod-000003", "--image", "busybox", "-c", "debugger", timeout=180
    )

    def has_status() -> bool:
        statuses = pod(cluster, 3)["status"].get("ephemeralContainerStatuses", [])
        return [(each["name"], list(each["state"])) for each in statuses] == [
            ("debugger", ["running"])
        ]

    until("the ephemeral container runs", has_status)


def test_sets_share_out_networks_and_addresses(cluster: Installed) -> None:
    cluster.ok("scale", "node", "b", "--replicas", "5")
    together = [cluster.start("scale", "node", name, "--replicas", "26") for name in "cd"]
    for each in together:
        _, said = each.communicate(timeout=180)
        assert each.returncode == 0, said
    cluster.ok("scale", "node", "b", "--replicas", "2")
    cluster.ok("scale", "node", "a", "--replicas", str(NODES + 3))
    cluster.ok("scale", "node", "b", "--replicas", "9")

    nodes = cluster.objects("nodes")

    assert len(nodes) == NODES + 3 + 9 + 2 * 26
    networks = [cidr for node in nodes for cidr in node["spec"]["podCIDRs"]]
    addresses = [
        each["address"]
        for node in nodes
        for each in node["status"]["addresses"]
        if each["type"] == "InternalIP"
    ]
    for found in (networks, addresses):
        assert len(found) == 2 * len(nodes)
        assert len(set(found)) == len(found)
    assert all(ip_network(network).is_private for network in networks)
    assert all(ip_address(address).is_private for address in addresses)
