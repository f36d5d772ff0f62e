"""Figures of the control plane, from what real components said of themselves, against what is computed by hand."""

import pytest

from kwokctl.kube.collections.metrics_text import MetricValue
from kwokctl.measure.figures.figure_catalogue import FIGURES, whole_run
from kwokctl.measure.figures.values import Bounds, Levels, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.judging.assertions import AssertionReader, judge
from kwokctl.measure.judging.verdict import verdict
from kwokctl.measure.record.record_lines import RunMoment
from kwokctl.measure.reports.report import ReportRequest, report_on
from kwokctl.measure.reports.text import text_of
from tests.support.measured import SECOND, figure, history
from tests.support.sampled_plane import Sampled, missing

API, ETCD, SCHEDULER = "kube-apiserver", "etcd", "kube-scheduler"


def real(*components: str) -> History:
    """Return a run of ten seconds between the texts that components have said before and after it."""
    sampled = Sampled()
    for component in components:
        sampled.text(component, SECOND, "before").text(component, 11 * SECOND, "after")
    return history(sampled.lines)


def levels(name: str, found: History) -> Levels:
    value = figure(name, found)
    assert isinstance(value, Levels), value
    return value


def test_requests_and_bindings_are_counted_between_two_texts() -> None:
    found = real(API)

    requests = {"DELETE pods": 10, "POST pods": 7, "POST pods/binding": 7}
    assert figure("api.requests", found) == SingleNumber(24, detail=requests)
    assert figure("api.bindings", found) == SingleNumber(7, detail={"201": 7})
    assert figure("api.binding_rate", found) == SingleNumber(0.7)
    assert figure("api.refusals", found) == SingleNumber(0)
    assert figure("api.ended_watches", found) == SingleNumber(0)


def test_bindings_that_were_refused_are_apart() -> None:
    start = 'apiserver_request_total{verb="POST",resource="pods",subresource="binding",code='
    before: dict[str, MetricValue] = {f'{start}"201"}}': 5}
    after: dict[str, MetricValue] = {
        f'{start}"201"}}': 9, f'{start}"404"}}': 2, f'{start}"409"}}': 1,
        'apiserver_request_total{verb="GET",resource="pods",code="404"}': 3,
    }  # fmt: skip
    found = history(Sampled().values(API, 0, before).values(API, 2 * SECOND, after).lines)

    codes = {"201": 4, "404": 2, "409": 1}
    assert figure("api.bindings", found) == SingleNumber(4, detail=codes)
    assert figure("api.binding_rate", found) == SingleNumber(2.0)
    assert figure("api.refusals", found) == SingleNumber(6, detail={"404": 5, "409": 1})


def test_latencies_of_a_server_that_counts_from_its_start_are_those_of_its_text() -> None:
    sampled = Sampled().text(API, SECOND, "before")
    sampled.text(API, 11 * SECOND, "after", start=2 * SECOND)
    found = history(sampled.lines)

    mutating = figure("api.mutating", found)
    assert isinstance(mutating, Bounds)
    assert (mutating.count, mutating.largest) == (614, 60.0)
    assert mutating.parts["POST pods"] == Bounds(count=307, p50=0.2, p90=0.4, p99=0.4, largest=60.0)
    binding = Bounds(count=307, p50=0.2, p90=0.4, p99=0.4, largest=60.0)
    assert mutating.parts["POST pods/binding"] == binding
    reads = Bounds(count=80, p50=0.05, p90=0.05, p99=0.05, largest=60.0)
    assert figure("api.reads", found) == reads
    lists = Bounds(count=4, p50=0.05, p90=0.05, p99=0.05, largest=60.0)
    assert figure("api.lists", found) == lists


def test_latencies_between_two_texts_are_those_of_what_came_in_between() -> None:
    found = real(API)

    mutating = figure("api.mutating", found)
    assert isinstance(mutating, Bounds)
    assert (mutating.count, mutating.p50, mutating.p99) == (14, 0.05, 0.05)
    assert missing(figure("api.lists", found)) == "there was no such request"
    assert figure("api.missed_objectives", found) == SingleNumber(0)


def histogram(verb: str, scope: str, counts: tuple[float, ...]) -> dict[str, MetricValue]:
    labels = f'verb="{verb}",resource="pods",scope="{scope}",le="0.5,1,30,60,+Inf"'
    return {f"apiserver_request_sli_duration_seconds{{{labels}}}": counts}


@pytest.mark.parametrize(
    ("verb", "scope", "counts", "missed"),
    [
        ("PATCH", "resource", (90, 99, 100, 100, 100), {}),
        ("PATCH", "resource", (90, 98, 100, 100, 100), {"PATCH pods": 100}),
        ("GET", "resource", (0, 98, 100, 100, 100), {"GET pods": 100}),
        ("LIST", "cluster", (0, 0, 99, 100, 100), {}),
        ("LIST", "namespace", (0, 0, 98, 100, 100), {"LIST pods": 100}),
        ("LIST", "cluster", (0, 0, 98, 98, 100), {"LIST pods": 100}),
        ("WATCH", "cluster", (0, 0, 0, 0, 100), {}),
    ],
)
def test_an_objective_is_missed_if_more_than_one_in_a_hundred_took_longer(
    verb: str, scope: str, counts: tuple[float, ...], missed: dict[str, int]
) -> None:
    none = histogram(verb, scope, (0, 0, 0, 0, 0))
    sampled = Sampled().values(API, 0, none).values(API, 5, histogram(verb, scope, counts))

    found = figure("api.missed_objectives", history(sampled.lines))

    assert found == SingleNumber(len(missed), detail=missed)


