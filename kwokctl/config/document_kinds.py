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
    OWN: (
        "ContainerProgram",
        "Load",
        "FaultClass",
        "FaultDialect",
        "Fault",
        "FaultSchedule",
        "RepairPolicy",
        "Repair",
    ),
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
FAULT = "Fault"
"""The kind of custom resource that breaks something."""
FAULT_SCHEDULE = "FaultSchedule"
"""The kind of custom resource that says which faults come how often."""
REPAIR_POLICY = "RepairPolicy"
"""The kind of custom resource that says who repairs nodes, when, how and with which odds."""
REPAIR = "Repair"
"""The kind of custom resource that is one repair of one node."""
WITH_REPAIR = (REPAIR, REPAIR_POLICY)
"""The kinds of custom resources that a cluster serves with Repairs."""
FAULT_PAGE = "FaultPage"
"""The kind of custom resource that says what a Fault has hit; controllers write it."""
WITH_FAULT = (FAULT, FAULT_CLASS, FAULT_DIALECT, FAULT_PAGE, FAULT_SCHEDULE)
"""The kinds of custom resources that a cluster serves with Faults."""
RECORDED = "ResourcePatch"
"""The kind of document that is a part of recordings."""
FOR_KUBELET = frozenset(KINDS[KWOK]) - {STAGE}
"""The kinds that say what the kubelet of fake nodes answers."""
CUSTOM = (*KINDS[KWOK], FAULT, REPAIR)
"""The kinds that a cluster can serve as custom resources."""

API_VERSIONS = {kind: version for version, kinds in KINDS.items() for kind in kinds}
"""The one apiVersion that is supported of each kind."""
