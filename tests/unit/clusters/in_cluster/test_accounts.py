""""""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kwokctl.clusters.in_cluster.accounts import accounts, cluster_rights, lease_rights, rules
from kwokctl.clusters.in_cluster.config_map import chosen_stages
from kwokctl.clusters.in_cluster.manifest_request import ManifestRequest
from kwokctl.clusters.in_cluster.stage_rights import ApiRight, plural, stage_rights
from kwokctl.components.heartbeat import usual_heartbeat
from kwokctl.components.stage_sets import documents_of, shipped_sets
from kwokctl.config.document_kinds import CUSTOM, KWOK
from kwokctl.errors import ConfigError
from kwokctl.replacing import replace

READING = {"get", "list", "watch"}


def stage(kind: str, *steps: Mapping[str, Any], group: str = "v1") -> Mapping[str, Any]:
    return {
        "apiVersion": KWOK,
        "kind": "Stage",
        "metadata": {"name": "mine"},
        "spec": {
            "resourceRef": {"apiGroup": group, "kind": kind},
            "selector": {"matchLabels": {"a": "b"}},
            "steps": list(steps),
        },
    }


def allowed(bodies: Sequence[Mapping[str, Any]], group: str, resource: str) -> set[str]:
    found = stage_rights(bodies)
    return {each.verb for each in found if (each.group, each.resource) == (group, resource)}


def test_the_usual_stages_may_do_what_kubelets_do_and_no_more() -> None:
    found = rules(cluster_rights(ManifestRequest(stages=chosen_stages((), ()))))

    assert found == [
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete", "get", "list", "watch"]},
        {
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["tokenreviews"],
            "verbs": ["create"],
        },
        {
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["subjectaccessreviews"],
            "verbs": ["create"],
        },
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "patch", "watch"]},
        {
            "apiGroups": ["jobset.x-k8s.io"],
            "resources": ["jobsets"],
            "verbs": ["list", "patch", "watch"],
        },
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaims"],
            "verbs": ["get"],
        },
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaims/driver"],
            "verbs": ["arbitrary-node:patch"],
        },
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceclaims/status"],
            "verbs": ["patch"],
        },
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceslices"],
            "verbs": ["list", "patch"],
        },
    ]


@pytest.mark.parametrize("name", sorted(shipped_sets()))
def test_a_set_has_rights_to_its_own_kinds_only(name: str) -> None:
    bodies = documents_of([shipped_sets()[name]], (), usual_heartbeat(40))
    kinds = {plural("v1", body["spec"]["resourceRef"]["kind"]) for body in bodies}
    written = {"persistentvolumes"} if name == "volume-fast" else set()

    found = stage_rights(bodies)

    assert {each.resource.partition("/")[0] for each in found} - {"events"} == kinds | written


def test_nothing_is_granted_by_a_wildcard() -> None:
    request = ManifestRequest(stages=chosen_stages((), ()), custom_kinds=CUSTOM)
    every = {*cluster_rights(request), *lease_rights()}

    assert not [each for each in every if "*" in (each.group, each.resource, each.verb)]


def test_the_gates_of_the_api_server_may_be_read_and_no_other_path() -> None:
    [role] = [
        each for each in accounts(ManifestRequest(stages=())) if each["kind"] == "ClusterRole"
    ]

    paths = [each for each in role["rules"] if "nonResourceURLs" in each]

    assert paths == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]


def test_leases_are_written_where_those_of_nodes_are() -> None:
    assert {each.resource for each in lease_rights()} == {"leases"}
    assert not [
        each for each in cluster_rights(ManifestRequest(stages=())) if "leases" in each.resource
    ]


def test_a_patch_needs_the_right_to_its_subresource() -> None:
    scaled = stage(
        "Deployment", {"patch": {"subresource": "scale", "template": "a: b"}}, group="apps/v1"
    )
    whole = stage("Deployment", {"patch": {"template": "a: b"}}, group="apps/v1")

    assert allowed([scaled], "apps", "deployments/scale") == {"patch"}
    assert allowed([scaled], "apps", "deployments") == READING
    assert allowed([whole], "apps", "deployments") == READING | {"patch"}