def test_what_is_above_the_largest_class_has_no_bound() -> None:
    sampled = Sampled().values(API, 0, histogram("LIST", "cluster", (0, 0, 0, 0, 0)))
    sampled.values(API, 5, histogram("LIST", "cluster", (9, 9, 9, 9, 10)))
    found = history(sampled.lines)

    lists = figure("api.lists", found)
    assert lists == Bounds(count=10, p50=0.5, p90=0.5, p99=None, largest=60.0)
    reader = AssertionReader(FIGURES)
    texts = ("api.lists.p90 <= 500ms", "api.lists.p99 < 5h")
    judged = judge([reader.read(text) for text in texts], whole_run(found))
    assert [(each.passed, each.why) for each in judged] == [(True, ""), (False, "it is above 60 s")]


def test_etcd_says_how_long_it_wrote_and_how_large_it_is() -> None:
    found = real(ETCD)

    fsync = Bounds(count=59, p50=0.004, p90=0.008, p99=0.032, largest=8.192)
    assert figure("etcd.fsync", found) == fsync
    commit = Bounds(count=12, p50=0.016, p90=0.016, p99=0.016, largest=8.192)
    assert figure("etcd.commit", found) == commit
    size = levels("etcd.size", found)
    assert (size.min, size.max, size.last) == (3_887_104, 4_071_424, 4_071_424)


def test_the_scheduler_says_how_often_it_tried_and_what_waits() -> None:
    pending = 'scheduler_pending_pods{queue="%s"}'
    sampled = Sampled().text(SCHEDULER, 0, "before")
    for second, waits in ((1, (4, 1)), (2, (9, 3))):
        values: dict[str, MetricValue] = {
            pending % "active": waits[0],
            pending % "backoff": waits[1],
        }
        sampled.values(SCHEDULER, second * SECOND, values, is_whole=False)
    sampled.text(SCHEDULER, 3 * SECOND, "after")
    found = history(sampled.lines)

    assert figure("scheduler.attempts", found) == SingleNumber(7, detail={"scheduled": 7})
    queues = levels("scheduler.pending", found)
    assert (queues.max, queues.last) == (12, 0)
    assert [(name, each.max) for name, each in queues.parts.items()] == [
        ("active", 9), ("backoff", 3), ("gated", 0), ("unschedulable", 0),
    ]  # fmt: skip


def test_flow_control_is_measured_only_where_it_is_on() -> None:
    refused: dict[str, MetricValue] = {
        'apiserver_flowcontrol_rejected_requests_total{reason="time-out"}': 4
    }
    seats: dict[str, MetricValue] = {"apiserver_flowcontrol_nominal_limit_seats": 600}
    on = Sampled().values(API, 0, seats).values(API, 5, {**seats, **refused})

    held_back = figure("api.held_back", history(on.lines))
    assert held_back == SingleNumber(4, detail={"time-out": 4})
    assert "is off" in missing(figure("api.held_back", real(API)))


def test_cpu_and_memory_of_components_are_levels() -> None:
    sampled = Sampled().processes(0, etcd=(7, 10.0, 100), kube_apiserver=(8, 0.0, 1000))
    sampled.processes(SECOND, etcd=(7, 10.5, 300), kube_apiserver=(8, 1.5, 1000))
    sampled.processes(3 * SECOND, etcd=(7, 10.9, 200), kube_apiserver=(8, 1.7, 1000))
    sampled.processes(3 * SECOND + 1000, etcd=(7, 10.91, 200), kube_apiserver=(8, 1.71, 1000))
    found = history(sampled.lines)

    cpu = levels("components.cpu", found)
    assert (cpu.max, cpu.last) == pytest.approx((2.0, 0.3))
    parts = {name: (each.max, each.last) for name, each in cpu.parts.items()}
    assert list(parts) == ["kube-apiserver", "etcd"]
    assert parts["kube-apiserver"] == pytest.approx((1.5, 0.1))
    assert parts["etcd"] == pytest.approx((0.5, 0.2))
    memory = levels("components.memory", found)
    assert (memory.max, memory.last) == (1300, 1200)
    assert verdict(found, [], allow_undrained=False).valid


