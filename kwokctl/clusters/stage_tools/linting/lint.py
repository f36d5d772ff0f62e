"""Finds mistakes in Stage documents, each with its place."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kwokctl.clusters.stage_tools.linting.circles import circles
from kwokctl.clusters.stage_tools.linting.contradictions import (
    Places,
    contradictions,
    never_holding,
    place_of,
    shadowing,
)
from kwokctl.clusters.stage_tools.linting.trial import (
    costly_expressions,
    failing_templates,
    misplaced_statuses,
    unreadable_delays,
)
from kwokctl.clusters.stage_tools.linting.unknown_fields import (
    unknown_fields,
    without,
    wrong_fields,
)
from kwokctl.clusters.stage_tools.linting.unreachable import unreachable
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.document_folders import files_of
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.stage_reader import StageFieldError, read_stages
from kwokctl.errors import NotFoundError
from kwokctl.json_value import Json
from kwokctl.replacing import replace

ERROR, WARNING = "error", "warning"
_NUMBER = re.compile(r"\b[0-9]+\b")
"""Of a document in its file, and of an item in its list."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that the author of a Stage should look at."""

    file: str
    line: int
    stage: str
    field: str
    problem: str
    severity: str = ERROR
    """A warning is about what works, but hardly as it was meant."""


class _Text(msgspec.Struct, frozen=True):
    """A Stage document, and the line of each of its fields."""

    file: str
    lines: Mapping[str, int]
    document: Document

    def finding(self, field: str, problem: str, severity: str = ERROR) -> Finding:
        """Make a finding about a field; a missing field has the line of its parent."""
        path = field
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        line = self.lines.get(path) or min(self.lines.values(), default=1)
        name = self.document.name
        return Finding(
            file=self.file, line=line, stage=name, field=field, problem=problem, severity=severity
        )

    def places(self) -> Places:
        """Return where the conditions of the selector are."""
        jq, cel = list[int](), list[int]()
        expressions = self.document.body["spec"]["selector"].get("matchExpressions") or ()
        for index, item in enumerate(expressions):
            (cel if item.get("cel") and not item.get("jq") else jq).append(index)
        return Places(jq, cel)


def lint(paths: Sequence[str]) -> list[Finding]:
    """Return what is wrong with the Stages in files and folders, which are taken as one set.

    Raises ConfigError for a file that cannot be read at all, NotFoundError if there is no Stage.
    """
    texts = [text for path in paths for file in _files(path) for text in _texts(file)]
    if not texts:
        raise NotFoundError(f"there is no Stage in {', '.join(paths)}")
    found: list[Finding] = []
    read: list[tuple[_Text, Stage]] = []
    for text in texts:
        found += _unknown(text)
        try:
            read.append((text, _read(text)))
        except StageFieldError as e:
            found.append(text.finding(e.field, e.problem))
    for text, stage in read:
        found += _of_stage(text, stage)
        found += _of_set(text, stage, read)
    played = [stage for _, stage in read if stage is _last(stage.name, read)]
    found += _circles(read, played)
    found += _unreachable(read, played)
    return sorted(found, key=lambda each: (_order_of(each, texts), each.line))


def _files(path: str) -> list[str]:
    return [str(file) for file in files_of(Path(path))] if Path(path).is_dir() else [path]


def _texts(file: str) -> Iterator[_Text]:
    documents = [each for each in load_documents([file]) if each.kind == "Stage"]
    if not documents:
        return
    lines = lines_of_fields(Path(file).read_text(encoding="utf-8-sig"))
    for document in documents:
        number, *items = map(int, _NUMBER.findall(document.source.removeprefix(file)))
        within = "".join(f"items[{item - 1}]." for item in items)
        found = lines[number - 1].items()
        own = {
            field.removeprefix(within): line for field, line in found if field.startswith(within)
        }
        yield _Text(file, own, document)


def _unknown(text: _Text) -> Iterator[Finding]:
    for field, hint in unknown_fields(text.document.body):
        yield text.finding(field, f"is not a field of a Stage; {hint}")


