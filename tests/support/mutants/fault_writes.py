"""What decides about the writes that bring a node to what its faults show."""

from kwokctl.faults.overlays import node_writes
from tests.support.mutants.mutant import Mutant

_DIFFERS = "if patch := merge_diff({**node, _SPEC: node.get(_SPEC) or {}}, without_taints):"

MUTANTS = (
    # Which writes there are.
    Mutant(node_writes.node_writes, "if kept is not journal else target", "if False else target"),
    Mutant(node_writes.node_writes, "if kept is not journal else target", "if True else target"),
    Mutant(node_writes.node_writes, "{**first, _SPEC: node.get(_SPEC) or {}}", "first"),
    Mutant(node_writes.node_writes, "{**node, _SPEC: node.get(_SPEC) or {}}", "node"),
    Mutant(
        node_writes.node_writes,
        _DIFFERS,
        _DIFFERS.replace("if patch := ", "if patch := {} and "),
    ),
    Mutant(
        node_writes.node_writes,
        _DIFFERS,
        _DIFFERS.replace("if patch := ", "patch = ").removesuffix(":") + "\n    if True:",
    ),
    Mutant(
        node_writes.node_writes,
        "if (target.get(_SPEC) or {}) != (node.get(_SPEC) or {})",
        "if True",
    ),
    Mutant(
        node_writes.node_writes,
        "if (target.get(_SPEC) or {}) != (node.get(_SPEC) or {})",
        "if False",
    ),
    Mutant(node_writes.node_writes, "if kept is not journal:", "if True:"),
    Mutant(node_writes.node_writes, "if kept is not journal:", "if False:"),
    # The change for one subresource.
    Mutant(node_writes.change_of, "subresource or _SPEC", "subresource"),
    Mutant(node_writes.change_of, "subresource or _SPEC", "_SPEC"),
    Mutant(node_writes.change_of, "if kept is journal else", "if True else"),
    Mutant(node_writes.change_of, "if kept is journal else", "if False else"),
    Mutant(node_writes.change_of, "if name in before", "if True"),
    Mutant(node_writes.change_of, "if name in after", "if True"),
    Mutant(node_writes.change_of, "after if subresource else", "after if True else"),
    Mutant(node_writes.change_of, "after if subresource else", "after if False else"),
    Mutant(node_writes._as_shown, "if field.surface == _CONDITIONS", "if True"),
    Mutant(node_writes._as_shown, "if wanted == journal else", "if True else"),
    Mutant(node_writes._as_shown, "if wanted == journal else", "if False else"),
    Mutant(node_writes._as_shown, "if entries == entries_of(after) else", "if True else"),
    Mutant(
        node_writes._as_shown,
        "if entries == entries_of(after) else",
        "if False else",
        equivalent="the same entries are the same text",
    ),
    # The boot after a reboot.
    Mutant(node_writes.started_anew, "if each.kubelet == _REBOOTING", "if True"),
    Mutant(node_writes.started_anew, "if each.key not in open_now", "if True"),
    Mutant(node_writes.started_anew, "if cause else after", "if True else after"),
    # The journal of taints that go.
    Mutant(node_writes._kept, 'field.surface == "taints"', "True"),
    Mutant(node_writes._kept, "field not in after", "True"),
    Mutant(
        node_writes._kept,
        "each.base is None",
        "True",
        equivalent="a taint that a client has added is left alone, so none in a journal has a value beneath",
    ),
    Mutant(node_writes._kept, "if going else after", "if True else after"),
    # The times of conditions.
    Mutant(node_writes.with_transitions, "if not conditions", "if False"),
    Mutant(node_writes._dated, "before is None", "False"),
    Mutant(node_writes._dated, 'before.get("status") != condition.get("status")', "True"),
    Mutant(node_writes._dated, 'before.get("status") != condition.get("status")', "False"),
    Mutant(node_writes._dated, "if _TRANSITION not in before", "if False"),
    Mutant(node_writes._dated, "if name != _TRANSITION", "if True"),
)
"""One for each condition and comparison."""
