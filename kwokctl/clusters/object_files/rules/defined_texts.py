"""The texts that Kubernetes defines for fields in which controllers may write others, too."""

CHECKED = frozenset(("conditionType", "reason", "type"))
"""Fields whose texts stay only if they are among these."""
_TYPES = frozenset(
    (
        # of services, addresses of nodes, volumes, secrets, Events and strategies
        "ClusterIP", "NodePort", "LoadBalancer", "ExternalName",
        "Hostname", "InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS",
        "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice",
        "BlockDevice", "Opaque", "Normal", "Warning", "RollingUpdate", "Recreate", "OnDelete",
        # of limits, profiles of containers, and metrics of autoscalers
        "Container", "Pod", "PersistentVolumeClaim", "Localhost", "RuntimeDefault", "Unconfined",
        "Resource", "Pods", "Object", "External", "ContainerResource", "Utilization", "Value",
        "AverageValue", "Percent",
        # of flow control
        "Queue", "Reject", "Limited", "Exempt", "ByUser", "ByNamespace",
    )
)  # fmt: skip
_CONDITIONS = frozenset(
    (
        # of pods
        "PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready",
        "DisruptionTarget", "PodResizePending", "PodResizeInProgress", "AllContainersRestarting",
        # of nodes
        "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable",
        # of sets of pods, Jobs, autoscalers and budgets
        "Available", "Progressing", "ReplicaFailure", "Complete", "Failed", "Suspended",
        "FailureTarget", "SuccessCriteriaMet", "AbleToScale", "ScalingActive", "ScalingLimited",
        "DisruptionAllowed",
        # of claims, namespaces, certificate requests, flow schemas and services
        "Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError",
        "ModifyVolumeError", "ModifyingVolume", "Unused", "NamespaceDeletionDiscoveryFailure",
        "NamespaceDeletionContentFailure", "NamespaceDeletionGroupVersionParsingFailure",
        "NamespaceContentRemaining", "NamespaceFinalizersRemaining", "Approved", "Denied",
        "Dangling", "LoadBalancerPortsError",
    )
)  # fmt: skip
_REASONS = frozenset(
    (
        # of pods and containers
        "Completed", "Error", "OOMKilled", "ContainerCannotRun", "StartError", "DeadlineExceeded",
        "Evicted", "Unschedulable", "SchedulingGated", "SchedulerError", "PodCompleted",
        "PodFailed", "ContainersNotReady", "ContainersNotInitialized", "ReadinessGatesNotReady",
        "ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff",
        "ErrImagePull", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError",
        "RunContainerError", "NodeLost", "NodeAffinity", "Terminated", "Shutdown", "OutOfcpu",
        "OutOfmemory", "OutOfpods", "UnexpectedAdmissionError", "PreemptionByScheduler",
        "TerminationByKubelet", "EvictionByEvictionAPI", "DeletionByTaintManager",
        "DeletionByPodGC", "Deferred", "Infeasible",
        # of nodes
        "KubeletReady", "KubeletNotReady", "KubeletHasSufficientMemory",
        "KubeletHasInsufficientMemory", "KubeletHasNoDiskPressure", "KubeletHasDiskPressure",
        "KubeletHasSufficientPID", "KubeletHasInsufficientPID", "NodeStatusUnknown",
        "NodeStatusNeverUpdated", "RouteCreated", "NoRouteCreated",
        # of sets of pods, Jobs, autoscalers and budgets
        "MinimumReplicasAvailable", "MinimumReplicasUnavailable", "NewReplicaSetAvailable",
        "NewReplicaSetCreated", "FoundNewReplicaSet", "ReplicaSetUpdated", "ReplicaSetCreateError",
        "ProgressDeadlineExceeded", "DeploymentPaused", "DeploymentResumed", "FailedCreate",
        "FailedDelete", "BackoffLimitExceeded", "CompletionsReached", "JobSuspended", "JobResumed",
        "PodFailurePolicy", "FailedIndexes", "MaxFailedIndexesExceeded", "SuccessPolicy",
        "ReadyForNewScale", "ScaleDownStabilized", "ScaleUpLimit", "ScaleDownLimit", "TooFewReplicas",
        "TooManyReplicas", "DesiredWithinRange", "ValidMetricFound", "FailedGetResourceMetric",
        "ScalingDisabled", "InsufficientPods", "SufficientPods", "SyncFailed",
        # of namespaces
        "ResourcesDiscovered", "ContentDeleted", "ContentRemoved", "ContentHasNoFinalizers",
        "ParsedGroupVersions", "SomeResourcesRemain", "SomeFinalizersRemain", "DiscoveryFailed",
    )
)  # fmt: skip
_TEXTS = _TYPES | _CONDITIONS | _REASONS


def is_defined(field: str, text: str) -> bool:
    """Return whether Kubernetes itself writes or demands a text in one of the checked fields."""
    return field in CHECKED and text in _TEXTS
