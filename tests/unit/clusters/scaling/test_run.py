import asyncio
import re
from collections.abc import Coroutine
from typing import Any

import pytest

from kwokctl.clusters.scaling.context import ScaleContext
from kwokctl.clusters.scaling.objects.stored_texts import TextPage, TextStore
from kwokctl.clusters.scaling.objects.templates import load_templates
from kwokctl.clusters.scaling.request import LABEL, ScaleRequest, ScaleResult
from kwokctl.clusters.scaling.run import scale_set
from kwokctl.config.config_documents import Document
from kwokctl.config.data_path import Choice
from kwokctl.embedded.silence import KUBELET
from kwokctl.errors import ApiError, ConfigError, TimedOutError, UsageError
from kwokctl.tasks import beside
from kwokctl.waits import Standstill
from tests.support import virtual_time
from tests.support.listener import Listener
from tests.support.memory_cluster import MemoryCluster, refused


def scale(
    cluster: MemoryCluster,
    listener: Listener | None = None,
    *,
    interrupt_after: int | None = None,
    meanwhile: Coroutine[object, None, None] | None = None,
    template: str = "",
    remembered: TextStore | None = None,
    **request: Any,
) -> ScaleResult:
    """Scale; `interrupt_after` so many objects have been made or deleted, it is cancelled.

    `template` is one of the user's own, called `own`.
    """
    documents = [own_template(template)] if template else []
    listener = listener or Listener()
    context = ScaleContext(
        reader=cluster,
        plane=cluster,
        progress=listener,
        wall=lambda: 0.0,
        choice=Choice(path="api", why="asked for"),
        parameters=remembered,
    )

    async def run() -> ScaleResult:
        task = asyncio.current_task()
        assert task is not None
        if interrupt_after is not None:
            listener.on_advance = lambda done: task.cancel() if done == interrupt_after else None
        async with beside(*filter(None, [meanwhile])):
            return await scale_set(ScaleRequest(**request), load_templates(documents), context)

    return virtual_time.run(run())


def own_template(text: str) -> Document:
    version, kind = "config.kwok.x-k8s.io/v1alpha1", "KwokctlResource"
    body: Any = {"metadata": {"name": "own"}, "template": text}
    return Document(kind=kind, api_version=version, name="own", body=body, source="own.yaml")


def running(body: dict[str, Any]) -> None:
    body["status"] = {"phase": "Running"}


def ready(body: dict[str, Any]) -> None:
    body["status"] = {"conditions": [{"type": "Ready", "status": "True"}]}


def test_nodes_are_made_with_one_write_each() -> None:
    cluster = MemoryCluster(on_create=ready)

    result = scale(cluster, kind="node", replicas=50, wait=0)

    assert result == ScaleResult(kind="Node", name="node", created=50)
    assert cluster.names("Node") == [f"node-{number:06d}" for number in range(50)]
    assert len(cluster.writes) == 50


def test_a_set_grows_and_shrinks_and_then_there_is_nothing_to_do() -> None:
    cluster = MemoryCluster()

    assert scale(cluster, kind="pod", name="web", replicas=3).created == 3
    assert scale(cluster, kind="pod", name="web", replicas=5) == ScaleResult(
        kind="Pod", name="web", namespace="default", created=2, existing=3
    )
    assert scale(cluster, kind="pod", name="web", replicas=2) == ScaleResult(
        kind="Pod", name="web", namespace="default", deleted=3, existing=5
    )
    assert scale(cluster, kind="pod", name="web", replicas=2).is_unchanged
    assert cluster.names("Pod") == ["web-000000", "web-000001"]


def test_sets_do_not_touch_each_other() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", name="a", replicas=2)
    scale(cluster, kind="pod", name="b", replicas=2)

    scale(cluster, kind="pod", name="a", replicas=0)

    assert cluster.names("Pod") == ["b-000000", "b-000001"]


def test_pods_are_created_in_the_requested_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})

    scale(cluster, kind="pod", replicas=1, namespace="load")

    assert list(cluster.objects) == [("Pod", "load", "pod-000000")]


@pytest.mark.parametrize("replicas", [0, 1, 5])
def test_nodes_are_in_no_namespace_and_none_is_deleted_by_a_wrong_word(replicas: int) -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=3)

    with pytest.raises(UsageError, match="nodes are in no namespace"):
        scale(cluster, kind="node", replicas=replicas, namespace="load")

    assert len(cluster.names("Node")) == 3


