import pytest

from kwokctl.errors import ConfigError
from kwokctl.kubelet.usage.metric_documents import read_metrics
from tests.support.usage_fleet import HandFleet, documents, node, pod, running

METRIC = """
kind: Metric
metadata: {name: mine}
spec:
  path: /metrics/mine/{nodeName}
  metrics:
"""


def metric(*lines: str) -> str:
    return METRIC + "\n".join(f"  - {line}" for line in lines)


async def text(*lines: str, fleet: HandFleet | None = None) -> list[str]:
    found = HandFleet(
        fleet.pods if fleet else [pod()], fleet.of_nodes if fleet else [node()], metric(*lines)
    )
    return (await found.get("/metrics/mine/a")).decode().splitlines()


async def test_a_metric_is_written_with_help_type_and_labels() -> None:
    assert await text(
        "{name: heat, kind: gauge, help: 'How hot\n  it is', dimension: container, value: '21.5', "
        "labels: [{name: container, value: container.name}, {name: pod, value: pod.metadata.name}]}"
    ) == [
        "# HELP heat How hot it is",
        "# TYPE heat gauge",
        'heat{container="app",pod="web"} 21.5',
    ]


async def test_what_is_in_a_label_is_escaped() -> None:
    fleet = HandFleet([pod(labels={"a": 'x"y\\z\nw'})])
    lines = await text(
        "{name: m, kind: gauge, dimension: pod, value: '1', "
        "labels: [{name: a, value: 'pod.metadata.labels[\"a\"]'}]}",
        fleet=fleet,
    )
    assert lines[-1] == r'm{a="x\"y\\z\nw"} 1.0'


async def test_a_histogram_counts_hidden_buckets_in_the_next_one() -> None:
    lines = await text(
        "{name: h, kind: histogram, buckets: [{le: 5, value: '3'}, {le: 1, value: '1'}, "
        "{le: 2, value: '2', hidden: true}]}"
    )
    assert lines == [
        "# TYPE h histogram",
        'h_bucket{le="1.0"} 1',
        'h_bucket{le="5.0"} 6',
        'h_bucket{le="+Inf"} 6',
        "h_sum 20.0",
        "h_count 6",
    ]


async def test_a_histogram_keeps_its_labels() -> None:
    lines = await text(
        "{name: h, kind: histogram, labels: [{name: node, value: node.metadata.name}], "
        "buckets: [{le: 1, value: 'Rand() < 2.0 ? 1 : 0'}]}"
    )
    assert lines[1:] == [
        'h_bucket{node="a",le="1.0"} 1',
        'h_bucket{node="a",le="+Inf"} 1',
        'h_sum{node="a"} 1.0',
        'h_count{node="a"} 1',
    ]


async def test_a_series_that_cannot_be_evaluated_is_left_out() -> None:
    fleet = HandFleet([pod("web", labels={"n": "1"}), pod("db")])
    lines = await text(
        "{name: fixed, kind: gauge, dimension: pod, value: 'Quantity(pod.metadata.labels[\"n\"])'}",
        "{name: moving, kind: gauge, dimension: pod, "
        "value: 'Quantity(pod.metadata.labels[\"n\"]) * Rand() * 0'}",
        "{name: labelled, kind: gauge, dimension: pod, value: '1', "
        "labels: [{name: k, value: 'pod.metadata.labels[\"n\"]'}]}",
        fleet=fleet,
    )
    assert [line for line in lines if not line.startswith("#")] == [
        "fixed 1.0",
        "moving 0.0",
        'labelled{k="1"} 1.0',
    ]


async def test_an_expression_for_a_pod_fails_for_a_node_without_harm() -> None:
    assert await text("{name: m, kind: gauge, value: 'pod.Usage(\"cpu\")'}") == []


