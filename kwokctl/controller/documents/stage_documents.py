"""The Stages in force: those of the configuration files, and custom resources in place of some."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.controller.documents.replaced import FORGET
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.rivals import is_shipped, rival_of
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.embedded.documents.custom_documents import AcceptedDocument, CustomDocuments, Remark
from kwokctl.embedded.documents.verdicts import Bodies
from kwokctl.json_value import Json

KIND = "Stage"
StageInForce: TypeAlias = AcceptedDocument[Stage]


class StageChange(msgspec.Struct, frozen=True, kw_only=True):
    """All Stages in force, and what is wrong with others."""

    in_force: Mapping[str, StageInForce]
    refused: Mapping[str, str]
    """The faults of custom resources that are left out, by their names."""
    replaced: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The Stages of files that custom resources of the same name have come in place of now."""
    remarks: Sequence[Remark] = ()
    """The changes since the last time."""


class StageLibrary:
    """Reads Stages that are custom resources.

    A custom resource comes in place of the file's Stage of its name, and of the shipped ones that are
    for the same objects, as a Stage of the user's in a file does. When it is gone, the Stage of its name
    stays left out, as long as the cluster remembers that: who deletes a Stage wants it no more.
    """

    def __init__(self, files: Mapping[str, StageInForce]) -> None:
        """Begin with the Stages of the configuration files, by name."""
        self._files = files
        self._custom = CustomDocuments(
            KIND, _read, files, title="stage", counts="is played", returns=False
        )
        self._accepted: Mapping[str, StageInForce] = {}
        self._replaced: Mapping[str, str] = {}
        self._left_out: Mapping[str, str] = {}

    def update(self, custom: Bodies, remembered: Mapping[str, str] | None = None) -> StageChange:
        """Return what is in force with these custom resources; `remembered` are replaced before."""
        found = self._custom.update(custom)
        come = {key for key, each in found.accepted.items() if self._accepted.get(key) is not each}
        is_same = not come and len(found.accepted) == len(self._accepted)
        replaced = self._replaced if is_same else self._successors(found.accepted)
        every = {**(remembered or {}), **replaced}
        left_out = {name: by for name, by in every.items() if name in self._files}
        remarks = (*found.remarks, *self._remarks(found.accepted, replaced, left_out))
        self._accepted, self._replaced, self._left_out = found.accepted, replaced, left_out
        kept = {
            name: each
            for name, each in self._files.items()
            if name not in left_out or name in found.accepted
        }
        return StageChange(
            in_force={**kept, **found.accepted},
            refused=found.refused,
            replaced={name: by for name, by in replaced.items() if by == name and by in come},
            remarks=remarks,
        )

    def _successors(self, accepted: Mapping[str, StageInForce]) -> dict[str, str]:
        """Return the Stages of files that these custom resources come in place of."""
        found = {name: name for name in self._files if name in accepted}
        others = [each.value for each in accepted.values()]
        shipped = (each.value for each in self._files.values() if others and is_shipped(each.body))
        rivals = {
            stage.name: rival_of(stage, others) for stage in shipped if stage.name not in found
        }
        return {**found, **{name: rival for name, rival in rivals.items() if rival}}

    def _remarks(
        self,
        accepted: Mapping[str, StageInForce],
        replaced: Mapping[str, str],
        left_out: Mapping[str, str],
    ) -> Iterator[Remark]:
        """Say which Stages of files are left out, stay left out, or come back."""
        for name, by in left_out.items():
            before = self._left_out.get(name)
            if before is None and name not in accepted:
                text = f"the file's stage '{name}' is left out: stage '{by}' of the cluster has replaced it"
                yield Remark(logging.INFO, text)
            elif before and name in self._replaced and name not in replaced:
                text = f"the file's stage '{name}' stays left out; to play it again: {FORGET}"
                yield Remark(logging.WARNING, text)
        for name in self._left_out:
            if name not in left_out:
                yield Remark(logging.INFO, f"the file's stage '{name}' is played again")


def _read(document: Document) -> Stage:
    [stage] = read_stages([document])
    return stage


def stages_of_files(
    stages: Sequence[Stage], bodies: Sequence[Mapping[str, Json]]
) -> Mapping[str, StageInForce]:
    """Return the Stages of configuration files by name; of one name the last document counts."""
    named = {body["metadata"]["name"]: body for body in bodies}
    return {stage.name: AcceptedDocument(named[stage.name], stage) for stage in stages}