def _read(text: _Text) -> Stage:
    """Read a Stage without its unknown fields, which have been reported already."""
    document = text.document
    unknown = {field for field, _ in unknown_fields(document.body)}
    body: dict[str, Json] = without(document.body, unknown)
    [stage] = read_stages([replace(document, body=body)])
    return stage


def _of_stage(text: _Text, stage: Stage) -> Iterator[Finding]:
    if stage.selector is None:
        yield text.finding("spec.selector", "is missing: the Stage matches no object")
    else:
        places = text.places()
        for place, why in (
            *contradictions(stage.selector, places),
            *never_holding(stage.selector, places),
            *((place_of(places.jq[index]), why) for index, why in wrong_fields(stage)),
        ):
            yield text.finding(place, why)
    places = text.places() if stage.selector is not None else Places((), ())
    failing = (*costly_expressions(stage, places), *failing_templates(stage))
    for field, why in failing:
        yield text.finding(field, f"fails on an example: {why}", WARNING)
    for field, why in (*misplaced_statuses(stage), *unreadable_delays(stage)):
        yield text.finding(field, why, WARNING)
    delay = stage.delay
    if delay is not None and not delay.bound_from and (delay.bound or delay.base) < delay.base:
        yield text.finding(
            "spec.delay.jitterDurationMilliseconds",
            "is below durationMilliseconds: it bounds the delay, which is never longer",
        )
    if stage.weight < 0:
        yield text.finding("spec.weight", "is below 0, which counts as 0")


def _of_set(text: _Text, stage: Stage, read: Sequence[tuple[_Text, Stage]]) -> Iterator[Finding]:
    names = [other.name for _, other in read]
    if names.count(stage.name) > 1 and stage is not _last(stage.name, read):
        last = next(t for t, other in read if other is _last(stage.name, read))
        yield text.finding(
            "metadata.name",
            f"is also the name of a later Stage ({last.file}), which replaces this one",
        )
    if rival := shadowing(stage, [other for _, other in read]):
        yield text.finding(
            "spec.weight",
            f"is 0, so that '{rival}', which matches the same objects, is always chosen",
        )


def _unreachable(read: Sequence[tuple[_Text, Stage]], played: Sequence[Stage]) -> Iterator[Finding]:
    for stage in unreachable(played):
        text = next(text for text, other in read if other is stage)
        why = "matches a status that neither these Stages, nor shipped Stages, nor Kubernetes set"
        yield text.finding("spec.selector", f"{why}: no object reaches that state", WARNING)


def _circles(read: Sequence[tuple[_Text, Stage]], played: Sequence[Stage]) -> Iterator[Finding]:
    """Report Stages that follow each other without delay and end, at the first of them."""
    for circle in circles(played):
        text = next(text for text, stage in read if stage in circle)
        names = [stage.name for stage in circle]
        if len(names) == 1:
            why = (
                "matches the result of the Stage itself, which is therefore played again and again"
            )
        else:
            why = f"completes a cycle without delay, which is played endlessly: {', '.join(names)}"
        yield text.finding(
            "spec.selector", f"{why}; a delay or another condition ends that", WARNING
        )


def _last(name: str, read: Sequence[tuple[_Text, Stage]]) -> Stage:
    return [stage for _, stage in read if stage.name == name][-1]


def _order_of(finding: Finding, texts: Sequence[_Text]) -> int:
    """Return the place of a finding's file among those that were given."""
    return next(i for i, text in enumerate(texts) if text.file == finding.file)


def lines_of_fields(text: str) -> list[Mapping[str, int]]:
    """Return for each document the line of each field, by its path, such as `spec.steps[0].patch`.

    The text must have been read without an error.
    """
    import yaml  # not needed by commands that show no lines

    roots: Iterator[Any] = yaml.compose_all(text)
    return [dict(_lines("", root)) if root else {} for root in roots]


def _lines(path: str, node: Any) -> Iterator[tuple[str, int]]:
    if node.id == "mapping":
        for key, value in node.value:
            inner = f"{path}.{key.value}" if path else str(key.value)
            yield inner, key.start_mark.line + 1
            yield from _lines(inner, value)
    elif node.id == "sequence":
        for index, item in enumerate(node.value):
            inner = f"{path}[{index}]"
            yield inner, item.start_mark.line + 1
            yield from _lines(inner, item)
