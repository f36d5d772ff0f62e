"""Further objects beside those of a set: made with them, gone with them, made again by the same command."""

import asyncio
from typing import Any

import pytest

from kwokctl.clusters.scaling.companions import described
from kwokctl.clusters.scaling.objects.companion_objects import COMPANION_OF
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import load_templates
from kwokctl.errors import ConfigError, ConflictError
from kwokctl.kube.resource import NODES
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster
from tests.support.scaled_sets import own_template, scale

NODE = "{apiVersion: v1, kind: Node}"
CRD = "apiextensions.k8s.io/v1"
SLICE = {
    "for": "each",
    "template": f"""
apiVersion: {CRD}
kind: CustomResourceDefinition
metadata: {{name: "{{{{ Name }}}}-slice"}}
spec: {{place: {{{{ Index }}}}}}
""",
}
SETTINGS = {
    "for": "set",
    "template": """
apiVersion: v1
kind: List
items:
{{ range $number := until (int (div (add Size 1) 2)) }}
- apiVersion: v1
  kind: Namespace
  metadata: {name: "{{ Name }}-rack-{{ $number }}"}
{{ end }}
""",
}
SHARED = {
    "for": "once",
    "template": "{apiVersion: v1, kind: Namespace, metadata: {name: shared}}",
}


def scaled(cluster: MemoryCluster, *companions: Any, **request: Any) -> Any:
    return scale(cluster, kind="own", template=NODE, companions=companions, **request)


def slices(cluster: MemoryCluster) -> dict[str, Any]:
    return {
        name: body
        for (kind, _, name), body in cluster.objects.items()
        if kind == "CustomResourceDefinition"
    }


def test_each_object_gets_its_own_which_it_owns() -> None:
    cluster = MemoryCluster()

    result = scaled(cluster, SLICE, replicas=3)

    assert list(slices(cluster)) == [f"own-{serial:06d}-slice" for serial in range(3)]
    made = slices(cluster)["own-000002-slice"]
    node = cluster.objects["Node", None, "own-000002"]
    assert made["spec"] == {"place": 2}
    assert made["metadata"]["labels"] == {COMPANION_OF: "own"}
    assert made["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "name": "own-000002",
            "uid": node["metadata"]["uid"],
            "controller": True,
        }
    ]
    assert (result.created, result.companions) == (3, 3)


def test_the_same_command_makes_again_what_was_deleted_by_hand_and_nothing_else() -> None:
    cluster = MemoryCluster()
    scaled(cluster, SLICE, replicas=3)
    cluster.remove("CustomResourceDefinition", None, "own-000001-slice")
    cluster.writes.clear()

    again = scaled(cluster, SLICE, replicas=3)

    assert cluster.writes == [("create", "own-000001-slice")]
    assert not again.is_unchanged
    assert scaled(cluster, SLICE, replicas=3).is_unchanged


def test_they_go_with_their_objects_and_before_them() -> None:
    cluster = MemoryCluster()
    scaled(cluster, SLICE, SETTINGS, replicas=4)
    cluster.writes.clear()

    scaled(cluster, SLICE, SETTINGS, replicas=1)

    deleted = [name for verb, name in cluster.writes if verb == "delete"]
    assert sorted(deleted[:3]) == [f"own-{serial:06d}-slice" for serial in (1, 2, 3)]
    assert sorted(deleted[3:6]) == [f"own-{serial:06d}" for serial in (1, 2, 3)]
    assert list(slices(cluster)) == ["own-000000-slice"]
    assert cluster.names("Namespace") == ["own-rack-0"]


def test_those_of_a_node_that_was_replaced_are_made_anew() -> None:
    cluster = MemoryCluster()
    scaled(cluster, SLICE, replicas=2)
    before = slices(cluster)["own-000000-slice"]
    cluster.remove("Node", None, "own-000000")

    scaled(cluster, SLICE, replicas=2)

    after = slices(cluster)["own-000000-slice"]
    node = cluster.objects["Node", None, "own-000000"]
    assert after["metadata"]["ownerReferences"][0]["uid"] == node["metadata"]["uid"]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def test_those_of_another_set_and_of_other_clients_are_left_alone() -> None:
    cluster = MemoryCluster()
    scaled(cluster, SLICE, replicas=1, name="other")
    cluster.put("CustomResourceDefinition", "mine")

    scaled(cluster, SLICE, replicas=1)
    scaled(cluster, SLICE, replicas=0)

    assert sorted(slices(cluster)) == ["mine", "other-000000-slice"]