POD = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: %s}"


def test_a_template_can_name_the_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "team-a"})

    result = scale(cluster, template=POD % "team-a", kind="own", replicas=3)
    shrunk = scale(cluster, template=POD % "team-a", kind="own", replicas=1)

    assert (result.namespace, result.created, shrunk.deleted) == ("team-a", 3, 2)
    assert list(cluster.objects) == [("Pod", "team-a", "own-000000")]


def test_a_template_and_the_request_must_agree_on_the_namespace() -> None:
    cluster = MemoryCluster(namespaces={"default", "team-a", "load"})

    scale(cluster, template=POD % "team-a", kind="own", replicas=1, namespace="team-a")
    with pytest.raises(UsageError, match="but the template 'own' puts its objects into 'team-a'"):
        scale(cluster, template=POD % "team-a", kind="own", replicas=0, namespace="load")

    assert cluster.names("Pod") == ["own-000000"]


def test_a_set_is_in_one_namespace() -> None:
    cluster = MemoryCluster(namespaces={"load-0", "load-1"})

    with pytest.raises(ConfigError, match="'own-000001' into the namespace 'load-1'"):
        scale(cluster, template=POD % "load-{{ Index }}", kind="own", replicas=2)


@pytest.mark.parametrize(("given", "found"), [(None, "default"), ("load", "load")])
def test_namespace_is_never_empty_in_a_template(given: str | None, found: str) -> None:
    cluster = MemoryCluster(namespaces={"default", "load"})
    template = POD % "{{ Namespace }}" + "\nspec: {hostname: in-{{ Namespace }}}"

    scale(cluster, template=template, kind="own", replicas=1, namespace=given)

    [(key, body)] = cluster.objects.items()
    assert key == ("Pod", found, "own-000000")
    assert body["spec"]["hostname"] == f"in-{found}"


class Asked:
    """Answers questions, and keeps them."""

    def __init__(self, *, answer: bool) -> None:
        self.questions: list[str] = []
        self._answer = answer

    async def __call__(self, question: str) -> bool:
        self.questions.append(question)
        return self._answer


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (20, 2, "Delete 18 of the 20 nodes of the set 'node'?"),
        (11, 5, "Delete 6 of the 11 nodes of the set 'node'?"),
        (11, 0, "Delete all 11 nodes of the set 'node'?"),
        (12, 6, ""),
        (10, 0, ""),
        (20, 19, ""),
        (20, 40, ""),
        (0, 40, ""),
    ],
)
def test_more_than_half_of_a_large_set_is_deleted_after_a_question_only(
    before: int, after: int, question: str
) -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=before)
    no, yes = Asked(answer=False), Asked(answer=True)

    declined = scale(cluster, kind="node", replicas=after, confirm=no, wait=None)
    left = len(cluster.names("Node"))
    scale(cluster, kind="node", replicas=after, confirm=yes)

    assert no.questions == ([question] if question else [])
    assert left == (before if question else after) == declined.count
    assert not (question and declined.deleted)
    assert len(cluster.names("Node")) == after


def test_nodes_that_were_broken_on_purpose_are_not_waited_for() -> None:
    cluster = MemoryCluster(on_create=ready)
    scale(cluster, kind="node", replicas=3)
    broken = cluster.objects["Node", None, "node-000001"]
    broken["metadata"]["annotations"] = {KUBELET: "silent"}
    broken["status"]["conditions"][0]["status"] = "Unknown"

    result = scale(cluster, kind="node", replicas=4, wait=5)

    assert result == ScaleResult(kind="Node", name="node", created=1, existing=3, broken=1)


def test_what_was_declined_is_not_waited_for() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="node", replicas=20)

    result = scale(cluster, kind="node", replicas=1, wait=5, confirm=Asked(answer=False))

    assert result == ScaleResult(kind="Node", name="node", existing=20)


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


def test_objects_carry_the_label_of_their_set() -> None:
    cluster = MemoryCluster()

    scale(cluster, kind="node", name="gpu", serial_length=0)

    assert cluster.objects["Node", None, "gpu"]["metadata"]["labels"][LABEL] == "gpu"


