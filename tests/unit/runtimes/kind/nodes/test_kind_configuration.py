""""""

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.model import ETCD, Artifact, Component, ComponentName, Limits, Mount, Port
from kwokctl.replacing import replace
from runtimes.kind.nodes.kind_configuration import configuration, pod_networks
from runtimes.kind.pods.kubeadm import pod_patch
from runtimes.kind.pods.pod_settings import PodSettings
from tests.support import golden
from tests.support.options import changed, option
from tests.unit.runtimes.kind.plans import OPTIONS, PATHS, plan

SETTINGS = PodSettings(root=PATHS.root, user=1000, group=1000, grace=10.0, revive=False)
OWN: dict[str, Any] = {
    "kind": "Cluster",
    "apiVersion": "kind.x-k8s.io/v1alpha4",
    "networking": {"disableDefaultCNI": True, "podSubnet": "10.1.0.0/16"},
    "featureGates": {"Mine": True},
    "kubeadmConfigPatches": ["kind: ClusterConfiguration\n"],
    "nodes": [
        {"role": "worker"},
        {
            "role": "control-plane",
            "extraMounts": [{"hostPath": "/srv", "containerPath": "/srv"}],
            "extraPortMappings": [{"containerPort": 30000, "hostPort": 30000}],
            "labels": {"mine": "too"},
        },
    ],
}


def made(*documents: dict[str, Any], kube: str = "v1.36.3") -> dict[str, Any]:
    return configuration(plan(OPTIONS, *documents, kube=kube), PATHS, has_cgroup_v1=False)