def test_what_is_for_the_set_follows_its_size_and_goes_with_its_last_object() -> None:
    cluster = MemoryCluster()

    scaled(cluster, SETTINGS, replicas=5)
    assert cluster.names("Namespace") == ["own-rack-0", "own-rack-1", "own-rack-2"]

    scaled(cluster, SETTINGS, replicas=2)
    assert cluster.names("Namespace") == ["own-rack-0"]

    scaled(cluster, SETTINGS, replicas=0)
    assert cluster.names("Namespace") == []


def test_what_is_there_once_is_shared_by_all_sets_and_stays() -> None:
    cluster = MemoryCluster()

    first = scaled(cluster, SHARED, replicas=1)
    second = scaled(cluster, SHARED, replicas=1, name="other")
    scaled(cluster, SHARED, replicas=0)
    scaled(cluster, SHARED, replicas=0, name="other")

    assert (first.companions, second.companions) == (1, 0)
    assert cluster.names("Namespace") == ["shared"]
    assert cluster.objects["Namespace", None, "shared"]["metadata"].get("labels") == {}


def test_what_another_command_makes_once_at_the_same_time_is_shared_too() -> None:
    def race(body: Any) -> None:
        if body["metadata"]["name"] == "shared" and not cluster.names("Namespace"):
            cluster.put("Namespace", "shared")

    cluster = MemoryCluster(before_create=race)

    assert scaled(cluster, SHARED, replicas=1).companions == 0
    assert cluster.names("Namespace") == ["shared"]


def test_a_template_that_renders_nothing_makes_nothing() -> None:
    cluster = MemoryCluster()
    nothing = {"for": "each", "template": f"{{{{ if .dra }}}}{SLICE['template']}{{{{ end }}}}"}

    assert scaled(cluster, nothing, replicas=2).companions == 0
    assert scaled(cluster, nothing, replicas=2, params=(".dra = true",)).companions == 2


def test_a_kind_that_is_not_served_is_left_out_and_that_is_said_first() -> None:
    cluster, listener = MemoryCluster(), Listener()
    unserved = {
        "for": "each",
        "servedBy": "Kubernetes 1.34 and later",
        "template": "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, "
        'metadata: {name: "{{ Name }}"}}',
    }
    warned_after: list[int] = []
    cluster.on_create = lambda _: warned_after.append(len(listener.warnings))

    result = scaled(cluster, unserved, SLICE, listener=listener, replicas=2)

    (warning,) = listener.warnings
    assert "no ResourceSlice is made for 'own'" in warning
    assert warning.endswith("it is served by Kubernetes 1.34 and later")
    assert set(warned_after) == {1}
    assert (result.created, result.companions) == (2, 2)


def test_a_kind_of_many_companions_that_is_not_served_is_said_once() -> None:
    cluster, listener = MemoryCluster(), Listener()
    racks = SETTINGS["template"].replace("v1\n  kind: Namespace", "racks/v1\n  kind: Rack")

    scaled(cluster, {"for": "set", "template": racks}, listener=listener, replicas=6)

    (warning,) = listener.warnings
    assert "no Rack is made for 'own'" in warning


def test_an_object_of_another_client_is_not_overwritten() -> None:
    cluster = MemoryCluster()
    cluster.put("CustomResourceDefinition", "own-000001-slice")

    with pytest.raises(ConflictError, match="'own-000001-slice' exists already and is not of the"):
        scaled(cluster, SLICE, replicas=2)


@pytest.mark.parametrize(
    ("companion", "kind", "name"),
    [
        (SLICE, "CustomResourceDefinition", "own-000001-slice"),
        (SETTINGS, "Namespace", "own-rack-0"),
    ],
)
def test_a_name_that_is_taken_is_refused_before_anything_is_made(
    companion: Any, kind: str, name: str
) -> None:
    cluster = MemoryCluster()
    cluster.put(kind, name)

    with pytest.raises(ConflictError, match=f"'{name}' exists already"):
        scaled(cluster, companion, replicas=2)

    assert cluster.writes == []
    assert scaled(cluster, companion, replicas=0).is_unchanged


