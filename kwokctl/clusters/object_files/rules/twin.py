"""The rules that make a twin: all texts become others but those that the API itself defines.

What is not known here is hidden: a new field of a new release can give nothing away.
"""

from typing import NamedTuple

from kwokctl.clusters.object_files.rules.schema import FieldAction

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
        "completionMode", "concurrencyPolicy", "conditionType", "declaredFeatures",
        "default", "defaultRequest", "dnsPolicy", "effect", "externalTrafficPolicy",
        "failedIndexes", "finalizers", "hard", "hostIP", "hostIPs", "imagePullPolicy",
        "internalTrafficPolicy", "ip", "ipFamilies", "ipFamilyPolicy", "kind", "limits",
        "matchPolicy", "max", "maxLimitRequestRatio", "maxSurge", "maxUnavailable", "min",
        "minAvailable", "nodeAffinityPolicy", "nodeTaintsPolicy", "operator", "overhead",
        "pathType", "persistentVolumeReclaimPolicy", "phase", "podCIDR", "podCIDRs",
        "podIP", "podIPs", "podManagementPolicy", "podReplacementPolicy", "policyTypes",
        "preemptionPolicy", "protocol", "qosClass", "reason", "reclaimPolicy", "requests",
        "resourceName", "resources", "restartPolicy", "schedule", "scope", "scopeName",
        "scopes", "sessionAffinity", "status", "stopSignal", "terminationMessagePolicy",
        "timeZone", "trafficDistribution", "type", "uid", "unhealthyPodEvictionPolicy",
        "used", "verbs", "volumeBindingMode", "volumeMode", "whenDeleted", "whenScaled",
        "whenUnsatisfiable",
    )
)  # fmt: skip
"""Fields whose texts the API defines, or that are amounts and addresses."""
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
_IDENTITY = (("metadata", "uid"), ("apiVersion",), ("kind",))
_FINALIZERS = ("metadata", "finalizers")


class RuleSubject(NamedTuple):
    """What kind of object rules are applied to."""

    kind: str
    is_custom: bool
    """Whether its fields are the user's own: no name of a field says what it holds."""


def twin_action(subject: RuleSubject, path: tuple[str, ...]) -> FieldAction | None:
    """Return what becomes of a field; None if that is decided by what it holds."""
    kind, field = subject.kind, path[-1]
    if kind == _DEFINITION and path[0] == "spec":
        is_text = field in _OF_A_SCHEMA and path[-2] != "properties"
        return FieldAction.STRIP if is_text else None
    if path == _FINALIZERS:
        return FieldAction.STRIP  # what would remove them does not run in a twin
    if subject.is_custom:
        is_annotation = path == ("metadata", "annotations") or field == "managedFields"
        return (
            FieldAction.STRIP if is_annotation else FieldAction.KEEP if path in _IDENTITY else None
        )
    if field in STRIPPED or _is_elsewhere(kind, path):
        return FieldAction.STRIP
    if field == "status" and len(path) == 1:
        return None
    return FieldAction.KEEP if field in KEPT else None


def _is_elsewhere(kind: str, path: tuple[str, ...]) -> bool:
    """Tell whether a field says where something really is."""
    if kind == "Node" and path[0] == "status" and path[-1] in _NODE_STRIPPED:
        return True
    if kind == "PersistentVolume" and len(path) == 2 and path[0] == "spec":
        return path[1] not in _VOLUME_KEPT
    return len(path) > 1 and path[-2] == _VOLUMES and path[-1] not in _OF_VOLUMES


def hides(subject: RuleSubject, path: tuple[str, ...]) -> bool:
    """Tell whether texts at a path become others."""
    if subject.kind == _DEFINITION:
        return path[0] not in ("spec", "status") and path != ("metadata", "name")
    return subject.is_custom or path[-1] not in _OF_A_CLASS
