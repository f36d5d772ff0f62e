"""The rights that Stages need."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kwokctl.clusters.launching.custom_resources import shipped_definition
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import KWOK
from kwokctl.controller.stages.compiled_stage import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizersStep,
    Kind,
    PatchStep,
    Stage,
    Step,
)
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.errors import ConfigError
from kwokctl.json_value import Json

_IRREGULAR = {"Endpoints": "endpoints"}
"""Of all kinds that Kubernetes serves by itself only this one does not follow the rule."""


def plural(api_version: str, kind: str) -> str:
    """Return the plural of a kind: of a shipped definition, else as Kubernetes' clients guess it.

    The rule is that of UnsafeGuessKindToResource
    (https://pkg.go.dev/k8s.io/apimachinery/pkg/api/meta#UnsafeGuessKindToResource).
    """
    if api_version == KWOK:
        for definition in shipped_definition(kind):
            return str(definition["spec"]["names"]["plural"])
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def group(api_version: str) -> str:
    """Return the group of an apiVersion, empty for the core group."""
    return api_version.partition("/")[0] if "/" in api_version else ""


_API_VERSION = re.compile(r"^apiVersion: *([A-Za-z0-9./-]+) *$", re.MULTILINE)
_KIND = re.compile(r"^kind: *([A-Za-z0-9]+) *$", re.MULTILINE)
READ = ("get", "list", "watch")
EVENTS = "events"
USERS = "users"


class ApiRight(msgspec.Struct, frozen=True, order=True):
    """One thing that may be done to the objects of one resource."""

    group: str
    resource: str
    """With a subresource, if it is about that: `pods/status`."""
    verb: str
    name: str = ""
    """Of the only object; empty for all."""


def stage_rights(bodies: Sequence[Mapping[str, Json]]) -> set[ApiRight]:
    """Return the rights that these Stages need; ConfigError for one that cannot be read."""
    documents = [_document(body) for body in bodies]
    return {
        right
        for stage, document in zip(read_stages(documents), documents, strict=True)
        for right in _rights(stage, document)
    }


def _rights(stage: Stage, document: Document) -> Iterator[ApiRight]:
    resource = plural(stage.kind.api_version, stage.kind.name)
    within = group(stage.kind.api_version)
    for verb in READ:
        yield ApiRight(within, resource, verb)
    for step in stage.steps:
        yield from _of_step(step, within, resource, document)


def _of_step(step: Step, within: str, resource: str, document: Document) -> Iterator[ApiRight]:
    match step:
        case EventStep():
            yield ApiRight("", EVENTS, "create")
        case FinalizersStep():
            yield ApiRight(within, resource, "patch")
        case DeleteStep():
            yield ApiRight(within, resource, "delete")
        case PatchStep(as_user=user) | ApplyStep(as_user=user) if user:
            # What the user may do is for those to say who have made the user.
            yield ApiRight("", USERS, "impersonate", user)
        case PatchStep():
            yield ApiRight(within, _below(resource, step.subresource), "patch")
        case ApplyStep():
            yield from _of_apply(step, document)


def _of_apply(step: ApplyStep, document: Document) -> Iterator[ApiRight]:
    kind = _applied(document, step.field)
    within, resource = group(kind.api_version), plural(kind.api_version, kind.name)
    if not step.subresource:
        yield ApiRight(within, resource, "create")
    yield ApiRight(within, _below(resource, step.subresource), "patch")


def _below(resource: str, subresource: str) -> str:
    return f"{resource}/{subresource}" if subresource else resource


def _applied(document: Document, field: str) -> Kind:
    """Return what a template applies; ConfigError if only rendering would say it."""
    template = _at(document.body, field)
    version, kind = _API_VERSION.search(template), _KIND.search(template)
    if not (version and kind):
        raise document.fault(
            field,
            "does not say which kind it applies before it is rendered, so no right can be derived",
            hint="write 'apiVersion' and 'kind' at the beginning of lines, without templates in them",
        )
    return Kind(version[1], kind[1])


def _at(body: Json, field: str) -> str:
    """Return the text at a place such as `spec.steps[0].apply.template`."""
    found = body
    for word in re.findall(r"[^.\[\]]+", field):
        found = found[int(word)] if word.isdecimal() else found[word]
    return str(found)


def _document(body: Mapping[str, Json]) -> Document:
    name = str((body.get("metadata") or {}).get("name") or "")
    if not name:
        raise ConfigError("a Stage has no name", hint="write metadata.name")
    return Document(kind="Stage", api_version="", name=name, body=dict(body), source=name)
