import json
from typing import Any

import pytest

from kwokctl.clusters.scaling.objects.stored_texts import TextPage
from kwokctl.clusters.scaling.scale_request import ScaleResult
from kwokctl.errors import ApiError, UsageError
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster, refused
from tests.support.scaled_sets import Asked, scale


def test_parameters_that_old_objects_do_not_get_are_remarked() -> None:
    cluster, listener = MemoryCluster(), Listener()
    params = ('.allocatable.cpu = "64"',)

    scale(cluster, listener, kind="node", replicas=2, params=params)
    assert listener.notes == []
    scale(cluster, listener, kind="node", replicas=3, params=params)
    scale(cluster, listener, kind="node", replicas=3)

    [note] = listener.notes
    assert "for new objects only: the 2 nodes that 'node' has already stay as they are" in note


GPUS = """.allocatable["example.com/gpu"] = "8\""""


class Texts:
    """What a cluster remembers; `refuse` is what it answers instead."""

    def __init__(self, refuse: ApiError | None = None) -> None:
        self.page: TextPage | None = None
        self.refuse = refuse
        self.changed_meanwhile: list[TextPage] = []

    async def read(self) -> TextPage | None:
        if self.refuse is not None:
            raise self.refuse
        return self.page

    async def write(self, page: TextPage) -> bool:
        if self.refuse is not None:
            raise self.refuse
        if self.changed_meanwhile:
            self.page = self.changed_meanwhile.pop()
            return False
        self.page = page
        return True


def gpus(cluster: MemoryCluster) -> dict[str, str | None]:
    return {
        name: body["status"]["allocatable"].get("example.com/gpu")
        for (kind, _, name), body in cluster.objects.items()
        if kind == "Node"
    }


def test_new_objects_get_the_parameters_that_their_set_was_made_with() -> None:
    cluster, remembered, listener = MemoryCluster(), Texts(), Listener()
    scale(cluster, kind="node", name="gpu", replicas=2, params=(GPUS,), remembered=remembered)
    scale(cluster, kind="node", replicas=1, remembered=remembered)
    del cluster.objects["Node", None, "gpu-000000"]

    scale(cluster, listener, kind="node", name="gpu", replicas=3, remembered=remembered)

    assert gpus(cluster) == {
        "gpu-000000": "8", "gpu-000001": "8", "gpu-000002": "8", "node-000000": None,
    }  # fmt: skip
    [note] = listener.notes
    assert note == f"'gpu' is made with --param '{GPUS}', as it was before"


def test_other_parameters_for_a_set_are_asked_about() -> None:
    cluster, remembered, other = MemoryCluster(), Texts(), '.allocatable.cpu = "1"'
    set_of: dict[str, Any] = {"kind": "node", "name": "gpu", "remembered": remembered}
    scale(cluster, replicas=2, params=(GPUS,), **set_of)
    asked = Asked(answer=False)
    result = scale(cluster, replicas=3, params=(other,), confirm=asked, **set_of)
    assert result == ScaleResult(kind="Node", name="gpu", existing=2)
    assert asked.questions == [
        f"Make 1 more node with --param '{other}'? 'gpu' was made with --param '{GPUS}' so far."
    ]

    scale(cluster, replicas=3, params=(other,), confirm=Asked(answer=True), **set_of)
    scale(cluster, replicas=4, **set_of)
    assert list(gpus(cluster).values()) == ["8", "8", None, None]


@pytest.mark.parametrize(("replicas", "param"), [(2, GPUS), (3, GPUS), (2, ".")])
def test_nothing_is_asked_where_parameters_make_no_difference(replicas: int, param: str) -> None:
    cluster, remembered, asked = MemoryCluster(), Texts(), Asked(answer=False)
    set_of: dict[str, Any] = {"kind": "node", "remembered": remembered}
    scale(cluster, replicas=2, params=(GPUS,), **set_of)

    scale(cluster, replicas=replicas, params=(param,), confirm=asked, **set_of)

    assert asked.questions == []
    scale(cluster, replicas=4, **set_of)
    assert set(gpus(cluster).values()) == {"8"}


