"""The Stages in force: those of the configuration files, and custom resources in place of some."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kwokctl.config.documents import Document
from kwokctl.config.kinds import API_VERSIONS
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.reader import StageFieldError, read_stages
from kwokctl.errors import KwokctlError
from kwokctl.json_value import Json

KIND = "Stage"
_SOURCE = "the cluster"
"""Where a custom resource has been read, for messages."""


@dataclass(frozen=True, slots=True)
class StageInForce:
    """A Stage, and the document from which it was read."""

    body: Mapping[str, Json]
    stage: Stage


class Remark(NamedTuple):
    """A line for the log."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class RefusedStage:
    """A custom resource that is no Stage, and why."""

    body: Mapping[str, Json]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageChange:
    """All Stages in force, and what is wrong with others."""

    in_force: Mapping[str, StageInForce]
    refused: Mapping[str, str]
    """What is wrong with custom resources that are left out, by their names."""
    remarks: Sequence[Remark] = ()
    """What has changed since the last time."""


@dataclass(slots=True)
class StageLibrary:
    """Reads Stages that are custom resources; one whose content has not changed stays the same value.

    A custom resource takes the place of the file's Stage of its name, until it is gone. One that
    cannot be read is left out, as if it were not there.
    """

    files: Mapping[str, StageInForce]
    """The Stages of the configuration files, by name."""
    _read: dict[str, StageInForce | RefusedStage] = field(default_factory=dict)

    def update(self, custom: Mapping[str, Mapping[str, Json]]) -> StageChange:
        """Return what is in force with these custom resources."""
        found = {name: self._reading(name, _content(name, body)) for name, body in custom.items()}
        remarks = list(self._remarks(found))
        self._read = found
        stages = {name: each for name, each in found.items() if isinstance(each, StageInForce)}
        return StageChange(
            in_force={**self.files, **stages},
            refused={
                name: each.problem for name, each in found.items() if isinstance(each, RefusedStage)
            },
            remarks=remarks,
        )

    def _reading(self, name: str, body: Mapping[str, Json]) -> StageInForce | RefusedStage:
        for known in (self._read.get(name), self.files.get(name)):
            if known is not None and _content(name, known.body) == body:
                return known
        try:
            return StageInForce(body, *read_stages([_document(name, body)]))
        except StageFieldError as e:
            return RefusedStage(body, f"'{e.field}' {e.problem}")
        except KwokctlError as e:
            return RefusedStage(body, str(e))

    def _remarks(self, found: Mapping[str, StageInForce | RefusedStage]) -> Iterator[Remark]:
        for name in sorted({*self._read, *found}):
            before, now = self._read.get(name), found.get(name)
            if now is not before:
                yield _remark(name, before, now, is_in_file=name in self.files)


def _remark(
    name: str,
    before: StageInForce | RefusedStage | None,
    now: StageInForce | RefusedStage | None,
    *,
    is_in_file: bool,
) -> Remark:
    subject = f"stage '{name}' of the cluster"
    if isinstance(now, RefusedStage):
        rest = "; the file's is played" if is_in_file else ""
        return Remark(logging.ERROR, f"{subject} is left out: {now.problem}{rest}")
    if now is None:
        rest = ": the file's is played again" if is_in_file else ""
        return Remark(logging.INFO, f"{subject} is gone{rest}")
    if isinstance(before, StageInForce):
        return Remark(logging.INFO, f"{subject} has changed")
    rest = " in place of the file's" if is_in_file else ""
    return Remark(logging.INFO, f"{subject} is played{rest}")


def stages_of_files(
    stages: Sequence[Stage], bodies: Sequence[Mapping[str, Json]]
) -> Mapping[str, StageInForce]:
    """Return the Stages of configuration files by name; of one name the last document counts."""
    named = {body["metadata"]["name"]: body for body in bodies}
    return {stage.name: StageInForce(named[stage.name], stage) for stage in stages}


def _content(name: str, body: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what makes a Stage this one; the rest is what the cluster notes about the object."""
    return {
        "apiVersion": API_VERSIONS[KIND],
        "kind": KIND,
        "metadata": {"name": name},
        "spec": body.get("spec"),
    }


def _document(name: str, body: Mapping[str, Json]) -> Document:
    return Document(
        kind=KIND, api_version=API_VERSIONS[KIND], name=name, body=dict(body), source=_SOURCE
    )