def test_progress_shows_what_is_created_and_waited_for() -> None:
    cluster, listener = MemoryCluster(on_create=running), Listener()

    scale(cluster, listener, kind="pod", replicas=30, wait=10)
    scale(cluster, listener, kind="pod", replicas=29, wait=10)

    assert [(step.title, step.done, step.total, step.unit) for step in listener.steps] == [
        ("Creating 30 pods", 30, 30, "pods"),
        ("Waiting until 30 pods are Running", 30, 30, "pods"),
        ("Deleting 1 pod, down to 29", 1, 1, "pods"),
        ("Waiting until 29 pods are Running", 29, 29, "pods"),
    ]


def test_a_wait_without_end_names_the_laggards() -> None:
    cluster = MemoryCluster()

    with pytest.raises(
        TimedOutError, match="2 pods of the set 'pod' are not Running after 5 s"
    ) as caught:
        scale(cluster, kind="pod", replicas=2, wait=5)

    assert caught.value.detail == "pod-000000 is Pending\npod-000001 is Pending"
    assert cluster.names("Pod") == ["pod-000000", "pod-000001"]


def test_only_some_laggards_are_named() -> None:
    with pytest.raises(TimedOutError) as caught:
        scale(MemoryCluster(), kind="pod", replicas=1013, wait=1)

    lines = (caught.value.detail or "").splitlines()
    assert lines[0] == "pod-000000 is Pending"
    assert lines[-1] == "and 1,003 more"
    assert len(lines) == 11


def test_pods_on_a_node_that_does_not_exist_are_reported_with_that_reason() -> None:
    cluster, listener = MemoryCluster(), Listener()
    cluster.put("Node", "here")

    for node, reason in (("gone", ": its node 'gone' does not exist"), ("here", "")):
        with pytest.raises(TimedOutError) as caught:
            scale(cluster, listener, kind="pod", name=node, params=(f'.nodeName="{node}"',), wait=7)

        assert caught.value.detail == f"{node}-000000 is Pending{reason}"
        assert listener.steps[-1].said == [f"{node}-000000 is Pending{reason}"]


def test_an_interrupt_reports_what_exists_and_how_to_continue() -> None:
    cluster, listener = MemoryCluster(), Listener()
    scale(cluster, listener, kind="pod", replicas=3)

    with pytest.raises(asyncio.CancelledError):
        scale(cluster, listener, interrupt_after=10, kind="pod", replicas=2000)
    with pytest.raises(asyncio.CancelledError):
        scale(cluster, listener, interrupt_after=12, kind="pod", replicas=0)

    made, deleted = listener.notes
    stays = "what was done stays; repeat the command to continue"
    assert re.fullmatch(rf"at least \d+ of 2,000 pods exist; {stays}", made)
    assert re.fullmatch(rf"at least \d+ of \d+ pods are deleted; {stays}", deleted)


def test_a_failure_reports_how_many_objects_exist() -> None:
    def full(body: dict[str, Any]) -> None:
        if len(cluster.objects) == 5:
            raise refused(403, "Forbidden", "exceeded quota")

    cluster, listener = MemoryCluster(before_create=full), Listener()

    with pytest.raises(ApiError, match="exceeded quota"):
        scale(cluster, listener, kind="pod", replicas=60)

    assert listener.notes == ["5 of 60 pods exist"]
    assert listener.steps[0].done == 5


def test_titles_name_the_requested_change() -> None:
    cluster, listener = MemoryCluster(), Listener()
    for replicas in (1, 1500, 1000, 0):
        scale(cluster, listener, kind="node", replicas=replicas)

    assert [step.title for step in listener.steps] == [
        "Creating 1 node",
        "Creating 1,499 more nodes, to 1,500",
        "Deleting 500 nodes, down to 1,000",
        "Deleting 1,000 nodes",
    ]


def test_hundreds_of_millions_are_begun_with_the_first_ones() -> None:
    def full(body: dict[str, Any]) -> None:
        if len(cluster.objects) == 20:
            raise refused(403, "Forbidden", "exceeded quota")

    cluster = MemoryCluster(before_create=full)

    with pytest.raises(ApiError, match="exceeded quota"):
        scale(cluster, kind="pod", replicas=900_000_000, serial_length=1)

    assert "pod-19" in cluster.names("Pod")