def test_a_set_that_was_scaled_to_nothing_has_no_parameters() -> None:
    cluster, remembered = MemoryCluster(), Texts()
    scale(cluster, kind="node", replicas=2, params=(GPUS,), remembered=remembered)
    scale(cluster, kind="node", replicas=0, remembered=remembered)

    scale(cluster, kind="node", replicas=1, remembered=remembered)

    assert gpus(cluster) == {"node-000000": None}


def test_parameters_of_a_set_are_not_those_of_its_name_elsewhere() -> None:
    cluster, remembered = MemoryCluster(namespaces={"default", "load"}), Texts()
    program = '.nodeName = "a"'
    scale(cluster, kind="pod", name="x", params=(program,), remembered=remembered)
    scale(cluster, kind="pod", name="x", namespace="load", remembered=remembered)
    scale(cluster, kind="node", name="x", remembered=remembered)

    assert "nodeName" not in cluster.objects["Pod", "load", "x-000000"]["spec"]


def test_what_was_written_meanwhile_is_kept() -> None:
    cluster, remembered = MemoryCluster(), Texts()
    remembered.changed_meanwhile = [TextPage({"nodes_other": "text"}, "7")]

    scale(cluster, kind="node", params=(GPUS,), remembered=remembered)

    assert remembered.page is not None
    assert set(remembered.page.texts) == {"nodes_other", "nodes_node"}
    assert remembered.page.version == "7"


def test_a_cluster_that_lets_nothing_be_remembered_is_scaled_with_a_warning() -> None:
    cluster, listener = MemoryCluster(), Listener()
    remembered = Texts(refused(403, "Forbidden", "no"))

    scale(cluster, listener, kind="node", params=(GPUS,), remembered=remembered)

    assert gpus(cluster) == {"node-000000": "8"}
    [warning] = listener.warnings
    assert "give --param again" in warning


def test_parameters_that_fit_no_more_are_named() -> None:
    cluster, remembered = MemoryCluster(), Texts()
    scale(cluster, kind="node", params=(".a = 1",), remembered=remembered)
    assert remembered.page is not None
    [(key, text)] = remembered.page.texts.items()
    remembered.page = TextPage({key: text.replace(".a = 1", "nonsense(")})

    with pytest.raises(UsageError, match="--param") as raised:
        scale(cluster, kind="node", replicas=2, remembered=remembered)
    assert raised.value.hint == "'node' was made with it; give --param again"


def test_parameters_reach_the_objects() -> None:
    cluster = MemoryCluster()

    scale(cluster, kind="pod", params=('.nodeName = "node-000000"',))

    assert cluster.objects["Pod", "default", "pod-000000"]["spec"]["nodeName"] == "node-000000"


def test_a_lost_object_of_a_set_of_two_kinds_is_made_again_as_it_was() -> None:
    cluster, remembered, listener = MemoryCluster(), Texts(), Listener()
    set_of: dict[str, Any] = {"kind": "node", "name": "gpu", "remembered": remembered}
    scale(cluster, replicas=2, params=(GPUS,), **set_of)
    scale(cluster, replicas=4, params=(".",), **set_of)
    before = dict(cluster.objects)
    for lost in ("gpu-000001", "gpu-000003"):
        del cluster.objects["Node", None, lost]

    scale(cluster, listener, replicas=5, **set_of)

    assert {key: body["status"] for key, body in cluster.objects.items() if key in before} == {
        key: body["status"] for key, body in before.items()
    }
    assert gpus(cluster)["gpu-000004"] is None
    assert listener.notes == [
        "'gpu' is made with --param ., as it was before",
        f"'gpu-000001' is made with --param '{GPUS}', as before",
    ]


