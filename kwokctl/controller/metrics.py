"""The metrics of the controller."""

from kwokctl.embedded.process_metrics import Help, Metrics

_MEANINGS: Help = {
    "kwok_controller_objects": ("gauge", "Objects that are watched, by kind."),
    "kwok_controller_waiting": ("gauge", "Objects and leases that wait for their delay."),
    "kwok_controller_queue_length": ("gauge", "Objects that are due and wait for a free player."),
    "kwok_controller_plays_total": ("counter", "Stages played, by stage and outcome."),
    "kwok_controller_failed_matches_total": (
        "counter",
        "Stages left out for an object because of an error in an expression, by stage.",
    ),
    "kwok_controller_slowed_plays_total": (
        "counter",
        "Stages that had to wait because too many followed each other at once, by stage.",
    ),
    "kwok_controller_writes_total": ("counter", "Writes sent to the cluster, by verb."),
    "kwok_controller_writes_saved_total": ("counter", "Writes not sent: nothing would change."),
    "kwok_controller_play_lag_seconds_sum": ("counter", "Time from being due to being played."),
    "kwok_controller_leases": ("gauge", "Node leases, by state."),
    "kwok_controller_lease_writes_total": ("counter", "Lease writes, by outcome."),
    "kwok_controller_members": ("gauge", "Controllers that share the nodes; 0 without sharing."),
    "kwok_controller_pod_addresses": ("gauge", "Pod addresses in use."),
    "kwok_controller_watch_delay_seconds": (
        "gauge",
        "Time from a write to etcd to its event in the watch.",
    ),
    "kwok_controller_unseen_writes": ("gauge", "Writes to etcd that the watch has not shown yet."),
    "kwok_controller_held_writes_total": ("counter", "Writes that waited for the watch to follow."),
    "apiserver_terminated_watchers_total": ("counter", "Watches that the API server has ended."),
}


def controller_metrics() -> Metrics:
    """Return the metrics of a controller, all of them zero."""
    return Metrics(_MEANINGS)
