"""The rights that the controller needs for Repairs, beside those for Faults and for its Stages."""

from kwokctl.kube.resource import (
    CUSTOM_RESOURCE_DEFINITIONS,
    FAULTS,
    REPAIR_POLICIES,
    REPAIRS,
    RESOURCE_SLICES,
)

_READ = ("get", "list", "watch")
REPAIR_RIGHTS = (
    (REPAIRS.group, REPAIRS.plural, (*_READ, "create", "patch"), ""),
    (REPAIRS.group, f"{REPAIRS.plural}/status", ("patch",), ""),
    (REPAIR_POLICIES.group, REPAIR_POLICIES.plural, _READ, ""),
    (REPAIR_POLICIES.group, f"{REPAIR_POLICIES.plural}/status", ("patch",), ""),
    (
        CUSTOM_RESOURCE_DEFINITIONS.group,
        CUSTOM_RESOURCE_DEFINITIONS.plural,
        _READ,
        f"{REPAIRS.plural}.{REPAIRS.group}",
    ),
    # The Fault that a node shows while it is repaired.
    (FAULTS.group, FAULTS.plural, ("create", "delete"), ""),
    # A node that is replaced, the pods that were on it, and the slices of its devices.
    ("", "nodes", ("create", "delete", "patch"), ""),
    ("", "pods", ("delete",), ""),
    (RESOURCE_SLICES.group, RESOURCE_SLICES.plural, ("list", "create", "delete"), ""),
)
"""Group, resource, verbs, and the name of the only object; empty for all. Kinds of requests are for those to allow who name them in a policy."""