def test_parameters_that_are_given_hold_for_a_lost_object_too() -> None:
    cluster, remembered = MemoryCluster(), Texts()
    set_of: dict[str, Any] = {"kind": "node", "name": "gpu", "remembered": remembered}
    scale(cluster, replicas=3, params=(GPUS,), **set_of)
    del cluster.objects["Node", None, "gpu-000001"]

    scale(cluster, replicas=3, params=(".",), **set_of)
    del cluster.objects["Node", None, "gpu-000000"]
    del cluster.objects["Node", None, "gpu-000001"]
    scale(cluster, replicas=3, **set_of)

    assert gpus(cluster) == {"gpu-000000": "8", "gpu-000001": None, "gpu-000002": "8"}


def test_numbers_that_were_deleted_on_purpose_are_remembered_no_more() -> None:
    cluster, remembered = MemoryCluster(), Texts()
    set_of: dict[str, Any] = {"kind": "node", "name": "gpu", "remembered": remembered}
    scale(cluster, replicas=3, params=(GPUS,), **set_of)
    scale(cluster, replicas=4, params=(".",), **set_of)

    scale(cluster, replicas=1, **set_of)
    scale(cluster, replicas=4, **set_of)

    assert list(gpus(cluster).values()) == ["8", None, None, None]


def test_each_shape_of_a_set_has_its_own_parameters() -> None:
    cluster, remembered, listener = MemoryCluster(), Texts(), Listener()
    set_of: dict[str, Any] = {"name": "mixed", "remembered": remembered}
    label = '.labels.team = "a"'
    scale(cluster, kind="p5", replicas=2, params=(label,), **set_of)
    scale(cluster, kind="dgx-h100", replicas=4, **set_of)
    before = cluster.objects.pop(("Node", None, "mixed-000001"))

    scale(cluster, listener, kind="p5", replicas=4, **set_of)

    assert cluster.objects["Node", None, "mixed-000001"]["metadata"]["labels"]["team"] == "a"
    again = cluster.objects["Node", None, "mixed-000001"]
    assert again["metadata"]["labels"] == before["metadata"]["labels"]
    assert again["status"]["allocatable"] == before["status"]["allocatable"]
    [note] = listener.notes
    assert note == f"'mixed-000001' is made with --param '{label}', as before"


def test_a_lost_object_that_becomes_one_of_another_shape_is_remarked() -> None:
    cluster, remembered, listener = MemoryCluster(), Texts(), Listener()
    set_of: dict[str, Any] = {"name": "mixed", "remembered": remembered}
    scale(cluster, kind="p5", replicas=2, **set_of)
    scale(cluster, kind="dgx-h100", replicas=3, **set_of)
    del cluster.objects["Node", None, "mixed-000000"]

    scale(cluster, listener, kind="dgx-h100", replicas=3, **set_of)

    [note] = listener.notes
    assert note == (
        "'mixed-000000' is made of 'dgx-h100' though it was of 'p5' before: "
        "'kwokctl scale p5 mixed' makes new ones of that template"
    )


def test_a_template_of_the_same_name_that_is_another_one_is_remarked() -> None:
    cluster, remembered, listener = MemoryCluster(), Texts(), Listener()
    text = "{{apiVersion: v1, kind: Node, spec: {{providerID: {}}}}}"
    scale(cluster, kind="own", replicas=1, template=text.format("a"), remembered=remembered)
    scale(
        cluster, listener, kind="own", replicas=2, template=text.format("a"), remembered=remembered
    )
    assert listener.notes == []

    scale(
        cluster, listener, kind="own", replicas=3, template=text.format("b"), remembered=remembered
    )

    [note] = listener.notes
    assert "the template 'own' is not the one that 'own' was made of" in note


def test_a_set_of_one_kind_is_remembered_as_earlier_versions_did() -> None:
    cluster, remembered = MemoryCluster(), Texts()

    scale(cluster, kind="node", params=(GPUS,), remembered=remembered)

    assert remembered.page is not None
    [text] = remembered.page.texts.values()
    assert json.loads(text) == {"template": "node", "params": [GPUS]}


@pytest.mark.parametrize("kind", ["node", "p5"])
def test_nothing_is_stored_for_a_usual_set(kind: str) -> None:
    cluster, remembered = MemoryCluster(), Texts()

    scale(cluster, kind=kind, replicas=2, remembered=remembered)

    assert remembered.page is None
