"""The metrics of components that a record has.

Counters and histograms are read in the beginning and in the end, for an API server and its reader together spend a
tenth of a second on its text of two megabytes. Levels, such as the lengths of queues, are read in between, too.
"""

from collections.abc import Mapping, Sequence

from kwokctl.kube.collections.metrics_text import WantedMetric
from kwokctl.model import ETCD, KUBE_APISERVER, KUBE_SCHEDULER, ComponentName

STARTED = "process_start_time_seconds"
LATENCIES = "apiserver_request_sli_duration_seconds"
"""Without the time for which a request waited in a webhook or in a queue of flow control, as the objectives have it."""
REQUESTS = "apiserver_request_total"
ENDED_WATCHES = "apiserver_terminated_watchers_total"
SEATS = "apiserver_flowcontrol_nominal_limit_seats"
"""There where flow control is on."""
HELD_BACK = "apiserver_flowcontrol_rejected_requests_total"
ATTEMPTS = "scheduler_schedule_attempts_total"
PENDING = "scheduler_pending_pods"
SIZE, IN_USE = "etcd_mvcc_db_total_size_in_bytes", "etcd_mvcc_db_total_size_in_use_in_bytes"
FSYNC = "etcd_disk_wal_fsync_duration_seconds"
ALARMS = "etcd_debugging_server_alarms"
"""Grows when an alarm is raised, and falls by one when it is taken back (seen with etcd 3.6): not to 0 where it was raised several times."""
COMMIT = "etcd_disk_backend_commit_duration_seconds"

_REQUEST = ("verb", "resource", "subresource")

SAMPLED: Mapping[ComponentName, Sequence[WantedMetric]] = {
    KUBE_APISERVER: (
        WantedMetric(name=LATENCIES, keeps=(*_REQUEST, "scope"), is_histogram=True),
        WantedMetric(name=REQUESTS, keeps=(*_REQUEST, "code")),
        WantedMetric(name=ENDED_WATCHES, keeps=("resource",)),
        WantedMetric(name=SEATS),
        WantedMetric(name=HELD_BACK, keeps=("reason",)),
    ),
    KUBE_SCHEDULER: (
        WantedMetric(name=ATTEMPTS, keeps=("result",)),
        WantedMetric(name=PENDING, keeps=("queue",)),
    ),
    ETCD: (
        WantedMetric(name=SIZE),
        WantedMetric(name=IN_USE),
        WantedMetric(name=ALARMS, keeps=("alarm_type",)),
        WantedMetric(name=FSYNC, is_histogram=True),
        WantedMetric(name=COMMIT, is_histogram=True),
    ),
}
"""Those that are read in the beginning and in the end."""
AGAIN: Mapping[ComponentName, Sequence[WantedMetric]] = {
    KUBE_SCHEDULER: (WantedMetric(name=PENDING, keeps=("queue",)),),
    ETCD: (
        WantedMetric(name=SIZE),
        WantedMetric(name=IN_USE),
        WantedMetric(name=ALARMS, keeps=("alarm_type",)),
    ),
}
"""Those that are read in between, too."""
EVERY: Mapping[ComponentName, float] = {KUBE_APISERVER: 10.0, ETCD: 5.0}
"""The seconds between two samples of those that need more time for their text than others; these are read each second."""