def test_finalizers_deletion_and_events_need_their_rights() -> None:
    body = stage(
        "Pod",
        {"event": {"type": "Normal", "reason": "A", "message": "b"}},
        {"finalizers": {"empty": True}},
        {"delete": True},
    )

    assert allowed([body], "", "pods") == READING | {"patch", "delete"}
    assert allowed([body], "", "events") == {"create"}


def test_what_is_applied_may_be_created_and_patched() -> None:
    template = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}"

    assert allowed([stage("Pod", {"apply": {"template": template}})], "batch", "jobs") == {
        "create",
        "patch",
    }


def test_an_applied_kind_that_only_rendering_would_tell_is_refused() -> None:
    body = stage("Pod", {"apply": {"template": "kind: {{ .kind }}"}})

    with pytest.raises(ConfigError, match="which kind it applies"):
        stage_rights([body])


def test_a_patch_as_another_user_needs_the_right_to_be_that_user() -> None:
    impersonation = {"username": "robot"}
    body = stage("Pod", {"patch": {"template": "a: b", "impersonation": impersonation}})

    assert ApiRight("", "users", "impersonate", "robot") in stage_rights([body])
    assert allowed([body], "", "pods") == READING


@pytest.mark.parametrize("words", [["pod-kubelet"], ["pod-general"], []])
def test_what_pods_need_that_live_as_on_a_kubelet_is_granted_where_pods_are_played(
    words: list[str],
) -> None:
    request = ManifestRequest(
        stages=chosen_stages(words, ()), has_kubelet_pods="pod-kubelet" in words
    )

    assert cluster_rights(request) >= {
        ApiRight("", "pods/status", "patch"),
        ApiRight("", "pods", "delete"),
        ApiRight("", "events", "create"),
        ApiRight("", "events", "patch"),
    }


def test_where_only_nodes_are_played_pods_may_not_be_written() -> None:
    found = cluster_rights(ManifestRequest(stages=[stage("Node", {"delete": True})]))

    assert {each.verb for each in found if each.resource.startswith("pods")} == READING
    assert not [each for each in found if "claims" in each.resource]


def test_kinds_are_spelt_as_the_api_has_them() -> None:
    spelt = {
        "Ingress": "ingresses", "NetworkPolicy": "networkpolicies", "StorageClass": "storageclasses",
        "Endpoints": "endpoints", "Pod": "pods",
    }  # fmt: skip
    assert {kind: plural("v1", kind) for kind in spelt} == spelt
    assert plural(KWOK, "ClusterLogs") == "clusterlogs"
    assert plural(KWOK, "ResourceUsage") == "resourceusages"


def test_faults_need_rights_of_their_own_and_only_where_they_are_custom_resources() -> None:
    plain = ManifestRequest(stages=chosen_stages((), ()))
    more = cluster_rights(replace(plain, custom_kinds=("Fault",))) - cluster_rights(plain)
    found = {(each.resource, each.verb) for each in more}

    assert {each.resource for each in more if each.group == "kwokctl.dev"} == {
        "faults", "faults/status", "faultschedules", "faultschedules/status", "faultpages", "faultclasses", "faultdialects",
    }  # fmt: skip
    assert {verb for resource, verb in found if resource == "faultpages"} == {
        *READING, "create", "patch", "update", "delete",
    }  # fmt: skip
    assert {verb for resource, verb in found if resource == "faults"} == {
        *READING, "create", "delete",
    }  # fmt: skip
    assert ("nodes", "patch") in found
    assert {each.name for each in more if each.resource == "customresourcedefinitions"} == {
        "faults.kwokctl.dev"
    }
    assert {each.verb for each in lease_rights(["Fault"]) - lease_rights()} == {"patch"}
