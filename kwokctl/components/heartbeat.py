"""How often fake nodes show that they live, and when a silent one is given up."""

from dataclasses import dataclass

from kwokctl.config.options import ClusterOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The times that belong together; stretching one without the others loses nodes."""

    lease_seconds: int
    status_milliseconds: int
    monitor_period_milliseconds: int
    monitor_grace_milliseconds: int


def heartbeat(options: ClusterOptions) -> Heartbeat:
    """Stretch all heartbeat times by the factor; 0 and 1 leave them as they are."""
    factor = max(options.heartbeat_factor, 1)
    period = options.kube_controller_manager_node_monitor_period_milliseconds
    grace = options.kube_controller_manager_node_monitor_grace_period_milliseconds
    return Heartbeat(
        lease_seconds=options.node_lease_duration_seconds * factor,
        status_milliseconds=options.node_status_update_frequency_milliseconds * factor,
        monitor_period_milliseconds=period * factor,
        monitor_grace_milliseconds=grace * factor,
    )