def patched(found: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return one of the documents for kubeadm."""
    texts = [yaml.load_all(text)[0] for text in found["kubeadmConfigPatches"]]
    patch: dict[str, Any] = next(text for text in texts if text["kind"] == kind)
    return patch


def test_the_configuration_of_kind_equals_the_golden_file() -> None:
    found = configuration(plan(), PATHS, has_cgroup_v1=True)

    golden.check("kind/kind.yaml", yaml.dump_all([found]))


def test_what_a_made_image_lacks_is_left_out_unless_the_user_wants_it() -> None:
    found = configuration(plan(), PATHS, has_cgroup_v1=False, is_bare=True)

    assert found["networking"]["disableDefaultCNI"] is True
    assert found["networking"]["kubeProxyMode"] == "none"
    assert patched(found, "InitConfiguration")["skipPhases"] == [
        "preflight", "addon/kube-proxy", "addon/coredns",
    ]  # fmt: skip

    own = {"kind": "Cluster", "networking": {"kubeProxyMode": "nftables"}}
    theirs = configuration(plan(OPTIONS, own), PATHS, has_cgroup_v1=False, is_bare=True)
    assert theirs["networking"]["kubeProxyMode"] == "nftables"


def test_pods_see_what_was_reviewed() -> None:
    patches = [
        pod_patch(component, settings=SETTINGS)
        for component in plan().components.values()
        if component.name != "kwok-controller"
    ]

    golden.check("kind/pods.yaml", yaml.dump_all(patches))


def test_the_users_own_configuration_is_merged_in() -> None:
    found = made(OWN)

    node, worker = found["nodes"]
    assert found["networking"]["podSubnet"] == "10.1.0.0/16"
    assert found["networking"]["apiServerPort"] == option(OPTIONS, "kube_apiserver_port")
    assert found["featureGates"] == {"Mine": True}
    assert found["kubeadmConfigPatches"][-1] == "kind: ClusterConfiguration\n"
    assert node["labels"] == {"mine": "too"}
    assert {"hostPath": "/srv", "containerPath": "/srv"} in node["extraMounts"]
    assert {"containerPort": 30000, "hostPort": 30000} in node["extraPortMappings"]
    assert worker["role"] == "worker"


@pytest.mark.parametrize(
    ("own", "place"),
    [
        ({"name": "mine"}, "'name'"),
        ({"networking": {"apiServerPort": 6443}}, "'networking.apiServerPort'"),
        ({"networking": {"apiServerAddress": "0.0.0.0"}}, "'networking.apiServerAddress'"),
        ({"nodes": [{"role": "control-plane", "image": "mine"}]}, r"'nodes\[\].image'"),
        ({"nodes": [{"role": "control-plane"}, {"role": "control-plane"}]}, "has 2 nodes"),
        ({"nodes": [{"role": "worker"}]}, "has 0 nodes"),
    ],
)
def test_fields_that_kwokctl_sets_are_refused_in_the_users_configuration(
    own: dict[str, Any], place: str
) -> None:
    with pytest.raises(ConfigError, match=place):
        made(own)


def test_two_configurations_are_one_too_many() -> None:
    with pytest.raises(ConfigError, match="2 documents"):
        made(OWN, OWN)


def test_an_older_kubeadm_is_given_its_arguments_as_a_mapping() -> None:
    old = patched(made(kube="v1.35.4"), "ClusterConfiguration")
    new = patched(made(), "ClusterConfiguration")

    assert old["scheduler"]["extraArgs"]["leader-elect"] == "false"
    assert {"name": "leader-elect", "value": "false"} in new["scheduler"]["extraArgs"]


def test_a_component_that_is_switched_off_is_not_described() -> None:
    options = changed(OPTIONS, disable=("kube-scheduler",))
    found = configuration(plan(options), PATHS, has_cgroup_v1=False)

    assert "scheduler" not in patched(found, "ClusterConfiguration")
    assert 10259 not in [port["containerPort"] for port in found["nodes"][0]["extraPortMappings"]]


def test_every_node_sees_the_certificate_with_which_its_kubelet_serves() -> None:
    found = made(OWN)

    kubelet = patched(found, "KubeletConfiguration")
    for node in found["nodes"]:
        seen = {each["containerPath"]: each["hostPath"] for each in node["extraMounts"]}
        assert seen[kubelet["tlsCertFile"]] == str(PATHS.pki / "kind-kubelet.crt")
        assert seen[kubelet["tlsPrivateKeyFile"]] == str(PATHS.pki / "kind-kubelet.key")


def test_a_kubelet_that_refuses_cgroup_v1_is_configured_to_accept_it() -> None:
    def configured(kube: str) -> dict[str, Any]:
        found = configuration(plan(kube=kube), PATHS, has_cgroup_v1=True)
        return patched(found, "KubeletConfiguration")

    assert configured("v1.36.3")["failCgroupV1"] is False
    assert "failCgroupV1" not in configured("v1.30.0")


def test_more_names_for_the_certificate_do_not_take_away_those_of_kind() -> None:
    options = changed(OPTIONS, kube_apiserver_cert_sans=("api.example",))
    found = configuration(plan(options), PATHS, has_cgroup_v1=False)

    names = patched(found, "ClusterConfiguration")["apiServer"]["certSANs"]
    assert names == ["localhost", "127.0.0.1", "api.example"]


def test_only_etcd_whose_files_are_the_users_is_run_as_the_user() -> None:
    users = {
        name: pod_patch(component, settings=SETTINGS)["spec"].get("securityContext")
        for name, component in plan().components.items()
    }

    assert users.pop(ETCD) == {"runAsUser": 1000, "runAsGroup": 1000}
    assert set(users.values()) == {None}


def test_limits_bound_what_kubeadm_makes_and_ask_for_nothing() -> None:
    etcd = plan().components[ETCD]
    limited = replace(etcd, limits=Limits(memory=1024, cpus=0.5))

    (bounded,) = pod_patch(limited, settings=SETTINGS)["spec"]["containers"]

    assert bounded["resources"] == {
        "limits": {"memory": "1024", "cpu": "0.5"},
        "requests": {"memory": "0", "cpu": "0"},
    }


def test_a_component_that_kubeadm_does_not_make_is_published_and_its_files_are_seen() -> None:
    more = Component(
        name=ComponentName("metrics"),
        artifact=Artifact(name="metrics", version="v1", image="example/metrics:v1"),
        ports=(Port(name="https", port=4443, host_port=30000),),
        mounts=(Mount(host_path=Path("/usr/lib"), mount_path=PurePosixPath("/usr/lib")),),
    )
    planned = plan()
    planned = replace(planned, components={**planned.components, more.name: more})

    (node,) = configuration(planned, PATHS, has_cgroup_v1=False)["nodes"]

    ports = {port["containerPort"]: port["hostPort"] for port in node["extraPortMappings"]}
    assert ports[4443] == 30000
    assert {"hostPath": "/usr/lib", "containerPath": "/mnt/host/usr/lib"} in node["extraMounts"]


def test_every_node_has_its_own_network() -> None:
    assert pod_networks("10.244.0.0/16", ["b", "a"]) == {
        "a": ["10.244.0.0/24"],
        "b": ["10.244.1.0/24"],
    }


def test_with_two_versions_of_ip_a_node_has_a_network_of_each() -> None:
    found = pod_networks("10.244.0.0/16,fd00:10:244::/56", ["a", "b"])

    assert found["b"] == ["10.244.1.0/24", "fd00:10:244:1::/64"]


def test_a_network_that_cannot_be_split_goes_to_the_first() -> None:
    assert pod_networks("10.1.1.0/26", ["a", "b"]) == {"a": ["10.1.1.0/26"]}
