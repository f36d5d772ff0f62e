"""Describes resources of the Kubernetes API, and their paths."""

import re
from urllib.parse import quote

import msgspec

from kwokctl.errors import ConfigError

_PLAIN = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._~-]+", re.ASCII)


class Resource(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """One kind of object as one version of the API serves it."""

    group: str
    """Empty for the core group."""
    version: str
    plural: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects: `v1`, `apps/v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str = ""
    ) -> str:
        """Return the path of an object, or without a name that of the collection.

        A namespaced resource without a namespace means all namespaces. A namespace given for one
        that has none is left out.
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            root = f"{root}/namespaces/{quoted(namespace)}"
        if name is None:
            return f"{root}/{self.plural}"
        tail = f"/{subresource}" if subresource else ""
        return f"{root}/{self.plural}/{quoted(name)}{tail}"


def quoted(segment: str) -> str:
    """Return one segment of a path, escaped; ConfigError for one that would be another path."""
    if _PLAIN.fullmatch(segment):
        return segment
    if segment in ("", ".", ".."):
        raise ConfigError(f"'{segment}' cannot be a name in the Kubernetes API")
    return quote(segment, safe=":")


NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
PODS = Resource("", "v1", "pods", "Pod", namespaced=True)
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", namespaced=True)
SERVICES = Resource("", "v1", "services", "Service", namespaced=True)
SECRETS = Resource("", "v1", "secrets", "Secret", namespaced=True)
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True)
EVENTS = Resource("", "v1", "events", "Event", namespaced=True)
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment", namespaced=True)
REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet", namespaced=True)
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet", namespaced=True)
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet", namespaced=True)
JOBS = Resource("batch", "v1", "jobs", "Job", namespaced=True)
POD_DISRUPTION_BUDGETS = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", namespaced=True
)
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)

RESOURCE_SLICES = Resource(
    "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False
)
_OWN = "kwokctl.dev"
FAULTS = Resource(_OWN, "v1alpha1", "faults", "Fault", namespaced=False)
FAULT_PAGES = Resource(_OWN, "v1alpha1", "faultpages", "FaultPage", namespaced=False)
FAULT_SCHEDULES = Resource(_OWN, "v1alpha1", "faultschedules", "FaultSchedule", namespaced=False)
FAULT_CLASSES = Resource(_OWN, "v1alpha1", "faultclasses", "FaultClass", namespaced=False)
REPAIRS = Resource(_OWN, "v1alpha1", "repairs", "Repair", namespaced=False)
REPAIR_POLICIES = Resource(_OWN, "v1alpha1", "repairpolicies", "RepairPolicy", namespaced=False)
FAULT_DIALECTS = Resource(_OWN, "v1alpha1", "faultdialects", "FaultDialect", namespaced=False)

NODE_LEASES = "kube-node-lease"
"""The namespace of the Leases of nodes; a Lease has the name of its node."""
FAULT_CLOCK = "kwokctl-fault-clock"
"""The Lease in it that has the clock of faults."""

KNOWN = (
    NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS, SERVICES, SECRETS, CONFIG_MAPS, EVENTS, LEASES,
    DEPLOYMENTS, REPLICA_SETS, DAEMON_SETS, STATEFUL_SETS, JOBS, CUSTOM_RESOURCE_DEFINITIONS,
)  # fmt: skip
"""Resources that every cluster serves in this form, so that no discovery is needed."""