def test_shrinking_to_nothing_waits_until_nothing_is_left() -> None:
    cluster, listener = MemoryCluster(), Listener()
    scale(cluster, kind="pod", replicas=2)

    scale(cluster, listener, kind="pod", replicas=0, wait=1)

    assert [step.title for step in listener.steps] == [
        "Deleting 2 pods",
        "Waiting until no pods are left",
    ]


def test_what_exists_already_is_waited_for_as_well() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", replicas=1)

    with pytest.raises(TimedOutError, match="1 pod of the set 'pod' is not Running"):
        scale(cluster, kind="pod", replicas=1, wait=1)


def test_shrinking_waits_until_finalizers_are_gone() -> None:
    cluster = MemoryCluster(on_create=lambda body: body["metadata"].update(finalizers=["x/y"]))
    scale(cluster, kind="node", replicas=1)

    with pytest.raises(TimedOutError) as caught:
        scale(cluster, kind="node", replicas=0, wait=1)

    assert caught.value.detail == "node-000000 still exists until the finalizer 'x/y' is removed"


def test_what_finalizers_hold_is_counted_unless_it_was_waited_for() -> None:
    cluster = MemoryCluster(on_create=lambda body: body["metadata"].update(finalizers=["x/y"]))
    scale(cluster, kind="node", replicas=2)

    assert scale(cluster, kind="node", replicas=1).held == 1
    assert scale(cluster, kind="node", replicas=1).held == 1  # it was deleted by the run before


def test_an_unknown_template_is_refused_before_any_request() -> None:
    cluster = MemoryCluster()

    with pytest.raises(UsageError, match="'podd'"):
        scale(cluster, kind="podd")

    assert cluster.writes == []


def test_nodes_that_do_not_become_ready_delay_the_others_only_briefly() -> None:
    def taint(body: dict[str, Any]) -> None:
        body["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]

    cluster = MemoryCluster(on_create=taint)

    assert scale(cluster, kind="node", replicas=500).created == 500


def test_a_standstill_counts_from_the_last_object_that_became_ready() -> None:
    cluster = MemoryCluster()
    late = [f"pod-{number:06d}" for number in range(4)]

    async def kubelet() -> None:
        while late:
            await asyncio.sleep(250)
            body = cluster.objects["Pod", "default", late.pop()]
            running(body)
            cluster.change(body)

    scale(cluster, kind="pod", replicas=4, wait=Standstill(300), meanwhile=kubelet())

    assert not late


def test_objects_that_come_and_go_do_not_move() -> None:
    cluster = MemoryCluster()

    async def kubelet() -> None:
        while True:
            for phase in ("Running", "Pending"):
                await asyncio.sleep(100)
                body = cluster.objects["Pod", "default", "pod-000000"]
                body["status"] = {"phase": phase}
                cluster.change(body)

    with pytest.raises(TimedOutError, match=r"after 300 s without progress") as caught:
        scale(cluster, kind="pod", replicas=2, wait=Standstill(300), meanwhile=kubelet())

    assert "pod-000001 is Pending" in (caught.value.detail or "")


def test_a_set_that_gets_smaller_moves() -> None:
    cluster = MemoryCluster()
    scale(cluster, kind="pod", replicas=3)
    for body in cluster.objects.values():
        body["metadata"]["finalizers"] = ["a/b"]

    async def finalizer() -> None:
        for name in cluster.names("Pod"):
            await asyncio.sleep(250)
            cluster.remove("Pod", "default", name)

    scale(cluster, kind="pod", replicas=0, wait=Standstill(300), meanwhile=finalizer())

    assert cluster.names("Pod") == []


def test_the_time_for_making_a_set_does_not_count_the_wait() -> None:
    cluster = MemoryCluster()

    async def kubelet() -> None:
        await asyncio.sleep(250)
        body = cluster.objects["Pod", "default", "pod-000000"]
        running(body)
        cluster.change(body)

    assert scale(cluster, kind="pod", wait=300, timeout=60, meanwhile=kubelet()).created == 1


def test_a_set_that_is_not_made_in_time_is_named() -> None:
    class Slow(MemoryCluster):
        async def create(self, *args: Any, **more: Any) -> bytes:
            await asyncio.sleep(61)
            return await super().create(*args, **more)

    cluster = Slow()

    with pytest.raises(TimedOutError, match="scaling 'pod' to 2 pods was not done after 60 s"):
        scale(cluster, kind="pod", replicas=2, timeout=60)
