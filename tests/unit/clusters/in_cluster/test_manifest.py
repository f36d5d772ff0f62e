from collections.abc import Mapping
from typing import Any

import pytest

from kwokctl.clusters.in_cluster.config_map import chosen_options, chosen_stages
from kwokctl.clusters.in_cluster.manifest import manifest
from kwokctl.clusters.in_cluster.manifest_request import ManifestRequest
from kwokctl.clusters.in_cluster.sizing import Size
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import CUSTOM, KINDS, KWOK, WITH_FAULT, WITH_REPAIR
from kwokctl.errors import UsageError
from kwokctl.expr import yaml


def objects(**words: Any) -> Mapping[str, Any]:
    request = ManifestRequest(stages=chosen_stages((), ()), **words)
    return {each["kind"]: each for each in manifest(request)}


def pod(**words: Any) -> Any:
    return objects(**words)["Deployment"]["spec"]["template"]["spec"]


def configuration(**options: Any) -> Document:
    return Document(
        kind="KwokConfiguration", api_version="", name="", body={"options": options}, source="mine"
    )


def test_the_pods_have_no_rights_to_their_node() -> None:
    [container] = pod()["containers"]

    assert pod()["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_they_are_asked_how_they_are_and_a_drain_takes_one_at_a_time() -> None:
    [container] = pod()["containers"]

    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/livez"
    assert objects()["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1
    assert pod()["priorityClassName"] == objects()["PriorityClass"]["metadata"]["name"]


def test_replicas_image_and_namespace_are_as_given() -> None:
    found = objects(size=Size(replicas=5), image="here/kwok:1", namespace="fakes")

    assert found["Deployment"]["spec"]["replicas"] == 5
    assert (
        found["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"] == "here/kwok:1"
    )
    assert found["Namespace"]["metadata"]["name"] == "fakes"
    assert found["ClusterRoleBinding"]["subjects"][0]["namespace"] == "fakes"


def test_the_configuration_holds_the_stages_and_a_change_of_it_begins_new_pods() -> None:
    documents = yaml.load_all(objects()["ConfigMap"]["data"]["kwok.yaml"])
    annotations = objects()["Deployment"]["spec"]["template"]["metadata"]["annotations"]
    others = objects(options={"cidr": "10.9.0.0/24"})["Deployment"]["spec"]["template"]["metadata"]

    assert documents[0]["options"]["manageNodesWithAnnotationSelector"] == "kwok.x-k8s.io/node=fake"
    assert {each["kind"] for each in documents[1:]} == {"Stage"}
    assert annotations != others["annotations"]


def test_a_selection_of_the_user_replaces_the_usual_one() -> None:
    options = chosen_options([configuration(manageNodesWithLabelSelector="type=kwok")])
    [first, *_] = yaml.load_all(objects(options=options)["ConfigMap"]["data"]["kwok.yaml"])

    assert first["options"]["manageNodesWithLabelSelector"] == "type=kwok"
    assert "manageNodesWithAnnotationSelector" not in first["options"]


def test_an_option_that_a_cluster_decides_is_refused() -> None:
    with pytest.raises(UsageError, match=r"nodePort.*no effect"):
        chosen_options([configuration(nodePort=10250)])


def test_any_replica_answers_for_any_node_unless_pods_are_wanted() -> None:
    [container] = pod()["containers"]
    [other] = pod(kubelet_through="pod")["containers"]

    assert "--node-ip=$(KWOK_CONTROLLER_SERVICE_HOST)" in container["args"]
    assert "--node-ip=$(POD_IP)" in other["args"]


def test_another_address_of_the_api_server_is_given_to_the_pods() -> None:
    [container] = pod(api_server=("10.0.0.1", 6443))["containers"]
    values = {each["name"]: each.get("value") for each in container["env"]}

    assert values["KUBERNETES_SERVICE_HOST"] == "10.0.0.1"
    assert values["KUBERNETES_SERVICE_PORT"] == "6443"


def test_custom_kinds_are_defined_before_they_are_read() -> None:
    request = ManifestRequest(stages=(), custom_kinds=CUSTOM)
    found = list(manifest(request))
    defined = [
        each["spec"]["names"]["kind"]
        for each in found
        if each["kind"] == "CustomResourceDefinition"
    ]

    assert sorted(defined) == sorted([*KINDS[KWOK], *WITH_FAULT, *WITH_REPAIR])
    assert [each["kind"] for each in found].index("ServiceAccount") > len(defined)


def test_the_service_is_there_before_the_pods_that_look_for_it() -> None:
    kinds = [each["kind"] for each in manifest(ManifestRequest(stages=()))]

    assert kinds.index("Service") < kinds.index("Deployment")


def test_pods_are_steered_only_if_wanted() -> None:
    assert "MutatingAdmissionPolicy" not in objects()
    for version in ("v1", "v1beta1"):
        found = objects(steering=version)
        for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"):
            assert found[kind]["apiVersion"] == f"admissionregistration.k8s.io/{version}"


def test_memory_is_that_of_the_size() -> None:
    [container] = pod(size=Size(memory_request=1088, memory_limit=2048))["containers"]

    assert container["resources"]["requests"]["memory"] == "1088Mi"
    assert container["resources"]["limits"]["memory"] == "2Gi"


def test_what_is_kept_of_replaced_stages_may_be_written_where_stages_are_custom_resources() -> None:
    def allowed(*kinds: str) -> list[Any]:
        found = manifest(ManifestRequest(stages=(), custom_kinds=kinds))
        roles = [each for each in found if each["kind"] == "Role"]
        kept = [each for each in roles if each["metadata"]["namespace"] == "kube-system"]
        return [rule for role in kept for rule in role["rules"]]

    assert allowed("Stage") == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["kwokctl-replaced-stages"],
            "verbs": ["get", "list", "patch", "watch"],
        },
    ]
    assert allowed("Logs") == []