@pytest.mark.parametrize(
    ("sampled", "what"),
    [
        (Sampled().processes(0, etcd=(7, 0.0, 1), kube_scheduler=(8, 0.0, 1)).processes(9, etcd=(7, 0.1, 1)), "ended"),
        (Sampled().processes(0, kube_scheduler=(7, 0.5, 1)).processes(9, kube_scheduler=(8, 0.1, 1)), "was started again"),
        (Sampled().values(SCHEDULER, 5, {}).values(SCHEDULER, 9, {}, start=7), "was started again"),
    ],
)  # fmt: skip
def test_a_component_that_did_not_run_all_the_time_makes_a_run_invalid(
    sampled: Sampled, what: str
) -> None:
    why = RunMoment(
        10, "why it ended: kube-scheduler", "killed: it exceeded its memory limit of 64Mi"
    )

    for lines, reason in ((sampled.lines, ""), ([*sampled.lines, why], f": {why.detail}")):
        said = verdict(history(lines), [], allow_undrained=False)
        assert not said.valid
        text = f"invalid: kube-scheduler {what} while it was measured{reason}"
        assert said.problems[0] == text


def test_components_that_run_all_the_time_leave_a_run_valid() -> None:
    sampled = Sampled().processes(0, etcd=(7, 0.0, 1)).processes(9, etcd=(7, 0.1, 1))
    sampled.values(ETCD, 0, {}).values(ETCD, 9, {})

    assert verdict(history(sampled.lines), [], allow_undrained=False).valid


def test_of_servers_that_answer_in_turn_nothing_is_computed() -> None:
    sampled = Sampled().text(API, 0, "before").text(API, 5, "after", start=-5 * SECOND)
    found = history(sampled.lines)

    assert verdict(found, [], allow_undrained=False).valid
    why = missing(figure("api.requests", found))
    assert why == "several processes of kube-apiserver have answered in turn"


def test_what_was_not_sampled_says_why() -> None:
    names = (
        "api.requests",
        "etcd.fsync",
        "scheduler.pending",
        "components.cpu",
        "clients.requests",
    )
    reasons = {
        "metrics.etcd": "etcd: it cannot be reached", "processes": "not of this host", "clients": "no audit",
    }  # fmt: skip
    found = history(Sampled().text(API, 0, "before").lines, missing=reasons)
    of_version_1 = history([], version=1)

    assert [missing(figure(name, found)) for name in names] == [
        "kube-apiserver did not show its metrics in the end", "etcd: it cannot be reached",
        "kube-scheduler did not show its metrics in the end", "not of this host", "no audit",
    ]  # fmt: skip
    for name in names:
        assert "version 1" in missing(figure(name, of_version_1))


def test_an_api_server_without_the_metric_of_objectives_says_so() -> None:
    found = history(Sampled().values(API, 0, {}).values(API, 5, {}).lines)

    for name in ("api.mutating", "api.missed_objectives"):
        assert "Kubernetes 1.26" in missing(figure(name, found))
    assert figure("api.requests", found) == SingleNumber(0)


def test_writes_past_the_api_server_are_remarked_on() -> None:
    lines = Sampled().text(API, 0, "before").text(API, 5, "after").lines
    by_etcd = history(lines, conditions={"data path": "etcd"})
    by_api = history(lines, conditions={"data path": "api"})

    assert "have written to etcd" in verdict(by_etcd, [], allow_undrained=False).remarks[0]
    assert verdict(by_api, [], allow_undrained=False).remarks == ()


def test_requests_are_counted_by_client() -> None:
    sampled = Sampled().client(1, "kubectl", 200, 3).client(1, "kubectl", 409, 2)
    sampled.client(1, "loads", 201, 50).client(2, "kubectl", 403, 1).client(2, "kubectl", 409, 4)
    found = history(sampled.lines)

    note = "as far as the audit policy has them"
    requests = SingleNumber(60, detail={"loads": 50, "kubectl": 10}, note=note)
    assert figure("clients.requests", found) == requests
    conflicts = SingleNumber(6, detail={"kubectl": 6, "loads": 0}, note=note)
    assert figure("clients.conflicts", found) == conflicts
    refusals = SingleNumber(1, detail={"kubectl": 1, "loads": 0}, note=note)
    assert figure("clients.refusals", found) == refusals


def test_the_text_lists_the_largest_parts_and_leaves_out_what_was_never_counted() -> None:
    sampled = Sampled().client(1, "kubectl", 409, 2).client(1, "loads", 201, 50)
    sampled.text(SCHEDULER, 0, "before").text(SCHEDULER, 5, "after")
    sampled.processes(0, etcd=(7, 0.0, 1 << 20), kube_apiserver=(8, 0.0, 3 << 29))
    sampled.values(API, 0, histogram("LIST", "cluster", (0, 0, 0, 0, 0)))
    sampled.values(API, 5, histogram("LIST", "cluster", (9, 9, 9, 9, 10)))
    found = report_on(history(sampled.lines), ReportRequest(record="x.jsonl"))

    lines = text_of(found).splitlines()

    assert "  clients.conflicts: 2 kubectl" in lines
    assert not any(line.startswith("  clients.refusals: ") for line in lines)
    rows = [line.split() for line in lines]
    memory = rows.index(["components.memory", *["1.50", "GiB"] * 4])
    assert rows[memory + 1 : memory + 3] == [
        ["kube-apiserver", *["1.50", "GiB"] * 4], ["etcd", *["1.0", "MiB"] * 4],
    ]  # fmt: skip
    assert ["api.lists", "10", "500.0", "ms", "500.0", "ms", ">", "60.00", "s"] in rows
