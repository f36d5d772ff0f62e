import pytest

from kwokctl.errors import ConfigError
from kwokctl.kubelet.usage.usage_rules import read_usages
from tests.support.usage_fleet import HandFleet, documents, pod, running

CPU = 'container_cpu_usage_seconds_total{{container="{}",namespace="default",pod="{}"}}'
MEMORY = 'container_memory_working_set_bytes{{container="{}",namespace="default",pod="{}"}}'
CLUSTER = """
kind: ClusterResourceUsage
metadata: {name: all}
spec:
  usages:
  - usage: USAGE
"""
REQUESTS = {"cpu": "2", "memory": "1Gi"}


def with_usage(usage: str, *pods: object) -> HandFleet:
    found = [each for each in pods if each] or [pod("web", running(requests=REQUESTS))]
    return HandFleet(found, text=CLUSTER.replace("USAGE", usage))  # type: ignore[arg-type]  # pods all


async def cpu_at(fleet: HandFleet, *ages: float) -> list[float]:
    """Return the counter at these ages."""
    found = []
    for age in ages:
        fleet.age = age
        found.append((await fleet.series())[CPU.format("app", "web")])
    return found


async def test_where_nothing_is_said_a_little_is_used() -> None:
    fleet = HandFleet([pod()], age=100)
    found = await fleet.series()
    assert found[CPU.format("app", "web")] == pytest.approx(0.1, rel=1e-3)
    assert found[MEMORY.format("app", "web")] == 2**20


async def test_annotations_say_what_a_pod_uses() -> None:
    usage = {"kwok.x-k8s.io/usage-cpu": "500m", "kwok.x-k8s.io/usage-memory": "64Mi"}
    fleet = HandFleet([pod(annotations=usage)], age=10)
    found = await fleet.series()
    assert found[CPU.format("app", "web")] == pytest.approx(5, rel=1e-3)
    assert found[MEMORY.format("app", "web")] == 64 * 2**20


async def test_an_annotation_may_hold_a_share_or_a_curve() -> None:
    usage = {
        "kwok.x-k8s.io/usage-cpu": "{steps: [{value: 1}, {value: 3, after: 10s}]}",
        "kwok.x-k8s.io/usage-memory": "50%",
    }
    fleet = HandFleet([pod("web", running(requests=REQUESTS), annotations=usage)])
    assert await cpu_at(fleet, 10, 20) == pytest.approx([10, 40], rel=1e-3)
    assert (await fleet.series())[MEMORY.format("app", "web")] == 2**29


async def test_an_annotation_that_is_no_usage_counts_as_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fleet = HandFleet([pod(annotations={"kwok.x-k8s.io/usage-cpu": "lots"})])
    assert await cpu_at(fleet, 100, 200) == pytest.approx([0.1, 0.2], rel=1e-3)
    assert [r.message for r in caplog.records] == [
        "'web': 'lots' is neither a quantity nor a share such as '80%' (logged once)"
    ]


async def test_a_document_wins_over_annotations() -> None:
    annotated = pod(annotations={"kwok.x-k8s.io/usage-cpu": "7"})
    fleet = with_usage("{cpu: {value: 2}}", annotated)
    assert await cpu_at(fleet, 10) == pytest.approx([20], rel=1e-3)


async def test_what_a_document_does_not_say_the_annotations_do() -> None:
    annotated = pod(annotations={"kwok.x-k8s.io/usage-memory": "7Mi"})
    fleet = with_usage("{cpu: {value: 2}}", annotated)
    assert (await fleet.series())[MEMORY.format("app", "web")] == 7 * 2**20


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ("{value: 50%}", [0, 10, 20]),
        ("{ramp: {from: 0, to: 2, over: 20s}}", [0, 5, 20]),
        ("{sine: {mean: 1, amplitude: 500m, period: 20s}}", [0, 10 + 10 / 3.14159265, 20]),
        ("{steps: [{value: 1}, {value: 0, after: 5s}]}", [0, 5, 5]),
        ("{steps: [{value: 1}, {value: 3, at: '2027-01-15T08:00:10Z'}]}", [0, 10, 40]),
        ("{training: {busy: 2, waiting: 1, step: 5s, allReduce: 1s}}", [0, 18, 36]),
        (
            "{inference: {mean: 1, swing: 500m, period: 20s, bursts: 0}}",
            [0, 10 + 10 / 3.14159265, 20],
        ),
    ],
)
async def test_a_curve_is_integrated(usage: str, expected: list[float]) -> None:
    found = await cpu_at(with_usage(f"{{cpu: {usage}}}"), 0, 10, 20)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


async def test_containers_with_the_same_walk_are_at_different_places_in_it() -> None:
    pods = (pod("web"), pod("other"))
    fleet = with_usage("{cpu: {walk: {least: 0, most: 1, every: 1s, seed: 4}}}", *pods)
    fleet.age = 60
    found = await fleet.series()
    values = {found[CPU.format("app", each.name)] for each in pods}
    assert len(values) == 2
    assert all(0 < value < 60 for value in values)


async def test_an_expression_sees_the_pod_and_its_container() -> None:
    fleet = with_usage(
        '{cpu: {expression: \'pod.metadata.labels.tier == "db" ? Quantity("2") : Quantity("1")\'}, '
        "memory: {expression: 'container.resources.requests[\"memory\"]'}}",
        pod("web", running(requests=REQUESTS), labels={"tier": "db"}),
    )
    assert await cpu_at(fleet, 10) == pytest.approx([20], rel=1e-3)
    assert (await fleet.series())[MEMORY.format("app", "web")] == 2**30


