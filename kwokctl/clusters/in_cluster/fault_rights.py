"""The rights that the controller needs for Faults, beside those for its Stages."""

from kwokctl.kube.resource import (
    CUSTOM_RESOURCE_DEFINITIONS,
    FAULT_CLASSES,
    FAULT_DIALECTS,
    FAULT_PAGES,
    FAULT_SCHEDULES,
    FAULTS,
)

_READ = ("get", "list", "watch")
FAULT_RIGHTS = (
    # A schedule brings Faults, and those of one that was deleted are removed.
    (FAULTS.group, FAULTS.plural, (*_READ, "create", "delete"), ""),
    (FAULT_SCHEDULES.group, FAULT_SCHEDULES.plural, _READ, ""),
    (FAULT_SCHEDULES.group, f"{FAULT_SCHEDULES.plural}/status", ("patch", "update"), ""),
    (FAULTS.group, f"{FAULTS.plural}/status", ("patch", "update"), ""),
    (FAULT_PAGES.group, FAULT_PAGES.plural, (*_READ, "create", "patch", "update", "delete"), ""),
    (FAULT_CLASSES.group, FAULT_CLASSES.plural, _READ, ""),
    (FAULT_DIALECTS.group, FAULT_DIALECTS.plural, _READ, ""),
    # Removing the kind clears all faults: the controller must see that.
    (
        CUSTOM_RESOURCE_DEFINITIONS.group,
        CUSTOM_RESOURCE_DEFINITIONS.plural,
        _READ,
        f"{FAULTS.plural}.{FAULTS.group}",
    ),
    # What faults show on nodes and pods; taints are in the spec of a node.
    ("", "nodes", ("patch",), ""),
    ("", "nodes/status", ("patch",), ""),
    ("", "pods/status", ("patch",), ""),
)
"""Group, resource, verbs, and the name of the only object; empty for all."""
CLOCK_VERBS = ("patch",)
"""The verbs for the Lease with the clock of faults, beside those for the Leases of nodes."""
