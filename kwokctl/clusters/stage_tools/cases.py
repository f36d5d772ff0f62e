"""Compares the results of Stages with files: `NAME.input.yaml`, `NAME.output.yaml`."""

from collections.abc import Collection, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

import msgspec

from kwokctl.clusters.stage_tools.explain import as_tested, explain
from kwokctl.clusters.stage_tools.functions import TEST_TIME, stub_functions
from kwokctl.clusters.stage_tools.sources import object_in, stages_for
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType

_STRATEGIC = frozenset({"Node", "Pod"})
_INPUT, _OUTPUT = ".input.yaml", ".output.yaml"


class CaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a test."""

    name: str
    state: str
    """passed, failed, missing (there is no output file), or written."""
    difference: str = ""


def run_cases(
    folder: Path, documents: Sequence[Document], *, is_writing: bool = False
) -> list[CaseResult]:
    """Run every test below a folder; `is_writing` writes the results to the output files.

    The Stages are `documents`, or without any those beside the test, or in the folder above it.
    Raises NotFoundError if there is no test.
    """
    inputs = sorted(folder.rglob(f"*{_INPUT}"))
    if not inputs:
        raise NotFoundError(f"there is no test in '{folder}'", hint=f"write NAME{_INPUT}")
    return [
        _result(folder, file, list(documents) or _beside(file), is_writing=is_writing)
        for file in inputs
    ]


def _beside(file: Path) -> list[Document]:
    for folder in (file.parent, file.parent.parent):
        files = [str(each) for each in _stage_files(folder)]
        found = [each for each in load_documents(files) if each.kind == "Stage"] if files else []
        if found:
            return found
    raise NotFoundError(f"there are no Stages beside '{file}'", hint="name them with --stage")


def _stage_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.yaml")):
        if not file.name.endswith((_INPUT, _OUTPUT)) and "kind: Stage" in file.read_text("utf-8"):
            yield file


def _result(folder: Path, file: Path, documents: list[Document], *, is_writing: bool) -> CaseResult:
    value = object_in(file)
    verdicts = explain(stages_for(documents, value), value, stub_functions(), TEST_TIME)
    found = as_tested(value, verdicts)
    name = str(file.relative_to(folder)).removesuffix(_INPUT)
    output = file.with_name(file.name.removesuffix(_INPUT) + _OUTPUT)
    if is_writing:
        output.write_text(yaml.dump(found), encoding="utf-8")
        return CaseResult(name=name, state="written")
    if not output.exists():
        return CaseResult(name=name, state="missing")
    stages = found["stages"] if found["kind"] in _STRATEGIC else ()
    untyped = _untyped(documents) & {each["stage"] for each in stages}
    expected = _as_here(_read(output), untyped)
    if expected == found:
        return CaseResult(name=name, state="passed")
    return CaseResult(name=name, state="failed", difference=_difference(expected, found))


def _read(output: Path) -> Json:
    try:
        return yaml.load(output.read_text(encoding="utf-8"))
    except ConfigError as e:
        raise ConfigError(f"'{output}' is not valid YAML: {e}", hint=e.hint) from e


def _untyped(documents: Sequence[Document]) -> set[str]:
    """Return the names of Stages with patches, none of which names its type."""
    steps = {each.name: (each.body.get("spec") or {}).get("steps") or () for each in documents}
    return {
        name
        for name, found in steps.items()
        if not any((step.get("patch") or {}).get("type") for step in found)
    }


def _as_here(expected: Json, untyped: Collection[str]) -> Json:
    """Write what tests of the original have in another way.

    They have a fixed delay once, not as minimum and maximum. A patch of a node or a pod that names no type is
    a merge in them, although the original's controller sends a strategic one.
    """
    for entry in (expected or {}).get("stages") or []:
        delay = entry.setdefault("delay", [0])
        if len(delay) == 1:
            entry["delay"] = delay * 2
        for step in (entry.get("next") or ()) if entry.get("stage") in untyped else ():
            if step.get("type") == PatchType.MERGE.value:
                step["type"] = PatchType.STRATEGIC.value
    return expected


def _difference(expected: Json, found: Json) -> str:
    wanted, has = (yaml.dump(each, sort_keys=True).splitlines() for each in (expected, found))
    return "\n".join(unified_diff(wanted, has, "expected", "found", lineterm="", n=2))