async def test_an_expression_of_time_is_integrated_over_the_time_between_scrapes() -> None:
    fleet = with_usage("{cpu: {expression: 'SinceSecond(pod)'}}")
    often = await cpu_at(fleet, *range(0, 101, 10))
    assert often[-1] == pytest.approx(100 * 100 / 2, rel=1e-3)
    assert await cpu_at(with_usage("{cpu: {expression: 'SinceSecond(pod)'}}"), 100) == (
        pytest.approx(often[-1:], rel=1e-3)
    )


async def test_what_uses_something_by_an_expression_that_fails_uses_nothing() -> None:
    fleet = with_usage("{cpu: {expression: 'Quantity(pod.metadata.labels.none)'}}")
    assert await cpu_at(fleet, 10) == pytest.approx([0], abs=1e-5)


@pytest.mark.parametrize("usage", ["{}", "{cpu: {}}", "{cpu: null}", "{cpu: {value: null}}"])
async def test_an_entry_that_says_nothing_leaves_what_is_usual(usage: str) -> None:
    assert await cpu_at(with_usage(usage), 10) == pytest.approx([0.01], rel=1e-3)


async def test_the_document_of_a_pod_counts_alone() -> None:
    own = """
kind: ResourceUsage
metadata: {name: web, namespace: default}
spec: {usages: [{containers: [app], usage: {cpu: {value: 3}}}]}
---
"""
    fleet = HandFleet(
        [pod("web", running("app"), running("side")), pod("other")],
        text=own + CLUSTER.replace("USAGE", "{cpu: {value: 1}}"),
        age=10,
    )
    found = await fleet.series()
    assert found[CPU.format("app", "web")] == pytest.approx(30, rel=1e-3)
    assert found[CPU.format("side", "web")] == pytest.approx(0.01, rel=1e-3)
    assert found[CPU.format("app", "other")] == pytest.approx(10, rel=1e-3)


async def test_what_is_said_of_a_pod_is_used_by_its_own_containers_alone() -> None:
    """The counters of the others are above 0: metrics-server drops a pod of which one uses nothing."""
    annotations = {"kwok.x-k8s.io/usage-cpu": "1", "kwok.x-k8s.io/usage-memory": "64Mi"}
    containers = (
        running("setup", is_init=True),
        running("proxy", is_init=True, is_sidecar=True),
        running("debugger", is_ephemeral=True),
        running("app"),
    )
    for text in ("", CLUSTER.replace("USAGE", "{cpu: {value: 1}}")):
        fleet = HandFleet([pod("web", *containers, annotations=annotations)], text=text, age=10)
        found = await fleet.series()
        cpu = [found[CPU.format(each.name, "web")] for each in containers]
        memory = [found[MEMORY.format(each.name, "web")] for each in containers]
        assert cpu == pytest.approx([0, 0, 0, 10], abs=1e-3)
        assert memory == [1, 1, 1, 64 * 2**20]
        assert min(cpu) > 0


async def test_a_sidecar_uses_what_an_entry_says_that_names_it() -> None:
    text = CLUSTER.replace("USAGE", "{cpu: {value: 1}}").replace(
        "- usage", "- {containers: [proxy], usage: {cpu: {value: 2}}}\n  - usage"
    )
    containers = (running("proxy", is_init=True, is_sidecar=True), running("app"))
    found = await HandFleet([pod("web", *containers)], text=text, age=10).series()
    assert found[CPU.format("proxy", "web")] == pytest.approx(20, rel=1e-3)
    assert found[CPU.format("app", "web")] == pytest.approx(10, rel=1e-3)
    assert found[MEMORY.format("proxy", "web")] == 1


@pytest.mark.parametrize(
    ("usage", "problem"),
    [
        ("{value: 1, expression: '1'}", "needs one of"),
        ("{value: much}", "'much' is neither a quantity nor a share"),
        ("{value: -1}", "'-1' is not an amount"),
        ("{expression: 'pod.'}", "'pod.' is not a CEL expression"),
        ("{expression: '\"1\"'}", "gives a value of the type string, not a number"),
        ("{expression: 'pod.spec.priority'}", "reads 'priority', which is not kept of a PodSpec"),
        ("{ramp: {from: 1, to: 2}}", "missing required field 'over'"),
        ("{ramp: {from: 1, to: 2, over: 0s}}", "'0s' is not a duration"),
        ("{sine: {mean: 1, amplitude: 2, period: 1h}}", "'amplitude' is larger than 'mean'"),
        ("{steps: []}", "length >= 1"),
        ("{steps: [{value: 1, after: 1s, at: '2026-01-01T00:00:00Z'}]}", "not both"),
        ("{steps: [{value: 1, at: noon}]}", "'noon' is not a time"),
        ("{walk: {least: 1, most: 2, every: fast}}", "'fast' is not a duration"),
        ("{training: {step: 1s, allReduce: 2s}}", "'allReduce' is longer than 'step'"),
        ("{inference: {mean: 10%}}", "'swing' and 'bursts' are larger than 'mean'"),
        ("{inference: {period: 0s}}", "'0s' is not a duration"),
        ("{valu: 1}", "unknown field 'valu'"),
    ],
)
def test_a_wrong_usage_is_named_with_its_place(usage: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_usages(documents(CLUSTER.replace("USAGE", f"{{cpu: {usage}}}")))
    assert str(raised.value).startswith("some.yaml: 'spec.usages[0]' is wrong: 'usage.cpu")
    assert problem in str(raised.value)
