"""The rules with which a strategic merge treats each list of a node and of a pod.

The facts are those of the API types, as the server publishes them in its OpenAPI document with
`x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key`. Of a list that is not named here
nothing is known.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import msgspec


class ListRule(msgspec.Struct, frozen=True):
    """The rule with which a list is merged with another."""

    key: str | None
    """The field that identifies an item; empty for a set of plain values; None if the list is replaced."""
    fields: "Mapping[str, Rule]" = msgspec.field(default_factory=lambda: MappingProxyType({}))
    """The lists within an item that is merged."""


Rule: TypeAlias = ListRule | Mapping[str, "Rule"]
"""That of a list, or those of the lists within an object."""

Fields: TypeAlias = Mapping[str, Rule]
"""The lists of an object by their names, and the objects within it that have lists."""

_REPLACED = ListRule(None)
_SET = ListRule("")

_METADATA: Fields = {
    "finalizers": _SET,
    "managedFields": _REPLACED,
    "ownerReferences": ListRule("uid"),
}
_SELECTOR: Fields = {"matchExpressions": _REPLACED}

_HANDLER: Fields = {"exec": {"command": _REPLACED}, "httpGet": {"httpHeaders": _REPLACED}}
_RESOURCES: Fields = {"claims": _REPLACED}
_CONTAINER: Fields = {
    "args": _REPLACED,
    "command": _REPLACED,
    "env": ListRule("name"),
    "envFrom": _REPLACED,
    "lifecycle": {"postStart": _HANDLER, "preStop": _HANDLER},
    "livenessProbe": _HANDLER,
    "ports": ListRule("containerPort"),
    "readinessProbe": _HANDLER,
    "resizePolicy": _REPLACED,
    "resources": _RESOURCES,
    "restartPolicyRules": _REPLACED,
    "securityContext": {"capabilities": {"add": _REPLACED, "drop": _REPLACED}},
    "startupProbe": _HANDLER,
    "volumeDevices": ListRule("devicePath"),
    "volumeMounts": ListRule("mountPath"),
}
_CONTAINERS = ListRule("name", _CONTAINER)

_ITEMS: Fields = {"items": _REPLACED}
_VOLUME: Fields = {
    "cephfs": {"monitors": _REPLACED},
    "configMap": _ITEMS,
    "downwardAPI": _ITEMS,
    "ephemeral": {
        "volumeClaimTemplate": {
            "metadata": _METADATA,
            "spec": {"accessModes": _REPLACED, "selector": _SELECTOR},
        }
    },
    "fc": {"targetWWNs": _REPLACED, "wwids": _REPLACED},
    "iscsi": {"portals": _REPLACED},
    "projected": {"sources": _REPLACED},
    "rbd": {"monitors": _REPLACED},
    "secret": _ITEMS,
}

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_BOTH: Fields = {_PREFERRED: _REPLACED, _REQUIRED: _REPLACED}

_POD_SPEC: Fields = {
    "affinity": {
        "nodeAffinity": {_PREFERRED: _REPLACED, _REQUIRED: {"nodeSelectorTerms": _REPLACED}},
        "podAffinity": _BOTH,
        "podAntiAffinity": _BOTH,
    },
    "containers": _CONTAINERS,
    "dnsConfig": {"nameservers": _REPLACED, "options": _REPLACED, "searches": _REPLACED},
    "ephemeralContainers": _CONTAINERS,
    "hostAliases": ListRule("ip", {"hostnames": _REPLACED}),
    "imagePullSecrets": ListRule("name"),
    "initContainers": _CONTAINERS,
    "readinessGates": _REPLACED,
    "resourceClaims": ListRule("name"),
    "resources": _RESOURCES,
    "schedulingGates": ListRule("name"),
    "securityContext": {"supplementalGroups": _REPLACED, "sysctls": _REPLACED},
    "tolerations": _REPLACED,
    "topologySpreadConstraints": ListRule(
        "topologyKey", {"labelSelector": _SELECTOR, "matchLabelKeys": _REPLACED}
    ),
    "volumes": ListRule("name", _VOLUME),
}
_POD_STATUS: Fields = {
    "conditions": ListRule("type"),
    "containerStatuses": _REPLACED,
    "ephemeralContainerStatuses": _REPLACED,
    "extendedResourceClaimStatus": {"requestMappings": _REPLACED},
    "hostIPs": ListRule("ip"),
    "initContainerStatuses": _REPLACED,
    "nodeAllocatableResourceClaimStatuses": _REPLACED,
    "podIPs": ListRule("ip"),
    "resourceClaimStatuses": ListRule("name"),
    "resources": _RESOURCES,
}

LISTS: Mapping[str, Fields] = {
    "Node": {
        "metadata": _METADATA,
        "spec": {"podCIDRs": _SET, "taints": _REPLACED},
        "status": {
            "addresses": ListRule("type"),
            "conditions": ListRule("type"),
            "declaredFeatures": _REPLACED,
            "images": _REPLACED,
            "runtimeHandlers": _REPLACED,
            "volumesAttached": _REPLACED,
            "volumesInUse": _REPLACED,
        },
    },
    "Pod": {"metadata": _METADATA, "spec": _POD_SPEC, "status": _POD_STATUS},
}
"""The lists of each kind, of core/v1, whose strategic merge is known."""

NOTHING: Fields = MappingProxyType({})
"""The lists of what has none."""
