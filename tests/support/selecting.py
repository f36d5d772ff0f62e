"""What tests of the targets of faults have in common: which units a target selects."""

from collections.abc import Sequence
from typing import Any

from kwokctl.faults.targets.candidates import CandidateNode
from kwokctl.faults.targets.target_selection import Selected, select
from tests.support.fault_targets import spec
from tests.support.faults import CATALOGUE


def selected(class_name: str, candidates: Sequence[CandidateNode], **of_spec: Any) -> Selected:
    return select(CATALOGUE.find(class_name), spec(class_name, **of_spec), candidates)


def names(found: Selected) -> list[str]:
    assert found.problem == ""
    return [unit.name for unit in found.units]
