"""The rules that make a twin: all texts become others but those that the API itself defines.

What is not known here is hidden: a new field of a new release can give nothing away.
"""

from typing import NamedTuple, Self

from kwokctl.clusters.object_files.rules.rules_file import FieldAction
from kwokctl.dataplane.objects.resources import is_built_in

STRIPPED = frozenset(
    (
        "annotations", "args", "binaryData", "caBundle", "command", "data", "description", "env",
        "envFrom", "externalIPs", "immutable", "lifecycle", "livenessProbe", "loadBalancer",
        "loadBalancerIP", "loadBalancerSourceRanges", "managedFields", "message", "parameters",
        "providerID", "readinessProbe", "securityContext", "startupProbe", "stringData",
        "volumeDevices", "volumeMounts",
    )
)  # fmt: skip
"""Fields that fake nodes make no use of, at any depth."""
KEPT = frozenset(
    (
        "accessModes", "action", "allocatable", "allocatedResourceStatuses",
        "allocatedResources", "allocatedResourcesStatus", "apiGroup", "apiGroups",
        "apiVersion", "capacity", "clusterIP", "clusterIPs", "completedIndexes",
        "completionMode", "concurrencyPolicy", "declaredFeatures",
        "default", "defaultRequest", "dnsPolicy", "effect", "externalTrafficPolicy",
        "failedIndexes", "finalizers", "hard", "hostIP", "hostIPs", "imagePullPolicy",
        "internalTrafficPolicy", "ip", "ipFamilies", "ipFamilyPolicy", "kind", "limits",
        "matchPolicy", "max", "maxLimitRequestRatio", "maxSurge", "maxUnavailable", "min",
        "minAvailable", "nodeAffinityPolicy", "nodeTaintsPolicy", "operator", "overhead",
        "pathType", "persistentVolumeReclaimPolicy", "phase", "podCIDR", "podCIDRs",
        "podIP", "podIPs", "podManagementPolicy", "podReplacementPolicy", "policyTypes",
        "preemptionPolicy", "protocol", "qosClass", "reclaimPolicy", "requests",
        "resourceName", "resources", "restartPolicy", "schedule", "scope", "scopeName",
        "scopes", "sessionAffinity", "status", "stopSignal", "terminationMessagePolicy",
        "timeZone", "trafficDistribution", "uid", "unhealthyPodEvictionPolicy",
        "used", "verbs", "volumeBindingMode", "volumeMode", "whenDeleted", "whenScaled",
        "whenUnsatisfiable",
    )
)  # fmt: skip
"""Fields whose texts the API defines, or that are amounts and addresses."""
USER_MAPS = frozenset(("attributes", "labels", "matchLabels", "nodeSelector"))
"""Maps of the API whose keys users choose: a key that reads like a field says nothing of its value."""
SELECTOR = "selector"
"""Such a map, too, where it is not a selector with expressions."""
_VOLUMES = "volumes"
_OF_VOLUMES = frozenset(("name", "persistentVolumeClaim"))
_OF_A_CLASS = frozenset(("provisioner", "handler"))
_NODE_STRIPPED = frozenset(
    (
        "addresses",
        "config",
        "images",
        "nodeInfo",
        "runtimeHandlers",
        "volumesAttached",
        "volumesInUse",
    )
)
_VOLUME_KEPT = frozenset(
    (
        "accessModes", "capacity", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName",
        "volumeMode", "nodeAffinity",
    )
)  # fmt: skip
"""All of a volume but where it really is."""
_DEFINITION = "CustomResourceDefinition"
_OF_A_SCHEMA = frozenset(("default", "description", "example", "externalDocs", "title"))
_IDENTITY = (("apiVersion",), ("kind",))
_FINALIZERS = ("metadata", "finalizers")


class RuleSubject(NamedTuple):
    """The kind of object that rules are applied to."""

    kind: str
    is_custom: bool
    """Whether its fields are the user's own: no name of a field says what it holds."""

    @classmethod
    def of(cls, api_version: str, kind: str) -> Self:
        """Return that of an object; every kind that Kubernetes does not have is custom."""
        return cls(kind, not is_built_in(api_version.rpartition("/")[0], kind))

    def has_own(self, path: tuple[str, ...]) -> bool:
        """Return whether the user has defined the field at a path: all of a custom resource but its metadata."""
        return self.is_custom and path[:1] != ("metadata",)


def twin_action(subject: RuleSubject, path: tuple[str, ...]) -> FieldAction | None:
    """Return what is done with a field; None if its content decides."""
    if subject.kind == _DEFINITION and path[0] == "spec":
        is_text = path[-1] in _OF_A_SCHEMA and path[-2] != "properties"
        return FieldAction.STRIP if is_text else None
    if path == _FINALIZERS:
        return FieldAction.STRIP  # what would remove them does not run in a twin
    if subject.has_own(path):
        return FieldAction.KEEP if path in _IDENTITY else None
    return _of_the_api(subject.kind, path)


def _of_the_api(kind: str, path: tuple[str, ...]) -> FieldAction | None:
    """Return the action on a field that Kubernetes defines."""
    is_key = len(path) > 1 and (path[-2] in USER_MAPS or path[-2] == SELECTOR)
    if is_key or path == ("status",):
        return None
    if path[-1] in STRIPPED or _is_elsewhere(kind, path):
        return FieldAction.STRIP
    return FieldAction.KEEP if path[-1] in KEPT else None


def _is_elsewhere(kind: str, path: tuple[str, ...]) -> bool:
    """Return whether a field contains a real address or place."""
    if kind == "Node" and path[0] == "status" and path[-1] in _NODE_STRIPPED:
        return True
    if kind == "PersistentVolume" and len(path) == 2 and path[0] == "spec":
        return path[1] not in _VOLUME_KEPT
    return len(path) > 1 and path[-2] == _VOLUMES and path[-1] not in _OF_VOLUMES


def hides(subject: RuleSubject, path: tuple[str, ...], text: str) -> bool:
    """Return whether a text at a path is replaced."""
    if subject.kind == _DEFINITION:
        return path[0] not in ("spec", "status") and path != ("metadata", "name")
    if subject.has_own(path):
        return True
    return path[-1] not in _OF_A_CLASS and not is_defined(path[-1], text)


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
