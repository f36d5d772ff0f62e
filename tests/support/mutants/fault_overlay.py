"""What decides about the fields that faults show, and about those that lie beneath."""

from kwokctl.faults import journal
from kwokctl.faults.overlays import device_words, effects, node_fields, overlay
from tests.support.mutants.mutant import Mutant

MUTANTS = (
    # What lies beneath.
    Mutant(overlay.overlay, "if not before and not faults", "if False"),
    Mutant(overlay.overlay, "if not before and not faults", "if not faults"),
    Mutant(overlay.overlay, "if not before and not faults", "if not before"),
    Mutant(overlay.overlay, "{field: base.get(field) for field in before} | shown", "dict(shown)"),
    Mutant(overlay.overlay, "if value != found.get(field)", "if True"),
    Mutant(overlay.overlay, "if value != base.get(field)", "if True"),
    Mutant(
        overlay.overlay,
        "Overlaid(base.get(field), _timeless(field, value))",
        "Overlaid(found.get(field), _timeless(field, value))",
    ),
    Mutant(
        overlay.overlay,
        "Overlaid(base.get(field), _timeless(field, value))",
        "Overlaid(base.get(field), value)",
    ),
    Mutant(overlay.overlay, " and not entries_of(node)", ""),
    Mutant(overlay.overlay, "if each.entry is not None", "if True"),
    Mutant(overlay._beneath, "_timeless(field, found.get(field)) == each.shown", "True"),
    Mutant(overlay._beneath, "_timeless(field, found.get(field)) == each.shown", "False"),
    Mutant(overlay._beneath, "_timeless(field, found.get(field))", "found.get(field)"),
    Mutant(overlay._beneath, "if value is not None", "if True"),
    Mutant(
        overlay.overlay,
        "effects_of(facts := facts_of(node, base), faults)",
        "effects_of(facts := facts_of(node, found), faults)",
    ),
    # What faults show.
    Mutant(overlay._wanted, "if field not in base", "if True"),
    Mutant(overlay._wanted, "wanted.get(field)", "base.get(field)"),
    Mutant(overlay._in_words, "before is not None", "True"),
    Mutant(overlay._in_words, "condition.separator is not None", "True"),
    Mutant(overlay._in_words, 'before["status"] == condition.status', "True"),
    Mutant(overlay._in_words, "message in collected", "False"),
    Mutant(overlay._taint, "if taint.value", "if True"),
    Mutant(overlay._since, 'field.surface != "taints"', "False"),
    Mutant(overlay._since, "have is not None", "False"),
    Mutant(overlay._since, "_timeless(field, have) == value", "True"),
    Mutant(overlay._since, "_timeless(field, have) == value", "have == value"),
    Mutant(overlay._timeless, 'field.surface != "taints"', "False"),
    Mutant(overlay._timeless, "value is None", "False"),
    Mutant(
        overlay._timeless,
        "_ADDED not in value",
        "False",
        equivalent="the copy of a value without a time is equal to it",
    ),
    Mutant(overlay._timeless, "if name != _ADDED", "if True"),
    Mutant(effects.signal_values, 'fault.device == "missing"', "True"),
    Mutant(effects.signal_values, "missing=len(missing)", "missing=1"),
    Mutant(effects.shown_condition, "condition.status or dialect.bad_status", "dialect.bad_status"),
    Mutant(effects.shown_condition, "[: dialect.longest_message]", "[:]"),
    # Devices.
    Mutant(device_words.device_words, "not any(each.devices for each in effects)", "False"),
    Mutant(device_words.device_words, "except ExpressionError", "except ZeroDivisionError"),
    Mutant(device_words.device_words, "*beneath.unhealthy, ", ""),
    Mutant(device_words.device_words, "*beneath.missing, ", ""),
    Mutant(device_words.device_words, "*beneath.gone, ", ""),
    Mutant(device_words.device_words, "if plugin else ()", "if True else ()"),
    Mutant(device_words.device_words, "if beneath.delay else []", "if False else []"),
    Mutant(device_words.device_words, "if each)", ")"),
    Mutant(device_words._hit, "if state in each.devices", "if True"),
    Mutant(device_words._hit, "if gpu is not None", "if True"),
    Mutant(device_words._hit, "sorted(", "list("),
    Mutant(device_words._resources, "if name.startswith(_VENDOR)", "if True"),
    Mutant(device_words._listed, "dict.fromkeys(words)", "words"),
    Mutant(node_fields.facts_of, "all_devices(numbers, inventory)", "numbers"),
    # Reading and writing of fields.
    Mutant(node_fields._condition, "if key not in _WORDS", "if True"),
    Mutant(node_fields._condition, "have is None or", "False or"),
    Mutant(node_fields._condition, 'have.get("status") != words.get("status")', "True"),
    Mutant(node_fields._condition, 'have.get("status") != words.get("status")', "False"),
    Mutant(node_fields._items, "if name not in own", "if False"),
    Mutant(node_fields._items, "elif own[name] is not None", "else"),
    Mutant(node_fields._with_part, "if values", "if True"),
    Mutant(node_fields._in_map, "if value is not None", "if True"),
    Mutant(node_fields.with_journal, "as_text(journal) if journal else None", "as_text(journal)"),
    Mutant(node_fields._name, "{item['key']}:{item['effect']}", "{item['key']}"),
    Mutant(
        journal.journal_of,
        "if text else {}",
        "if text is not None else {}",
        equivalent="an empty text is no JSON, and counts as none",
    ),
)
"""One for each condition and comparison."""