def test_sets_of_one_name_have_companions_of_their_own() -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})
    about = {
        "for": "set",
        "template": """
apiVersion: v1
kind: Namespace
metadata: {name: "about-{{ .kind }}-{{ Namespace }}-{{ Size }}"}
""",
    }

    def sized(kind: str, size: int, **request: Any) -> None:
        params = (f'.kind = "{kind.lower()}"',)
        template = f"{{apiVersion: v1, kind: {kind}}}"
        request |= {"kind": "own", "replicas": size, "params": params}
        scale(cluster, template=template, companions=[about], **request)

    sized("Pod", 2, namespace="load")
    sized("Pod", 3, namespace="default")
    sized("Node", 4)
    names = cluster.names("Namespace")
    assert names == ["about-node-default-4", "about-pod-default-3", "about-pod-load-2"]

    sized("Pod", 1, namespace="load")
    sized("Node", 0)
    assert cluster.names("Namespace") == ["about-pod-default-3", "about-pod-load-1"]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("{{ if }}", r"companions\[0\].template"),
        ("{{ .a | nothing }}", r"companions\[0\].template"),
        ("text", "gives no object"),
        ("{kind: Namespace, metadata: {name: '{{ Name }}'}}", "without 'apiVersion'"),
        ("{apiVersion: v1, kind: Namespace}", "without 'metadata.name'"),
        ("{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: 1}}", "not a mapping"),
        ("{apiVersion: v1, kind: Namespace, metadata: {name: a}}", "all objects 'a'"),
        ("{apiVersion: v1, kind: Namespace, metadata: {name: '{{ Position }}'}}", "Position"),
    ],
)
def test_a_wrong_template_is_refused_with_its_place_before_anything_is_made(
    template: str, problem: str
) -> None:
    cluster = MemoryCluster()

    with pytest.raises(ConfigError, match=problem) as caught:
        scaled(cluster, {"for": "each", "template": template}, replicas=2)

    assert "own.yaml" in str(caught.value)
    assert not cluster.objects


def test_pods_own_companions_in_their_own_namespace_only() -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})
    beside = {
        "for": "each",
        "template": "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ Name }}-files'}}",
    }
    pod = "{apiVersion: v1, kind: Pod}"

    scale(cluster, kind="own", template=pod, companions=[beside], replicas=2, namespace="load")
    scale(cluster, kind="own", template=pod, companions=[beside], replicas=1, namespace="default")
    scale(cluster, kind="own", template=pod, companions=[beside], replicas=0, namespace="default")

    files = [(where, name) for kind, where, name in cluster.objects if kind == "ConfigMap"]
    assert files == [("load", "own-000000-files"), ("load", "own-000001-files")]

    with pytest.raises(ConfigError, match="outside of the namespace"):
        scale(cluster, kind="own", template=pod, companions=[SLICE], replicas=1)


def test_a_dry_run_says_what_is_made_and_what_is_left_out() -> None:
    unserved = {
        "for": "set",
        "template": "{apiVersion: kueue.x-k8s.io/v1beta1, kind: Topology, metadata: {name: racks}}",
    }
    document = own_template(NODE, [SLICE, SETTINGS, unserved])
    template = load_templates([document])["own"]
    renderer = Renderer(template, ScaleRequest(kind="own", replicas=2), lambda: 0.0)

    async def lines(size: int) -> list[str]:
        return [line async for line in described(renderer, NODES, MemoryCluster(), size)]

    assert asyncio.run(lines(2)) == [
        "With each of them: such as CustomResourceDefinition 'own-000000-slice'",
        "With all of them: Namespace 'own-rack-0'",
        (
            "Left out: Topology 'racks': the cluster does not serve 'Topology' of "
            "'kueue.x-k8s.io/v1beta1'"
        ),
    ]
    assert asyncio.run(lines(0)) == []
