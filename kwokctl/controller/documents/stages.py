"""The Stages in force: those of the configuration files, and custom resources in place of some."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from kwokctl.config.documents import Document
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.reader import read_stages
from kwokctl.embedded.documents.reading import AcceptedDocument, CustomDocuments, Remark
from kwokctl.embedded.documents.verdicts import Bodies
from kwokctl.json_value import Json

KIND = "Stage"
StageInForce: TypeAlias = AcceptedDocument[Stage]


class StageChange(msgspec.Struct, frozen=True, kw_only=True):
    """All Stages in force, and what is wrong with others."""

    in_force: Mapping[str, StageInForce]
    refused: Mapping[str, str]
    """What is wrong with custom resources that are left out, by their names."""
    remarks: Sequence[Remark] = ()
    """What has changed since the last time."""


class StageLibrary:
    """Reads Stages that are custom resources.

    A custom resource takes the place of the file's Stage of its name, until it is gone.
    """

    def __init__(self, files: Mapping[str, StageInForce]) -> None:
        """Begin with the Stages of the configuration files, by name."""
        self._files = files
        self._custom = CustomDocuments(KIND, _read, files, title="stage", counts="is played")

    def update(self, custom: Bodies) -> StageChange:
        """Return what is in force with these custom resources."""
        found = self._custom.update(custom)
        return StageChange(
            in_force={**self._files, **found.accepted},
            refused=found.refused,
            remarks=found.remarks,
        )


def _read(document: Document) -> Stage:
    [stage] = read_stages([document])
    return stage


def stages_of_files(
    stages: Sequence[Stage], bodies: Sequence[Mapping[str, Json]]
) -> Mapping[str, StageInForce]:
    """Return the Stages of configuration files by name; of one name the last document counts."""
    named = {body["metadata"]["name"]: body for body in bodies}
    return {stage.name: AcceptedDocument(named[stage.name], stage) for stage in stages}
