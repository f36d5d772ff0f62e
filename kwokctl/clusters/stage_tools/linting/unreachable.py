"""Stages for a status that no Stage gives to an object."""

from collections.abc import Iterator, Sequence

from kwokctl.clusters.stage_tools.graph import examples_of, steps
from kwokctl.clusters.stage_tools.linting.witness import approaches, matches, witnesses
from kwokctl.clusters.stage_tools.sources import stage_documents_of
from kwokctl.components.catalog import usual_options
from kwokctl.controller.stages.compiled_stage import NODE, POD, Stage
from kwokctl.controller.stages.stage_reader import read_stages

_SHIPPED = (
    ("node-fast", "pod-fast"),
    ("node-boot", "pod-general", "node-chaos", "pod-chaos", "pod-run-to-completion"),
)
"""Sets that lead nodes and pods through all that Stages of a user may wait for."""


def unreachable(stages: Sequence[Stage]) -> Iterator[Stage]:
    """Yield the Stages for a phase or for states of containers that no Stage of these, or shipped, writes.

    They are for nodes and pods, whose status is that of their kubelets; other clients write the rest
    of it. What cannot be judged on examples is taken to be reached.
    """
    for stage in stages:
        if stage.kind not in (NODE, POD):
            continue
        begins = list(approaches(stage, examples_of(stage.kind)))
        if any(matches(stage, value) for value in begins):
            continue
        is_possible = any(True for _ in witnesses(stage, examples_of(stage.kind)))
        if is_possible and not _is_reached(stage, stages, begins):
            yield stage


def _is_reached(stage: Stage, stages: Sequence[Stage], begins: Sequence[object]) -> bool:
    names = {each.name for each in stages}
    for words in _SHIPPED:
        shipped = read_stages(stage_documents_of(words, usual_options()))
        played = [*stages, *(each for each in shipped if each.name not in names)]
        alike = [each for each in played if each.kind == stage.kind]
        for begin in begins:
            if any(after and matches(stage, after) for _, _, after in steps(alike, begin)):
                return True
    return False
