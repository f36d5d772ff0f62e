"""What decides which Stages are for an object: by the tree of questions, and by each Stage's own conditions."""

from kwokctl.controller.stages import matcher, selectors
from kwokctl.controller.stages.matcher import FieldQuestion, Matcher, _Node
from kwokctl.controller.stages.selectors import Requirement, Selector
from tests.support.mutants.mutant import Mutant

_SINGLE_TEXT = "len(found) == 1 and type(text := found[0]) is str"

MUTANTS = (
    # The answer to a question about a field.
    Mutant(
        FieldQuestion.answer,
        "if not found:",
        "if found is None:",
        equivalent="what holds for nothing is computed again, with the same result",
    ),
    Mutant(FieldQuestion.answer, _SINGLE_TEXT, "type(text := found[0]) is str"),
    Mutant(FieldQuestion.answer, _SINGLE_TEXT, "len(found) == 1 and (text := str(found[0]))"),
    Mutant(
        FieldQuestion.answer,
        "self._of_text.get(text, self._other)",
        "self._of_text.get(text, self._absent)",
    ),
    Mutant(FieldQuestion._bits, "<< number", "<< 0"),
    # What is asked.
    Mutant(matcher.wanted_by, "if selector.labels or selector.annotations:", "if selector.labels:"),
    Mutant(
        matcher.wanted_by, "if selector.labels or selector.annotations:", "if selector.annotations:"
    ),
    Mutant(matcher.wanted_by, "wanted.insert(0, ", "wanted.insert(9, "),
    Mutant(matcher._by_requirement, "1 << number", "1"),
    Mutant(
        matcher._candidates,
        "next(wanted)) for stage in stages if stage.selector is not None",
        "next(wanted, ())) for stage in stages",
    ),
    Mutant(matcher._most_asked, "asked[question]", "-asked[question]"),
    Mutant(matcher._most_asked, "if each.wanted)", "if len(each.wanted) > 1)"),
    # Where an answer leads.
    Mutant(_Node._left, "if each.question is self.question", "if True"),
    Mutant(_Node._left, "if not all(", "if not any("),
    Mutant(_Node._left, "if w not in asked", "if False"),
    # The size of the tree.
    Mutant(Matcher.matches, "if found is None:", "if True:"),
    Mutant(Matcher.matches, "if self._room <= 0:", "if self._room < 0:"),
    Mutant(Matcher._grown, "self._room -= 1", "pass"),
    Mutant(matcher._one_by_one, "if s.matches(value, known)", "if True"),
    # A Stage by itself.
    Mutant(Requirement.holds, 'if operator == "Exists":', "if False:"),
    Mutant(Requirement.holds, 'if operator == "DoesNotExist":', "if False:"),
    Mutant(Requirement.holds, '(operator == "In")', "True"),
    Mutant(Requirement._has_one_of, "item if type(item) is str else _text(item)", "_text(item)"),
    Mutant(Selector.matches, "if self.labels or self.annotations:", "if self.labels:"),
    Mutant(Selector.matches, "if self.labels or self.annotations:", "if self.annotations:"),
    Mutant(Selector.matches, "labels.get(key) != wanted", "False"),
    Mutant(Selector.matches, "annotations.get(key) != wanted", "False"),
    Mutant(Selector.matches, "if found is None:", "if True:"),
    Mutant(Selector.matches, "if not condition.holds(found):", "if False:"),
    Mutant(Selector.matches, "not self.expressions or all(", "True or all("),
    Mutant(selectors._text, "if isinstance(item, bool):", "if False:"),
    Mutant(selectors._text, "if isinstance(item, int) else None", "if item is not None else None"),
)
"""One for most conditions and comparisons: without the others nothing would be found at all."""
