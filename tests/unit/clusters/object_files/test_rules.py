"""Rules take from objects what must not leave their cluster, and keep what refers to each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.object_files.rules.applying import Scrubber
from kwokctl.clusters.object_files.rules.field_names import custom_fields
from kwokctl.clusters.object_files.rules.pseudonyms import Pseudonyms
from kwokctl.clusters.object_files.rules.rules_file import FieldRule, SnapshotRules, load_rules
from kwokctl.errors import ConfigError

Object = dict[str, Any]
SECRET = "hunter2"
TWIN = load_rules("twin")


def _scrubbed(value: Object, rules: SnapshotRules = TWIN) -> Object:
    found = Scrubber(rules, "salt").scrubbed({"apiVersion": "v1", **value})
    assert found is not None
    return found


def _spoiled(value: Any) -> Any:
    """Put the secret wherever a user may write, also into keys."""
    return json.loads(json.dumps(value).replace("USER", SECRET))


POD: Object = {
    "kind": "Pod",
    "metadata": {
        "name": "USER-web-0",
        "namespace": "USER",
        "generateName": "USER-",
        "labels": {"USER": "USER", "kind": "USER", "type": "USER", "status": "USER"},
        "annotations": {"USER": "USER"},
        "finalizers": ["USER.example.com/x"],
        "managedFields": [{"manager": "USER"}],
        "ownerReferences": [{"kind": "StatefulSet", "name": "USER-web", "uid": "u"}],
    },
    "spec": {
        "nodeName": "USER-node",
        "nodeSelector": {"USER": "USER", "kubernetes.io/os": "linux"},
        "serviceAccountName": "USER",
        "readinessGates": [{"conditionType": "USER.example.com/ready"}],
        "hostname": "USER",
        "priorityClassName": "USER",
        "imagePullSecrets": [{"name": "USER"}],
        "tolerations": [{"key": "USER", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "USER",
                "image": "USER.example.com/team/USER:1",
                "command": ["USER"],
                "args": ["--password=USER"],
                "env": [{"name": "USER", "value": "USER"}],
                "envFrom": [{"configMapRef": {"name": "USER"}}],
                "workingDir": "/USER",
                "ports": [{"name": "USER-http-metrics", "containerPort": 80}],
                "livenessProbe": {"httpGet": {"path": "/USER"}},
                "resources": {"requests": {"cpu": "100m", "nvidia.com/gpu": "1"}},
                "volumeMounts": [{"name": "USER", "mountPath": "/USER"}],
            }
        ],
        "volumes": [
            {"name": "USER", "persistentVolumeClaim": {"claimName": "USER"}},
            {"name": "USER-x", "hostPath": {"path": "/USER"}, "csi": {"driver": "USER"}},
        ],
    },
    "status": {
        "phase": "Running",
        "message": "USER",
        "reason": "USER",
        "conditions": [
            {"type": "Ready", "status": "True", "message": "USER", "reason": "USER"},
            {"type": "USER.example.com/ready", "status": "True"},
        ],
        "containerStatuses": [{"name": "USER", "image": "USER", "imageID": "USER", "ready": True}],
    },
}
WORLD: tuple[Object, ...] = (
    POD,
    {"kind": "ConfigMap", "metadata": {"name": "USER"}, "data": {"USER": "USER"}},
    {"kind": "Secret", "metadata": {"name": "USER"}, "data": {"USER": "USER"}},
    {
        "kind": "Node",
        "metadata": {"name": "USER", "labels": {"kubernetes.io/hostname": "USER"}},
        "spec": {"providerID": "aws://USER", "taints": [{"key": "USER", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"cpu": "4"},
            "addresses": [{"address": "USER"}],
            "images": [{"names": ["USER"]}],
            "nodeInfo": {"machineID": "USER"},
        },
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "system:USER2"},
        "subjects": [{"kind": "User", "name": "USER@example.com"}],
        "roleRef": {"kind": "Role", "name": "USER"},
    },
    {
        "apiVersion": "acme.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "USER", "annotations": {"USER": "USER"}},
        "spec": {
            "reason": "USER",
            "default": "USER",
            "nested": {"list": ["USER"]},
            "users": {"USER": "x", "of": [{"USER": 1}]},
            "template": {"metadata": {"labels": {"USER": "x"}, "annotations": {"USER": "x"}}},
        },
        "status": {"phase": "USER", "conditions": [{"type": "USER", "reason": "USER"}]},
    },
    {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": "USER"},
        "spec": {"ip": "USER", "default": "USER", "type": "USER"},
        "status": {"reason": "USER", "conditions": [{"type": "USER"}]},
    },
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "USER"},
        "spec": {"devices": [{"name": "USER", "attributes": {"USER": {"string": "USER"}}}]},
    },
    {
        "kind": "PersistentVolume",
        "metadata": {"name": "USER"},
        "spec": {"capacity": {"storage": "1Gi"}, "csi": {"driver": "USER", "volumeHandle": "USER"}},
    },
    {
        "kind": "Service",
        "metadata": {"name": "USER"},
        "spec": {"selector": {"USER": "USER"}, "type": "ExternalName", "externalName": "USER"},
    },
)


@pytest.mark.parametrize("value", WORLD, ids=lambda value: value["kind"])
def test_not_a_byte_of_a_secret_is_in_a_twin(value: Object) -> None:
    spoiled = _spoiled(value)
    assert SECRET in json.dumps(spoiled)
    assert SECRET not in json.dumps(_scrubbed(spoiled))


def test_a_twin_keeps_what_a_scheduler_looks_at() -> None:
    pod = _scrubbed(POD)
    spec, container = pod["spec"], pod["spec"]["containers"][0]
    assert container["resources"] == {"requests": {"cpu": "100m", "nvidia.com/gpu": "1"}}
    assert spec["nodeSelector"]["kubernetes.io/os"] == "linux"
    assert spec["tolerations"][0] | {"key": ""} == {
        "key": "", "operator": "Exists", "effect": "NoSchedule",
    }  # fmt: skip
    assert pod["status"]["phase"] == "Running"
    ready, own = pod["status"]["conditions"]
    assert ready["type"] == "Ready"
    assert spec["readinessGates"] == [{"conditionType": own["type"]}]
    assert list(spec["volumes"][0]) == ["name", "persistentVolumeClaim"]
    assert list(spec["volumes"][1]) == ["name"]


def test_what_refers_to_each_other_still_does() -> None:
    pod = _scrubbed(_spoiled(POD))
    node = _scrubbed({"kind": "Node", "metadata": {"name": f"{SECRET}-node"}})
    owner = pod["metadata"]["ownerReferences"][0]["name"]
    toleration, label = pod["spec"]["tolerations"][0]["key"], next(iter(pod["metadata"]["labels"]))
    assert pod["spec"]["nodeName"] == node["metadata"]["name"]
    assert pod["metadata"]["name"] == f"{owner}-0"
    assert toleration == label
    assert len(pod["spec"]["containers"][0]["ports"][0]["name"]) <= 15


def test_real_nodes_become_fake_ones() -> None:
    node = _scrubbed({"kind": "Node", "metadata": {"name": "a", "annotations": {"x": "y"}}})
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}


def test_a_volume_is_somewhere_that_says_nothing() -> None:
    spec = {"capacity": {"storage": "1Gi"}, "nfs": {"server": "a", "path": "/b"}}
    volume = _scrubbed({"kind": "PersistentVolume", "metadata": {"name": "a"}, "spec": spec})
    assert volume["spec"] == {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/twin"}}


def test_a_definition_keeps_its_schema_without_its_prose() -> None:
    schema = {"description": "x", "properties": {"description": {"type": "string", "default": "y"}}}
    value = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "versions": [{"name": "v1", "schema": schema}]},
    }
    found = _scrubbed(value)
    assert found["metadata"]["name"] == "widgets.example.com"
    assert found["spec"]["versions"] == [
        {"name": "v1", "schema": {"properties": {"description": {"type": "string"}}}}
    ]


WIDGETS: Object = {
    "spec": {
        "group": "acme.example.com",
        "names": {"kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "properties": {
                            "spec": {
                                "properties": {
                                    "users": {"additionalProperties": {"properties": {"age": {}}}},
                                    "parts": {"items": {"properties": {"size": {}}}},
                                    "free": {"x-kubernetes-preserve-unknown-fields": True},
                                    "pod": {"x-kubernetes-embedded-resource": True},
                                }
                            }
                        }
                    }
                },
            }
        ],
    }
}


def test_names_that_a_definition_declares_stay_and_all_others_become_words() -> None:
    value = {
        "apiVersion": "acme.example.com/v1",
        "kind": "Widget",
        "metadata": {
            "name": "a",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
        },
        "spec": {
            "users": {"me": {"age": 3, "name": 1}},
            "parts": [{"size": 1}],
            "free": {"size": 2},
            "pod": {"kind": "K", "metadata": {"labels": {"team": "x"}}},
        },
    }
    found = Scrubber(TWIN, "salt", custom_fields([WIDGETS])).scrubbed(value)
    word = Pseudonyms("salt").word
    assert found is not None
    assert found["spec"] == {
        "users": {word("me"): {"age": 3, word("name"): 1}},
        "parts": [{"size": 1}],
        "free": {word("size"): 2},
        "pod": {"kind": word("K"), "metadata": {"labels": {word("team"): word("x")}}},
    }
    assert found["metadata"]["ownerReferences"][0]["kind"] == "Node"


def test_what_every_cluster_has_keeps_its_name() -> None:
    names = Pseudonyms("salt")
    for text in ("default", "kube-system", "system:masters", "node-role.kubernetes.io/worker", ""):
        assert names.word(text) == text
    account = names.word("system:serviceaccount:kube-system:robot")
    assert account == f"system:serviceaccount:kube-system:{names.word('robot')}"
    assert names.word("system:node:secret").startswith("system:node:x")


def test_another_salt_gives_other_words() -> None:
    assert Pseudonyms("a").word("web") == Pseudonyms("a").word("web")
    assert Pseudonyms("a").word("web") != Pseudonyms("b").word("web")


@pytest.mark.parametrize("text", ["a" * 63, "-".join("abcdefghijkl"), "Über uns", "UPPER", "7" * 9])
def test_a_word_is_a_valid_name_whatever_it_stands_for(text: str) -> None:
    word = Pseudonyms("salt").word(text)
    assert len(word) <= 63
    assert word.replace("-", "").isalnum()
    assert word == word.lower()
    assert text not in word


def test_the_first_rule_that_names_a_field_counts() -> None:
    rules = SnapshotRules(
        salt="s",
        rules=(
            FieldRule(kinds=("Pod",), keep=("metadata.labels.app",)),
            FieldRule(strip=("**.env", "metadata.annotations.*"), hash=("metadata.labels",)),
            FieldRule(kinds=("Pod",), set={"spec.nodeName": "one", "spec.a.b": 1}),
            FieldRule(kinds=("Event",), drop=True),
        ),
    )
    pod = {
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"app": "x", "team": "y"}, "annotations": {"b": "c"}},
        "spec": {"containers": [{"name": "a", "env": [{"name": "x"}]}]},
    }
    found = _scrubbed(pod, rules)
    word = Pseudonyms("s").word
    assert found["metadata"] == {
        "name": "a",
        "labels": {"app": "x", word("team"): word("y")},
        "annotations": {},
    }
    assert found["spec"] == {"containers": [{"name": "a"}], "nodeName": "one", "a": {"b": 1}}
    assert Scrubber(rules, "").scrubbed({"apiVersion": "v1", "kind": "Event"}) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "are not YAML"),
        ("kind: Pod\napiVersion: v1", "is Pod of v1"),
        ("base: all", "'base'|base"),
        ("rules: [{remove: [a]}]", "remove"),
        ("rules: [{strip: a}]", r"rules\[0\].strip"),
    ],
)
def test_rules_that_are_none_are_refused_with_the_place(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "rules.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_rules(str(tmp_path / "rules.yaml"))


def test_rules_that_are_not_there_name_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        load_rules(str(tmp_path / "rules.yaml"))
    assert "'twin'" in str(caught.value.hint)
