"""What decides which Stages are played on an object in memory, or once for all objects."""

from kwokctl.controller.in_memory import at_once, kubelet, play_manners
from kwokctl.controller.in_memory.kubelet import InMemoryKubelet, OwnAddresses
from kwokctl.controller.in_memory.play_manners import AllObjects, OneObject
from tests.support.mutants.mutant import Mutant

_CHANGED = "after.get(name) is not before.get(name)"

MUTANTS = (
    # The changes that the API server would accept.
    Mutant(at_once.check_changes, _CHANGED, "False"),
    Mutant(at_once.check_changes, 'if part == "metadata":', "if False:"),
    Mutant(at_once._check_metadata, _CHANGED, "False"),
    Mutant(at_once._are_labels, "isinstance(labels, dict)", "True"),
    Mutant(at_once._are_labels, "is_qualified_name(name)", "True"),
    Mutant(at_once._are_labels, "isinstance(text, str)", "True"),
    Mutant(at_once._are_labels, "is_label_value(text)", "True"),
    Mutant(at_once._are_annotations, "if not isinstance(annotations, dict):", "if False:"),
    Mutant(at_once._are_annotations, "not isinstance(text, str)", "False"),
    Mutant(at_once._are_annotations, "not is_qualified_name(name.lower())", "False"),
    Mutant(at_once._are_annotations, "name.lower()", "name"),
    Mutant(at_once._are_annotations, "size <= _MOST", "size < _MOST"),
    # When a play ends.
    Mutant(at_once.play, "any(result is None", "all(result is None"),
    Mutant(at_once.is_at_once, "_is_immediate(stage)", "True"),
    Mutant(at_once.is_at_once, "isinstance(step, PatchStep)", "True"),
    Mutant(at_once.is_at_once, "step.subresource in PLAYED", "True"),
    Mutant(at_once.is_at_once, "not step.as_user", "True"),
    Mutant(at_once._is_immediate, "delay.base_from is not None", "False"),
    Mutant(at_once._is_immediate, "delay.bound_from is not None", "False"),
    Mutant(
        at_once._is_immediate, "delay.base if delay.bound is None else delay.bound", "delay.base"
    ),
    Mutant(
        at_once._is_immediate,
        "delay.base if delay.bound is None else delay.bound",
        "delay.base or delay.bound",
    ),
    Mutant(at_once._after, "_surely_differ(value, changed, manner)", "True"),
    Mutant(at_once._surely_differ, "if old is not new", "if False"),
    Mutant(at_once._patched, 'if step.subresource == "status":', "if False:"),
    Mutant(at_once._patched, "if changed is value:", "if False:"),
    Mutant(at_once._patched, "not manner.selected(changed)", "False"),
    # The addresses that are known.
    Mutant(OwnAddresses.of_node, "not _is_same(name, self._node)", "False"),
    Mutant(OwnAddresses.of_pod, "if host_network:", "if False:"),
    Mutant(OwnAddresses.of_pod, "not _is_same(uid, self._uid)", "False"),
    Mutant(OwnAddresses.of_pod, "not _is_same(node, self._node)", "False"),
    Mutant(OwnAddresses.pod_ips, "self._is_on_host", "False"),
    Mutant(OwnAddresses.pod_ips, "not self._own.pod_ips", "False"),
    Mutant(kubelet._is_same, "one is other", "True"),
    # The objects that are played.
    Mutant(InMemoryKubelet.play, "if self._is_endless else", "if False else"),
    Mutant(InMemoryKubelet.play, "manner.conditions.has_learnt", "False"),
    Mutant(InMemoryKubelet.pattern, "if value is None:", "if False:"),
    Mutant(InMemoryKubelet._plays, "annotations.get(LIFE) == KUBELET", "False"),
    Mutant(InMemoryKubelet._plays, 'if self._kind != "Node":', "if False:"),
    Mutant(InMemoryKubelet._plays, "not selection.disregards(annotations, labels)", "True"),
    Mutant(InMemoryKubelet._plays, 'metadata["name"] != selection.node_name', "True"),
    Mutant(InMemoryKubelet._plays, "return is_watched and", "return"),
    Mutant(InMemoryKubelet._plays, "selection.manages(annotations, labels)", "True"),
    Mutant(InMemoryKubelet._plays, "not is_silent(annotations)", "True"),
    Mutant(kubelet._unseen, "if name != _VERSION", "if True"),
    # One object by itself.
    Mutant(OneObject.composed, 'if self.kind != "Node":', "if True:"),
    Mutant(OneObject.owned, 'if not before["metadata"].get("managedFields"):', "if False:"),
    Mutant(OneObject.owned, "if subresource == STATUS:", "if False:"),
    # All objects together.
    Mutant(AllObjects.composed, 'if self.kind != "Node":', "if True:"),
    Mutant(AllObjects.composed, '"conditions" not in status:', "False:"),
    Mutant(AllObjects.composed, 'if "conditions" not in composed:', "if False:"),
    Mutant(AllObjects.surely_differ, "refuse() if before is not after else False", "False"),
    Mutant(AllObjects.chosen, "len(found.matches) == 1", "True"),
    Mutant(AllObjects._dated, "not isinstance(conditions, list)", "False"),
    Mutant(AllObjects._dated, "refuse() if holds_symbol(dated) else dated", "dated"),
    Mutant(AllObjects._dated_one, "if self._is_now(value) else", "if False else"),
    Mutant(AllObjects._dated_one, "if not isinstance(condition, dict):", "if False:"),
    Mutant(AllObjects._is_now, "is self._now", "is not None"),
    Mutant(AllObjects._undated, "value == _NOW else", "False else"),
    Mutant(play_manners._guarded, "None if is_at_once(stage) else _LATER", "None"),
)
"""One for most conditions and comparisons: the others are found by the simplest tests."""
