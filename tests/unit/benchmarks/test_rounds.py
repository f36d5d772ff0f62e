import pytest

from benchmarks.autoscaling import Watched
from benchmarks.cluster import FailedError
from benchmarks.responsiveness import Delays, later
from benchmarks.rounds import Reported, reported

METRICS = b"""\
# TYPE metrics_server_kubelet_request_total counter
metrics_server_kubelet_request_total{success="false"} 3
metrics_server_kubelet_request_total{success="true"} 20000
metrics_server_manager_tick_duration_seconds_bucket{le="15"} 2
metrics_server_manager_tick_duration_seconds_sum 12.5
metrics_server_manager_tick_duration_seconds_count 2
"""


def test_metrics_server_tells_its_rounds_and_failures() -> None:
    before = Reported(1, 4.5, 3)

    assert reported(METRICS) == Reported(2, 12.5, 3)
    assert reported(METRICS).since(before) == Reported(1, 8, 0)


def test_without_a_failure_there_is_no_such_line() -> None:
    assert reported(METRICS.replace(b'"false"', b'"unknown"')).failed == 0


def test_the_delay_is_that_beyond_an_idle_process_but_for_the_slowest_thousandth() -> None:
    late = Delays([0.001] * 998 + [0.030, 9.0])
    idle = Delays([0.001] * 998 + [0.010, 9.0])

    assert later(late, idle)[0] == 0.0
    milliseconds, note = later(Delays([0.030] * 1000), Delays([0.010] * 1000))
    assert milliseconds == pytest.approx(20)
    assert note == "1000 answers: 30 ms, an idle process 10 ms"


def test_replicas_are_found_after_the_step_only() -> None:
    watched = Watched(0.0, [(1.0, 1), (100.0, 6), (200.0, 1)])

    assert watched.first(1, since=150.0) == 50.0
    with pytest.raises(FailedError, match="never 5"):
        watched.first(5, since=0.0)
