"""What decides whether a write goes to etcd or is left to the API server."""

from kwokctl.dataplane import status_change
from kwokctl.dataplane.etcd_plane import EtcdPlane
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # Patches.
    Mutant(EtcdPlane.patch, "if current is not None:", "if True:"),
    Mutant(EtcdPlane._certainly_changed, 'patch.subresource != "status"', "False"),
    Mutant(EtcdPlane._certainly_changed, "patch.as_user", "False"),
    Mutant(EtcdPlane._certainly_changed, "not await self._takes(target, current)", "False"),
    Mutant(EtcdPlane._certainly_changed, "if problem is None else", "if True else"),
    Mutant(EtcdPlane._changed_status, "patch.result or apply_patch", "apply_patch"),
    Mutant(EtcdPlane._changed_status, "if not is_of_status(current, changed):", "if False:"),
    Mutant(EtcdPlane._changed_status, "kind != NODES.kind", "False"),
    Mutant(EtcdPlane._changed_status, "not is_of_report(current, changed)", "False"),
    Mutant(EtcdPlane._changed_status, "not is_of_report(current, changed)", "True"),
    Mutant(EtcdPlane._changed_status, "not self._managed_fields", "False"),
    Mutant(EtcdPlane._changed_status, 'not current["metadata"].get("managedFields")', "False"),
    # Where objects of a kind are.
    Mutant(
        EtcdPlane._takes,
        "resource not in _KINDS",
        "False",
        equivalent="the check of a status refuses other kinds, and only pods are deleted",
    ),
    Mutant(EtcdPlane._takes, "self._is_left(resource)", "False"),
    Mutant(
        EtcdPlane._takes,
        'if not current["metadata"].get("resourceVersion", "").isdecimal():',
        "if False:",
    ),
    Mutant(EtcdPlane._takes, "if proven is None:", "if True:"),
    Mutant(EtcdPlane._takes, "if found is not None:", "if True:"),
    Mutant(EtcdPlane._takes, "is_readable(found.value)", "True"),
    # An Event with a status, and what was planned.
    Mutant(EtcdPlane.record, "self._is_left(EVENTS)", "False"),
    Mutant(EtcdPlane.patch_and_record, "if self._is_left(EVENTS):", "if False:"),
    Mutant(EtcdPlane.patch_and_record, "if revision else None", "if True else None"),
    Mutant(EtcdPlane.store_whole, "not self._proven.get(resource)", "False"),
    Mutant(EtcdPlane.store_whole, "self._is_left(resource)", "False"),
    Mutant(EtcdPlane.store_whole, "if event is None:", "if True:"),
    Mutant(EtcdPlane.store_whole, "if self._is_left(EVENTS):", "if False:"),
    Mutant(EtcdPlane.store_whole, "revision or None", "revision"),
    # Deletions.
    Mutant(EtcdPlane.delete, "current is None", "False"),
    Mutant(EtcdPlane.delete, "target.resource != PODS", "False"),
    Mutant(EtcdPlane.delete, "grace_seconds != 0", "False"),
    Mutant(EtcdPlane.delete, 'current["metadata"].get("finalizers")', "False"),
    Mutant(EtcdPlane.delete, "uid is not None", "True"),
    Mutant(EtcdPlane.delete, 'current["metadata"].get("uid") != uid', "False"),
    Mutant(EtcdPlane.delete, "not await self._takes(target, current)", "False"),
    # Changes of nothing but a status.
    Mutant(status_change.is_of_status, "if after.keys() >= before.keys() else", "if True else"),
    Mutant(status_change.is_of_status, 'field != "status"', "True"),
    Mutant(status_change.is_of_status, "new != old", "True"),
    Mutant(status_change.is_of_report, "_others(old) != _others(new)", "False"),
    Mutant(
        status_change.is_of_report,
        'not is_of_status(before, {**after, "metadata": old})',
        "False",
    ),
    Mutant(status_change.is_of_report, "size < _MOST_ANNOTATIONS", "True"),
    Mutant(status_change.is_of_report, "all(map(is_qualified_name, keys))", "True"),
    Mutant(status_change.is_of_report, "all(map(is_label_value, labels.values()))", "True"),
)
"""One for each condition and comparison."""