async def test_time_and_use_are_evaluated_with_each_scrape() -> None:
    fleet = HandFleet(
        [pod(annotations={"kwok.x-k8s.io/usage-cpu": "2"})],
        text=metric(
            "{name: age, kind: gauge, dimension: pod, value: pod.SinceSecond()}",
            "{name: now, kind: gauge, value: 'UnixSecond(Now())'}",
            "{name: double, kind: counter, dimension: container, "
            "value: 'pod.CumulativeUsage(\"cpu\", container.name) * 2.0'}",
            "{name: whole, kind: gauge, value: 'node.Usage(\"cpu\")'}",
        ),
    )
    found = []
    for fleet.age in (10, 20):
        found.append(await fleet.series("/metrics/mine/a"))
    assert [each["age"] for each in found] == [10, 20]
    assert found[1]["now"] - found[0]["now"] == 10
    assert found[1]["double"] - found[0]["double"] == pytest.approx(40)
    assert found[1]["whole"] == pytest.approx(2.001)


async def test_pods_that_come_and_go_have_their_series() -> None:
    fleet = HandFleet([pod("web")], text=metric("{name: m, kind: gauge, dimension: pod, value: '1', "
        "labels: [{name: pod, value: pod.metadata.name}]}"))  # fmt: skip
    before = await fleet.series("/metrics/mine/a")
    fleet.pods = [pod("db"), pod("gone", running(is_running=False))]
    after = await fleet.series("/metrics/mine/a")
    assert (list(before), list(after)) == (['m{pod="web"}'], ['m{pod="db"}'])


async def test_two_metrics_of_a_node_do_not_disturb_each_other() -> None:
    two = metric("{name: one, kind: gauge, value: '1'}")
    two += "\n---" + two.replace("mine", "yours").replace("one", "two")
    fleet = HandFleet(text=two)
    for _ in range(2):
        assert await fleet.series("/metrics/mine/a") == {"one": 1}
        assert await fleet.series("/metrics/yours/a") == {"two": 1}


async def test_a_path_without_a_node_is_for_the_node_that_the_metric_is_named_after() -> None:
    text = metric("{name: m, kind: gauge, value: '1'}").replace("/{nodeName}", "")
    fleet = HandFleet(of_nodes=[node("mine")], text=text)
    assert await fleet.series("/metrics/mine") == {"m": 1}


async def test_a_metric_of_the_users_takes_the_place_of_the_usual_one() -> None:
    text = metric("{name: m, kind: gauge, value: '1'}")
    text = text.replace("/metrics/mine/{nodeName}", "/metrics/nodes/{nodeName}/metrics/resource")
    assert await HandFleet(text=text).series() == {"m": 1}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{name: m, kind: gauge}", "'spec.metrics[0]' is wrong: a gauge needs a 'value'"),
        ("{name: 1m, kind: gauge, value: '1'}", "'1m' is not a name for a metric"),
        ("{name: m, kind: timer, value: '1'}", "'spec.metrics[0].kind' is wrong"),
        ("{name: m, kind: histogram}", "a histogram needs 'buckets'"),
        ("{name: m, kind: gauge, value: '1 +'}", "is not a CEL expression"),
        ("{name: m, kind: gauge, value: '\"a\"'}", "type string, not a number"),
        ("{name: m, kind: gauge, value: '1', labels: [{name: a, value: '1'}]}", "not a string"),
        ("{name: m, kind: gauge, value: '1', labels: [{name: a-b, value: '\"\"'}]}", "for a label"),
        (
            "{name: m, kind: histogram, buckets: [{le: 1, value: '1'}, {le: 1, value: '2'}]}",
            "have the same 'le'",
        ),
    ],
)
def test_a_wrong_metric_is_named_with_its_place(line: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=r"^some.yaml: 'spec.metrics\[0\]") as raised:
        read_metrics(documents(metric(line)))
    assert problem in str(raised.value)


def test_a_path_must_be_below_metrics() -> None:
    with pytest.raises(ConfigError, match="'/other' does not start with '/metrics/'"):
        read_metrics(
            documents(
                METRIC.replace("/metrics/mine/{nodeName}", "/other").replace(
                    "metrics:", "metrics: []"
                )
            )
        )
