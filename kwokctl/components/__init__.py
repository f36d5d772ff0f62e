"""Pure descriptions of the control plane's programs."""

__all__ = [
    "catalog",
    "choose_data_path",
    "cluster_identities",
    "cluster_plan",
    "custom_components",
    "definitions",
    "dialect_heartbeats",
    "egress_file",
    "fake_nodes",
    "heartbeat",
    "host_pages",
    "metrics_page",
    "setting",
    "stage_language",
    "stage_sets",
]
