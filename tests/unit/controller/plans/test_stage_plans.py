"""What is proven for all pods of a shape, and what is not certain for all of them."""

from collections.abc import Sequence
from random import Random
from typing import Any

import orjson
import pytest

from kwokctl.controller.plans import Plans, StagePlan, View, plan_of, view_of
from kwokctl.controller.stages.compiled_stage import Stage, Step
from kwokctl.expr.gotemplate.symbols import Symbol
from kwokctl.json_value import Json
from kwokctl.kube.resource import PODS
from kwokctl.specialization.holes import Hole, HoleContent
from kwokctl.specialization.shape import VERSION, ObjectForm, Shape
from kwokctl.specialization.source import Functions
from tests.support.etcd_of_pods import with_version
from tests.support.pods_in_etcd import pod
from tests.support.stage_documents import Body, read, stage

USES = 8
"""From so many objects on something is made for all that are alike."""
EVENT = {"event": {"type": "Normal", "reason": "R", "message": "m"}}
ADDRESSES = {
    "node-1": ["10.0.0.1"],
    "node-2": ["fd00::2"],
    "node-3": ["10.0.0.3", "fd00::3"],
    "node-4": ["fd00::4", "10.0.0.4"],
}
FUNCTIONS: Functions = {"NodeIPsWith": ADDRESSES.__getitem__}


def plain(number: int, node: str = "node-1", **metadata: Any) -> Json:
    body = pod(0, Random(1))
    words = {"name": f"pod-{number}", "uid": f"u-{number}", "annotations": {"delay": "3s"}}
    body["metadata"] = {**body["metadata"], **words, **metadata}
    body["spec"]["nodeName"] = node
    return body


def form_of(plans: Plans, body: Json) -> ObjectForm | None:
    metadata = body["metadata"]
    words = metadata["name"], metadata["uid"], body["spec"]["nodeName"]
    return plans.form(orjson.dumps(with_version(body, 7)), words, 7)


def formed(plans: Plans, body: Json) -> ObjectForm:
    """Return the form of a pod, after others like it."""
    form = [form_of(plans, body) for _ in range(USES)][-1]
    assert form is not None
    return form


def patch(template: str, root: str = "status", **more: Any) -> Body:
    return {"patch": {"subresource": "status", "root": root, "template": template, **more}}


def steps(*bodies: Body) -> Sequence[Step]:
    return one(steps=[*bodies]).steps


def one(**spec: Any) -> Stage:
    more = spec if "steps" in spec else {"template": "phase: Running", **spec}
    [found] = read([stage("s", **more)])
    return found


def planned(body: Json, *bodies: Body, plans: Plans | None = None) -> StagePlan | None:
    plans = Plans(PODS) if plans is None else plans
    return plan_of(PODS, steps(*bodies), formed(plans, body), FUNCTIONS, plans.known)


@pytest.mark.parametrize("kind", ["strategic", "merge"])
def test_a_plan_does_to_another_pod_what_the_patch_does(kind: str) -> None:
    plans = Plans(PODS)
    template = "phase: Running\nreason: {{ Quote .metadata.name }}"

    plan = planned(plain(1), patch(template, type=kind), plans=plans)

    assert plan is not None
    assert (plan.steps, plan.event) == (1, None)
    other = plain(2)
    after = plan.form(formed(plans, other), FUNCTIONS)
    other["status"] |= {"phase": "Running", "reason": "pod-2"}
    assert after.opened(7) == with_version(other, 7)


def test_a_pod_without_a_status_is_planned() -> None:
    body = plain(1)
    del body["status"]

    assert planned(body, patch("phase: Running"))


def test_pods_after_equal_plans_have_one_shape() -> None:
    plans = Plans(PODS)

    first = planned(plain(1), patch("phase: Running"), plans=plans)
    second = planned(plain(2), patch("phase: Running"), plans=plans)

    assert first is not None
    assert second is not None
    assert first.shape is second.shape


