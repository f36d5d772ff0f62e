"""Metrics in Prometheus' text format: of real components, and such as are hard to read."""

from pathlib import Path

import pytest

from kwokctl.kube.collections.metrics_text import (
    MetricsReader,
    WantedMetric,
    read_metrics,
    read_series,
    series_text,
)

_REAL = Path(__file__).parents[3] / "golden/metrics"
_TEXT = rb"""# HELP up whether it runs
# TYPE up gauge
up 1
up_to 7
odd{path="C:\\DIR\\n",said="a \"b\", {c}=\"d\"\n"} 2.5
jobs_total{job="a",code="200"} 3 1795856151150
jobs_total{job="a",code="500"} 4
jobs_total{job="b",code="200"} 5
jobs_total{code="200"} 6
not_yet{job="a"} NaN
took_bucket{job="a",le="0.1"} 1
took_bucket{job="a",le="+Inf"} 3
took_bucket{job="a",le="1"} 2
took_bucket{job="b",le="0.1"} 10
took_bucket{job="b",le="1"} 20
took_bucket{job="b",le="+Inf"} 30
took_sum{job="a"} 9
took_count{job="a"} 3
"""


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (WantedMetric(name="up"), {"up": 1.0}),
        (WantedMetric(name="none"), {}),
        (WantedMetric(name="not_yet"), {}),
        (WantedMetric(name="jobs_total"), {"jobs_total": 18.0}),
        (
            WantedMetric(name="jobs_total", keeps=("job",)),
            {'jobs_total{job="a"}': 7.0, 'jobs_total{job="b"}': 5.0, "jobs_total": 6.0},
        ),
        (
            WantedMetric(name="jobs_total", where=(("code", "200"),)),
            {'jobs_total{code="200"}': 14.0},
        ),
        (WantedMetric(name="jobs_total", where=(("code", "404"),)), {}),
        (
            WantedMetric(name="took", keeps=("job",), is_histogram=True),
            {
                'took{job="a",le="0.1,1,+Inf"}': (1.0, 2.0, 3.0),
                'took{job="b",le="0.1,1,+Inf"}': (10.0, 20.0, 30.0),
            },
        ),
        (
            WantedMetric(name="took", is_histogram=True),
            {'took{le="0.1,1,+Inf"}': (11.0, 22.0, 33.0)},
        ),
        (WantedMetric(name="took_count"), {"took_count": 3.0}),
        (WantedMetric(name="took"), {}),
    ],
)
def test_wanted_metrics_are_read_and_added_up(
    wanted: WantedMetric, found: dict[str, float | tuple[float, ...]]
) -> None:
    assert read_metrics(_TEXT, [wanted]) == found


def test_labels_come_back_as_they_were() -> None:
    labels = {"path": "C:\\DIR\\n", "said": 'a "b", {c}="d"\n'}

    (text,) = read_metrics(_TEXT, [WantedMetric(name="odd", keeps=("path", "said"))])

    assert read_series(text) == ("odd", labels)
    assert series_text("odd", labels) == text


def test_a_text_may_come_in_pieces_of_any_size() -> None:
    wanted = [
        WantedMetric(name="took", is_histogram=True),
        WantedMetric(name="jobs_total", keeps=("job",)),
    ]
    for size in (1, 7, 64):
        reader = MetricsReader(wanted)
        for start in range(0, len(_TEXT), size):
            reader.feed(_TEXT[start : start + size])
        assert reader.values() == read_metrics(_TEXT, wanted)


def test_a_value_that_is_no_number_is_refused_if_it_is_wanted() -> None:
    text = b"up yes\ndown no\nempty \n"

    with pytest.raises(ValueError, match="yes"):
        read_metrics(text, [WantedMetric(name="up")])
    assert read_metrics(text, [WantedMetric(name="empty"), WantedMetric(name="do")]) == {}


def test_what_is_asked_for_twice_does_not_count_twice() -> None:
    by_job = WantedMetric(name="jobs_total", keeps=("job",))
    of_b = WantedMetric(name="jobs_total", where=(("job", "b"),))

    assert read_metrics(_TEXT, [by_job, of_b]) == read_metrics(_TEXT, [by_job])


def test_a_real_text_has_what_it_has() -> None:
    text = (_REAL / "kube-apiserver-before.txt").read_bytes()
    wanted = [
        WantedMetric(name="process_start_time_seconds"),
        WantedMetric(name="apiserver_request_total", keeps=("verb", "subresource", "code")),
    ]

    assert read_metrics(text, wanted) == {
        "process_start_time_seconds": 1795856151.15,
        'apiserver_request_total{verb="LIST",code="200"}': 4.0,
        'apiserver_request_total{verb="WATCH",code="200"}': 38.0,
        'apiserver_request_total{verb="POST",code="201"}': 300.0,
        'apiserver_request_total{verb="POST",subresource="binding",code="201"}': 300.0,
    }
