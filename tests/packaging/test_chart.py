"""The chart, rendered by Helm, and the manifest are the same objects."""

import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.in_cluster.config_map import chosen_stages, has_kubelet_pods
from kwokctl.clusters.in_cluster.manifest import manifest
from kwokctl.clusters.in_cluster.manifest_request import THROUGH_POD, ManifestRequest
from kwokctl.clusters.in_cluster.sizing import Size
from kwokctl.config.document_kinds import CUSTOM
from kwokctl.expr import yaml
from tests.support.helm import helm

pytestmark = [pytest.mark.packaging, pytest.mark.network, pytest.mark.timeout(1000)]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "kwok"


@pytest.fixture(scope="module")
def program() -> Path:
    return helm()


def run(program: Path, *values: str, served: str = "") -> "subprocess.CompletedProcess[str]":
    settings = [word for value in values for word in ("--set", value)]
    words: list[str | Path] = [
        "template",
        "kwok",
        CHART,
        "--namespace",
        "fakes",
        "--include-crds",
        *settings,
    ]
    words += ["--api-versions", served] if served else []
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def rendered(program: Path, *values: str) -> list[Mapping[str, Any]]:
    done = run(program, *values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.load_all(done.stdout) if each]


def wanted(*sets: str, **words: Any) -> list[Mapping[str, Any]]:
    request = ManifestRequest(
        stages=chosen_stages(sets, ()),
        custom_kinds=CUSTOM,
        namespace="fakes",
        has_kubelet_pods=has_kubelet_pods(sets),
        **words,
    )
    return [each for each in manifest(request) if each["kind"] != "Namespace"]


def by_name(objects: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str, str], Any]:
    return {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in objects
    }


def pod(objects: Iterable[Mapping[str, Any]]) -> Any:
    [deployment] = [each for each in objects if each["kind"] == "Deployment"]
    return deployment["spec"]["template"]["spec"]


def with_single_rights(objects: Iterable[Mapping[str, Any]]) -> Mapping[tuple[str, str, str], Any]:
    """Return the objects by name, with rules as rights: how they are put together may differ."""
    found = by_name(objects)
    role = found["ClusterRole", "", "kwok-controller"]
    role["rules"] = {
        (group, resource, verb, *rule.get("resourceNames", ()))
        for rule in role["rules"]
        for group in rule.get("apiGroups", ())
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    return found


def test_the_chart_is_the_manifest(program: Path) -> None:
    assert by_name(rendered(program)) == by_name(wanted())


def test_values_do_what_options_do(program: Path) -> None:
    found = rendered(
        program, "replicas=5", "image.repository=here/kwok", "image.tag=7", "steerPods=true",
        "kubeletThrough=pod", "apiServer.host=10.0.0.1", "apiServer.port=6443",
    )  # fmt: skip

    assert by_name(found) == by_name(
        wanted(
            size=Size(replicas=5), image="here/kwok:7", steering="v1", kubelet_through=THROUGH_POD,
            api_server=("10.0.0.1", 6443),
        )
    )  # fmt: skip


def test_pods_are_steered_by_the_version_of_policies_that_the_cluster_serves(program: Path) -> None:
    group = "admissionregistration.k8s.io/v1beta1"
    served = f"{group}/MutatingAdmissionPolicy"

    assert f"apiVersion: {group}" in run(program, "steerPods=true", served=served).stdout


@pytest.mark.parametrize("sets", [("pod-general", "volume-fast"), ("node-boot", "pod-kubelet")])
def test_sets_of_stages_are_chosen_with_their_rights(program: Path, sets: Sequence[str]) -> None:
    found = rendered(program, f"stages={{{','.join(sets)}}}")

    assert with_single_rights(found) == with_single_rights(wanted(*sets))


@pytest.mark.parametrize(
    ("sets", "fault"),
    [("pod-slow", "'pod-slow' is not a set of Stages"), ("pod-fast,pod-general", "exclude each")],
)
def test_sets_that_are_none_or_exclude_each_other_are_refused(
    program: Path, sets: str, fault: str
) -> None:
    assert fault in run(program, f"stages={{{sets}}}").stderr


def test_where_and_as_whom_the_pods_run_are_values(program: Path) -> None:
    found = pod(
        rendered(
            program, "image.pullPolicy=Always", "imagePullSecrets[0].name=key", "affinity=null",
            "nodeSelector.disk=ssd", "tolerations[0].operator=Exists",
            "podSecurityContext.runAsUser=7", "securityContext.privileged=false",
        )
    )  # fmt: skip

    [container] = found["containers"]
    assert container["imagePullPolicy"] == "Always"
    assert found["imagePullSecrets"] == [{"name": "key"}]
    assert "affinity" not in found
    assert found["nodeSelector"] == {"disk": "ssd"}
    assert found["tolerations"] == [{"operator": "Exists"}]
    assert found["securityContext"]["runAsUser"] == 7
    assert container["securityContext"]["privileged"] is False


def test_what_the_originals_chart_lets_users_add_is_added_by_the_same_values(program: Path) -> None:
    usual = pod(rendered(program))
    found = pod(
        rendered(
            program, "hostNetwork=true", "env[0].name=POD_IP", "env[0].value=7.7.7.7",
            "env[1].name=HTTPS_PROXY", "env[1].value=http://proxy:1", "volumes[0].name=certs",
            "volumes[0].hostPath.path=/certs", "volumeMounts[0].name=certs",
            "volumeMounts[0].mountPath=/certs", "apiServer.host=10.0.0.1",
        )
    )  # fmt: skip

    [container], [before] = found["containers"], usual["containers"]
    assert "hostNetwork" not in usual
    assert found["hostNetwork"] is True
    # A pod's own address stays what the chart sets, also for values that were written for the original's.
    assert [each["name"] for each in container["env"]] == [
        *(each["name"] for each in before["env"]),
        "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "HTTPS_PROXY",
    ]  # fmt: skip
    assert container["env"][0] == before["env"][0]
    assert container["volumeMounts"] == [
        *before["volumeMounts"], {"name": "certs", "mountPath": "/certs"},
    ]  # fmt: skip
    assert found["volumes"] == [
        *usual["volumes"], {"name": "certs", "hostPath": {"path": "/certs"}},
    ]  # fmt: skip


def test_without_a_deployment_all_else_is_the_same(program: Path) -> None:
    usual = rendered(program)

    assert rendered(program, "enableDeployment=false") == [
        each for each in usual if each["kind"] != "Deployment"
    ]


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["fullnameOverride=mine"], "mine"),
        (["fullnameOverride=", "nameOverride=other"], "kwok-other"),
    ],
)
def test_all_objects_have_another_name_if_it_is_wanted(
    program: Path, values: Sequence[str], name: str
) -> None:
    usual = run(program).stdout.replace("KWOK_CONTROLLER_", f"{name.upper().replace('-', '_')}_")

    assert run(program, *values).stdout == usual.replace("kwok-controller", name)


def test_helm_finds_no_fault(program: Path) -> None:
    assert shutil.which(str(program))
    done = subprocess.run([program, "lint", CHART], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