def test_an_event_is_planned_with_the_patch_after_it() -> None:
    plan = planned(plain(1), EVENT, patch("phase: Running"), patch("reason: other"))

    assert plan is not None
    assert plan.steps == 2
    assert plan.event is not None
    assert plan.shape.value["status"]["phase"] == "Running"
    assert "reason" not in plan.shape.value["status"]


def test_a_patch_may_repeat_what_is_in_the_metadata() -> None:
    template = "metadata: {labels: {own: {{ Quote .metadata.name }}}}\nstatus: {phase: Running}"

    assert planned(plain(1, labels={"own": "pod-1"}), patch(template, root=""))
    assert planned(plain(1, labels={"own": "other"}), patch(template, root="")) is None


@pytest.mark.parametrize(
    "bodies",
    [
        [EVENT],
        [EVENT, EVENT],
        [EVENT, EVENT, patch("phase: Running")],
        [{"finalizers": {"empty": True}}],
        [patch("phase: Running", subresource="")],
        [patch("phase: Running", impersonation={"username": "somebody"})],
        [patch("[{op: replace, path: /phase, value: Running}]", type="json")],
        [patch("phase: Pending")],
        [patch("phase: {{ Quote .metadata.name }}")],
        [patch("qosClass: {{ Quote .metadata.name }}")],
        [patch("{labels: {a: b}}", root="metadata")],
        [patch("{metadata: {labels: {a: b}}, status: {phase: Running}}", root="")],
        [patch("startTime: {{ Quote .metadata.name }}")],
        [patch("unknownField: a")],
        [patch('{{ if eq .metadata.name "pod-1" }}phase: Running{{ end }}')],
    ],
)
def test_what_is_not_certain_for_all_pods_has_no_plan(bodies: Sequence[Body]) -> None:
    assert planned(plain(1), *bodies) is None


def test_a_text_that_may_be_the_one_that_is_there_has_no_plan() -> None:
    body = plain(1)
    body["status"]["reason"] = "pod-1"

    assert planned(body, patch("reason: {{ Quote .metadata.uid }}")) is None


def viewed(*stages: Stage, body: Json = None) -> View | None:
    return view_of(formed(Plans(PODS), body or plain(1)).shape, stages)


def test_a_view_has_the_stages_that_match_all_pods_of_a_shape() -> None:
    first, second = one(weight=2), one(weightFrom=jq('.metadata.annotations["weight"]'))
    other, unselecting = (
        one(phase="Running"),
        Stage(name="none", kind=first.kind, selector=None, steps=()),
    )

    view = viewed(other, first, unselecting, second, body=plain(1, annotations={"weight": "5"}))

    assert view is not None
    assert view.basis.matches == (first, second)
    assert view.basis.weights == (2, 5)
    assert view.delays == {first: None, second: None}


def test_a_view_has_the_delays_that_the_pods_name() -> None:
    since = jq('.metadata.annotations["delay"]')
    based = one(delay={"durationFrom": since, "durationMilliseconds": 9})
    bound = one(delay={"jitterDurationFrom": since, "jitterDurationMilliseconds": 9})

    view = viewed(based, bound)

    assert view is not None
    first, second = view.delays[based], view.delays[bound]
    assert first is not None
    assert second is not None
    assert first.base_from is not None
    assert second.bound_from is not None
    assert (first.base_from.values({}), first.bound_from) == (["3s"], None)
    assert (second.base_from, second.bound_from.values({})) == (None, ["3s"])


def jq(expression: str) -> Body:
    return {"jq": {"expression": expression}}


@pytest.mark.parametrize(
    "spec",
    [
        {"weightFrom": jq(".metadata.name")},
        {"delay": {"durationFrom": jq(".metadata.creationTimestamp")}},
        {"delay": {"jitterDurationFrom": jq(".metadata.creationTimestamp")}},
        {
            "selector": {
                "matchExpressions": [
                    {"jq": {"key": ".metadata.name", "operator": "NotIn", "values": ["pod-1"]}}
                ]
            }
        },
    ],
)
def test_pods_that_differ_in_what_stages_look_at_have_no_common_view(spec: Body) -> None:
    assert viewed(one(), one(**spec)) is None


