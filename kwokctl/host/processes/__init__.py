"""Components as processes of this host: launched, stopped, inspected, and restarted on request."""

__all__ = [
    "crew_script",
    "launcher",
    "launches",
    "lifecycle",
    "manager",
    "process_usage",
    "supervise",
]
