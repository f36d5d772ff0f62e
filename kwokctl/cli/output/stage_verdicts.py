"""Writes what Stages would do to an object, as `stage explain` shows it."""

from collections.abc import Iterator, Sequence

from kwokctl.clusters.stage_tools.explain import StageVerdict
from kwokctl.clusters.stage_tools.graph import delay_in_words
from kwokctl.expr import yaml
from kwokctl.json_value import Json


def verdicts_as_text(verdicts: Sequence[StageVerdict]) -> str:
    """Write each Stage with what it would write, or with the rule that does not match."""
    return "\n".join(line for each in verdicts for line in _lines(each)) or "no Stage matches it"


def _lines(verdict: StageVerdict) -> Iterator[str]:
    if verdict.broken_rule:
        yield f"- {verdict.stage}: {verdict.broken_rule}"
        return
    weight = "none" if verdict.weight is None else verdict.weight
    yield f"+ {verdict.stage}: weight {weight}, {delay_in_words(verdict.delay)}"
    if verdict.error:
        yield f"    fails: {verdict.error}"
        return
    for step in verdict.next:
        yield from (f"    {line}" for line in _step_lines(step))


def _step_lines(step: Json) -> list[str]:
    return yaml.dump([step]).rstrip().splitlines()