def test_a_view_is_kept_until_there_are_other_stages() -> None:
    plans = Plans(PODS)
    form = formed(plans, plain(1))
    stages, others = (one(),), (one(),)

    first = plans.view(form, stages)

    assert first is not None
    assert plans.view(form, stages) is first
    second = plans.view(form, others)
    assert second is not None
    assert second.basis.matches == others


def after(plans: Plans, body: Json, which: Stage, step: int = 0) -> Json:
    """Return the status of a pod after what is planned, after others like it."""
    form = formed(plans, body)
    found = [plans.planned(form, which, step, FUNCTIONS) for _ in range(USES)][-1]
    return found and found[1].opened(7)["status"]


def test_each_stage_and_step_has_its_own_plan_for_each_shape() -> None:
    plans = Plans(PODS)
    first = one(steps=[patch("phase: Running"), patch("reason: second")])
    other = one(steps=[patch("phase: Failed")])
    body = plain(1)
    unlike = {**body, "status": {**body["status"], "qosClass": "Guaranteed"}}

    assert after(plans, body, first) == {**body["status"], "phase": "Running"}
    assert after(plans, unlike, first) == {**unlike["status"], "phase": "Running"}
    assert after(plans, body, first, 1) == {**body["status"], "reason": "second"}
    assert after(plans, body, other) == {**body["status"], "phase": "Failed"}


def test_a_step_without_a_plan_is_not_planned() -> None:
    assert after(Plans(PODS), plain(1), one(steps=[EVENT])) is None


def test_pods_for_which_functions_return_other_kinds_of_values_have_up_to_three_plans() -> None:
    plans = Plans(PODS)
    first = "hostIP: {{ Quote (index (NodeIPsWith .spec.nodeName) 0) }}"
    listing = "{{ range NodeIPsWith .spec.nodeName }}\n- ip: {{ Quote . }}\n{{ end }}"
    which = one(steps=[patch(f"phase: Running\n{first}\nhostIPs:\n{listing}")])

    def planned_ips(node: str) -> Sequence[str] | None:
        status = after(plans, plain(1, node), which)
        return status and [each["ip"] for each in status["hostIPs"]]

    for node in ("node-1", "node-2", "node-3", "node-1"):
        assert planned_ips(node) == ADDRESSES[node]
    assert planned_ips("node-4") is None


def test_after_two_hundred_unknown_pods_each_sixteenth_is_examined() -> None:
    plans = Plans(PODS)
    known, unknown = plain(1), {**plain(2), "spec": {"nodeName": "node 1"}}
    formed(plans, known)

    assert [form_of(plans, unknown) for _ in range(199)] == [None] * 199
    assert form_of(plans, known) is not None
    assert [form_of(plans, unknown) for _ in range(200)] == [None] * 200
    assert [form_of(plans, known) is None for _ in range(9)] == [True] * 7 + [False] * 2


def shape(number: int, content: HoleContent = HoleContent.TEXT) -> Shape:
    metadata: dict[str, Symbol] = {"resourceVersion": VERSION, "name": Hole(0, content)}
    return Shape(PODS, {"metadata": metadata, "number": number})


def test_shapes_with_other_contents_are_two() -> None:
    plans = Plans(PODS)
    text, time = shape(1), shape(1, HoleContent.TIME)

    assert plans.known(text) is text
    assert plans.known(time) is time
    assert plans.known(shape(1)) is text


def test_of_too_many_shapes_those_are_kept_that_were_used_last() -> None:
    plans = Plans(PODS)
    first, second = shape(0), shape(1)
    plans.known(first)
    plans.known(second)
    for number in range(2, 512):
        plans.known(shape(number))

    assert plans.known(shape(0)) is first
    assert plans.known(shape(512)) is not second
    assert plans.known(shape(0)) is first
    assert plans.known(shape(1)) is not second
