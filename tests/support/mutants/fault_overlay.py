"""What decides about the fields that faults show, and about those that lie beneath."""

from kwokctl.faults import device_words, effects, journal, node_fields, overlay
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
        overlay.overlay, "Overlaid(base.get(field), value)", "Overlaid(found.get(field), value)"
    ),
    Mutant(overlay._beneath, "if found.get(field) == each.shown", "if True"),
    Mutant(overlay._beneath, "if found.get(field) == each.shown", "if False"),
    Mutant(overlay._beneath, "if value is not None", "if True"),
    Mutant(
        overlay.overlay,
        "_wanted(facts_of(node, base), base, faults)",
        "_wanted(facts_of(node, found), base, faults)",
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
    Mutant(overlay._since, "{**have, _ADDED: None} == {**value, _ADDED: None}", "True"),
    Mutant(effects.effects_of, 'fault.device == "missing"', "True"),
    Mutant(effects.effects_of, "missing=len(missing)", "missing=1"),
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
