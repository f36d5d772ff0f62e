"""What `--metric` takes, and what it refuses."""

import pytest

from kwokctl.errors import UsageError
from kwokctl.measure.sampling.metric import Metric, read_metrics_asked


@pytest.mark.parametrize(
    "text",
    [
        "up max",
        "apiserver_request_total rate",
        'workqueue_depth{name="job"} max',
        'kube-scheduler:scheduler_pending_pods{queue="active"} max',
        'jobs=kube-controller-manager:workqueue_depth{name="job",of="a b"} delta',
        "etcd:etcd_disk_wal_fsync_duration_seconds p99",
    ],
)
def test_a_metric_is_written_as_it_is_read(text: str) -> None:
    assert str(Metric.read(text)) == text


def test_the_parts_of_a_metric() -> None:
    metric = Metric.read(' jobs = my-operator:depth{b="2", a="1"}  p99 ')

    assert (metric.field, metric.component, metric.name) == ("jobs", "my-operator", "depth")
    assert (metric.labels, metric.statistic) == ((("a", "1"), ("b", "2")), "p99")
    assert metric.wanted.is_histogram
    assert Metric.read("depth max").field == "depth"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("depth", "not a metric and one of rate, delta, max and p99"),
        ("depth mean", "not a metric and one of"),
        ("depth{name=job} max", "whose labels cannot be read"),
        ('depth{name="job" max', "not a metric"),
        ("max", "not a metric"),
    ],
)
def test_what_is_no_metric_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Metric.read(text)


def test_two_metrics_of_one_name_need_another_name() -> None:
    texts = ['depth{name="a"} max', 'depth{name="b"} max']

    with pytest.raises(UsageError, match="two of '--metric' are called 'depth'"):
        read_metrics_asked(texts)
    assert len(read_metrics_asked([texts[0], f"b={texts[1]}"])) == 2
