"""Lists the kinds of documents that kwokctl supports, with their apiVersion."""

CONFIGURATION = "config.kwok.x-k8s.io/v1alpha1"
OF_CLUSTERS = "KwokctlConfiguration"
"""The kind of document that has the options of clusters."""
KWOK = "kwok.x-k8s.io/v1alpha1"

OWN = "kwokctl.dev/v1alpha1"

KINDS = {
    CONFIGURATION: (
        "KwokConfiguration",
        OF_CLUSTERS,
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
    OWN: ("ContainerProgram", "Load", "FaultClass", "FaultDialect"),
    "action.kwok.x-k8s.io/v1alpha1": ("ResourcePatch",),
    "kind.x-k8s.io/v1alpha4": ("Cluster",),
}

STAGE = "Stage"
PROGRAM = "ContainerProgram"
"""The kind of document that says what the programs of fake containers do."""
LOAD = "Load"
"""The kind of document that says what arrives at a cluster, and when."""
FAULT_CLASS = "FaultClass"
"""The kind of document that says what breaks, and who shows what of it."""
FAULT_DIALECT = "FaultDialect"
"""The kind of document that says how a stack shows faults."""
RECORDED = "ResourcePatch"
"""The kind of document that is a part of recordings."""
FOR_KUBELET = frozenset(KINDS[KWOK]) - {STAGE}
"""The kinds that say what the kubelet of fake nodes answers."""

API_VERSIONS = {kind: version for version, kinds in KINDS.items() for kind in kinds}
"""The one apiVersion that is supported of each kind."""
