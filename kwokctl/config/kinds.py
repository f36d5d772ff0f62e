"""Lists the kinds of documents that kwokctl supports, with their apiVersion."""

CONFIGURATION = "config.kwok.x-k8s.io/v1alpha1"
KWOK = "kwok.x-k8s.io/v1alpha1"

KINDS = {
    CONFIGURATION: (
        "KwokConfiguration",
        "KwokctlConfiguration",
        "KwokctlResource",
    ),
    KWOK: (
        "Stage",
        "PortForward",
        "ClusterPortForward",
        "Exec",
        "ClusterExec",
        "Logs",
        "ClusterLogs",
        "Attach",
        "ClusterAttach",
        "ResourceUsage",
        "ClusterResourceUsage",
        "Metric",
    ),
    "action.kwok.x-k8s.io/v1alpha1": ("ResourcePatch",),
    "kind.x-k8s.io/v1alpha4": ("Cluster",),
}

FOR_KUBELET = frozenset(KINDS[KWOK]) - {"Stage"}
"""The kinds that say what the kubelet of fake nodes answers."""

API_VERSIONS = {kind: version for version, kinds in KINDS.items() for kind in kinds}
"""The one apiVersion that is supported of each kind."""
