"""Finds mistakes in Stage documents, each with its place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kwokctl.clusters.stage_tools.contradictions import contradictions, shadowing
from kwokctl.clusters.stage_tools.field_paths import wrong_fields
from kwokctl.clusters.stage_tools.unknown_fields import unknown_fields, without
from kwokctl.config.documents import Document, files_of, load_documents
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.reader import StageFieldError, read_stages
from kwokctl.errors import NotFoundError
from kwokctl.expr.yaml_lines import lines_of_fields
from kwokctl.json_value import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that the author of a Stage should look at."""

    file: str
    line: int
    stage: str
    field: str
    problem: str


@dataclass(frozen=True, slots=True)
class _Text:
    """A Stage document, and the line of each of its fields."""

    file: str
    lines: Mapping[str, int]
    document: Document

    def finding(self, field: str, problem: str) -> Finding:
        """Make a finding about a field; a missing field has the line of its parent."""
        path = field
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        line = self.lines.get(path) or min(self.lines.values(), default=1)
        name = self.document.name
        return Finding(file=self.file, line=line, stage=name, field=field, problem=problem)


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
    return sorted(found, key=lambda each: (_order_of(each, texts), each.line))


def _files(path: str) -> list[str]:
    return [str(file) for file in files_of(Path(path))] if Path(path).is_dir() else [path]


def _texts(file: str) -> Iterator[_Text]:
    documents = [each for each in load_documents([file]) if each.kind == "Stage"]
    if not documents:
        return
    lines = lines_of_fields(Path(file).read_text(encoding="utf-8-sig"))
    for document in documents:
        number = int(document.source.rpartition(" ")[2])
        yield _Text(file, lines[number - 1], document)


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
        yield text.finding("spec.selector", "is missing: the Stage is for no object")
    else:
        for index, why in contradictions(stage.selector):
            yield text.finding(f"spec.selector.matchExpressions[{index}]", why)
        for index, why in wrong_fields(stage):
            yield text.finding(f"spec.selector.matchExpressions[{index}]", why)
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
            "metadata.name", f"is that of a later Stage, too ({last.file}), which replaces this one"
        )
    if rival := shadowing(stage, [other for _, other in read]):
        yield text.finding(
            "spec.weight",
            f"is 0, so that '{rival}', which is for the same objects, is always chosen",
        )


def _last(name: str, read: Sequence[tuple[_Text, Stage]]) -> Stage:
    return [stage for _, stage in read if stage.name == name][-1]


def _order_of(finding: Finding, texts: Sequence[_Text]) -> int:
    """Return the place of a finding's file among those that were given."""
    return next(i for i, text in enumerate(texts) if text.file == finding.file)
