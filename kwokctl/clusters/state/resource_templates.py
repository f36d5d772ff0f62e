"""Resource templates: the shapes of the objects that `scale` creates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from kwokctl import assets
from kwokctl.clusters.state.companion_templates import (
    COMPANIONS,
    CompanionTemplate,
    companion_templates,
)
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import FOR_SCALE
from kwokctl.clusters.state.saved import load
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import KwokctlError, UsageError
from kwokctl.model import ClusterName
from kwokctl.replacing import replace

_NODE = "node"
_DIALECTS = "dialects"
"""The parameter of the built-in node and of all shapes."""
_KIND = re.compile(r"[a-zA-Z][a-zA-Z0-9.-]*")
_FORMS: Mapping[type, str] = {dict: "a mapping", list: "a list"}
_TAINTS, _EFFECTS = "taints", ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DIGEST = 16
"""The digits that are enough to tell a template from its successor."""
_AS_KUBECTL: Mapping[str, str] = {"nodes": "node", "no": "node", "pods": "pod", "po": "pod"}
"""kubectl's names for the kinds of the built-in templates."""


class ResourceTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A Go template of an object, and the parameters that it is rendered with."""

    name: str
    parameters: Any
    template: str
    source: str
    """Its file, for messages."""
    companions: tuple[CompanionTemplate, ...] = ()
    """The templates of further objects, which get the same parameters."""

    @property
    def digest(self) -> str:
        """A short hash of the text and parameters of a user's own template; empty for a built-in one."""
        if self.source.startswith(str(assets.root())):
            return ""
        content = msgspec.json.encode((self.template, self.parameters), order="sorted")
        return sha256(content).hexdigest()[:_DIGEST]

    @property
    def is_usual(self) -> bool:
        """Whether it is the built-in template of nodes or of pods."""
        return not self.digest and self.name in _files("objects")

    @property
    def declared(self) -> list[str]:
        """The names of the parameters that it gives a value."""
        return list(self.parameters) if isinstance(self.parameters, dict) else []

    def unused(self, parameters: Any) -> list[str]:
        """Return those of the `parameters` that it neither declares nor mentions in its text.

        Only those at the top: what lies below them may be used as a whole, as labels are.
        """
        names = parameters if isinstance(parameters, dict) else ()
        return [n for n in names if n not in self.declared and not self._mentions(n)]

    def misshapen(self, parameters: Any) -> tuple[str, str] | None:
        """Return a parameter of the built-in node that has another form there, and the form; None if all are well."""
        node = built_in(built_in_files()[_NODE])
        if self.template != node.template or not isinstance(parameters, dict):
            return None
        return _misshapen(parameters, node)

    def _mentions(self, name: str) -> bool:
        texts = self.template, *(companion.template for companion in self.companions)
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        return any(map(word.search, texts))


def with_dialects(template: ResourceTemplate, names: Sequence[str]) -> ResourceTemplate:
    """Return a template whose nodes say that they are healthy in dialects of faults, unless it has chosen some itself."""
    parameters = template.parameters
    if not names or not isinstance(parameters, dict) or parameters.get(_DIALECTS) != []:
        return template
    return replace(template, parameters={**parameters, _DIALECTS: [*names]})


def load_templates(documents: Sequence[Document]) -> Mapping[str, ResourceTemplate]:
    """Return the resource templates by name: the user's `documents` before the built-in ones.

    Of two with one name the first is taken. Raises ConfigError for a document that is not a
    valid resource template; documents of other kinds are ignored.
    """
    templates: dict[str, ResourceTemplate] = {}
    for document in documents:
        if document.kind == FOR_SCALE:
            template = _template(document)
            templates.setdefault(template.name, template)
    return _WithBuiltIn(templates)


class _WithBuiltIn(Mapping[str, ResourceTemplate]):
    """Some templates, and behind them the built-in ones: a file is read when its template is asked for."""

    def __init__(self, before: Mapping[str, ResourceTemplate]) -> None:
        self._before = before
        self._files = built_in_files()

    def __getitem__(self, name: str) -> ResourceTemplate:
        found = self._before.get(name)
        return found if found is not None else built_in(self._files[name])

    def __iter__(self) -> Iterator[str]:
        return iter({**self._files, **self._before})

    def __len__(self) -> int:
        return len(self._files.keys() | self._before.keys())


def built_in_files() -> Mapping[str, Path]:
    """Return the files of the built-in templates by name: of nodes and pods, and the shapes of machines."""
    return {**_files("objects"), **shape_files()}


def shape_files() -> Mapping[str, Path]:
    """Return the files of the shapes of machines by name."""
    return _files("fleets")


@cache
def _files(folder: str) -> Mapping[str, Path]:
    return {file.stem: file for file in sorted(assets.path(folder).glob("*.yaml"))}


@cache
def built_in(file: Path) -> ResourceTemplate:
    """Return the template in one of the built-in files."""
    (document,) = load_documents([str(file)])
    return _template(document)


def templates_for(
    home: Home, name: ClusterName, documents: Sequence[Document], *, elsewhere: bool
) -> Mapping[str, ResourceTemplate]:
    """Return the templates for a cluster: of `documents`, then those that were given at its creation.

    A cluster that is not of this user, or does not exist, has none.
    """
    if elsewhere:
        return load_templates(documents)
    try:
        own = load(home.paths(name), name).templates
    except KwokctlError:  # said when the cluster is needed
        own = ()
    return load_templates((*documents, *(_of_cluster(body, name) for body in own)))


def _of_cluster(body: Mapping[str, Any], name: ClusterName) -> Document:
    return Document(
        kind=FOR_SCALE,
        api_version=str(body.get("apiVersion") or ""),
        name=str((body.get("metadata") or {}).get("name") or ""),
        body=dict(body),
        source=f"the cluster '{name}'",
    )


def template_name(templates: Mapping[str, ResourceTemplate], word: str) -> str:
    """Return the name of the template that a word means: one of kubectl's for a built-in one, too."""
    return word if word in templates else _AS_KUBECTL.get(word, word)


def with_one_address(template: ResourceTemplate) -> ResourceTemplate:
    """Return a built-in template with one address for each node.

    The original's default Stage for nodes (kwok 0.7) repeats addresses, and the API server refuses two
    of one type.
    """
    declared = template.parameters
    if "nodeIPs" not in template.declared or not template.source.startswith(str(assets.root())):
        return template
    return replace(template, parameters={**declared, "nodeIPs": declared["nodeIPs"][:1]})


def find_template(templates: Mapping[str, ResourceTemplate], name: str) -> ResourceTemplate:
    """Return the template called `name`; UsageError, which names the known ones, if it is unknown."""
    if name in templates:
        return templates[name]
    named = sorted(set(templates) - shape_files().keys())
    known = f"there are: {', '.join(named)}, and the shapes of 'kwokctl get shapes'"
    near = did_you_mean(name, templates)
    other = f"; {of_cluster(name)}" if _KIND.fullmatch(name) else ""
    raise UsageError(
        f"there is no resource template called '{name}'",
        hint=f"{near} {known}" if near else f"{known}{other}",
    )


def of_cluster(kind: str) -> str:
    """Say what scales an object that is in the cluster already."""
    return f"for an object of the cluster: 'kwokctl kubectl scale {kind} --replicas N'"


def _template(document: Document) -> ResourceTemplate:
    document.check_fields(["parameters", "template", COMPANIONS])
    if not document.name:
        raise document.fault("metadata.name", "is missing")
    if "template" not in document.body:
        return _shape(document)
    template = document.body["template"]
    if not isinstance(template, str) or not template.strip():
        raise document.fault(
            "template", "must be the text of a Go template", hint="write it after 'template: |'"
        )
    parameters = document.body.get("parameters")
    return ResourceTemplate(
        name=document.name,
        parameters={} if parameters is None else parameters,
        template=template,
        source=document.source,
        companions=companion_templates(document),
    )


def _shape(document: Document) -> ResourceTemplate:
    """Return the template of a document without a text: the built-in node, with its own parameters."""
    node = built_in(built_in_files()[_NODE])
    parameters = document.body.get("parameters")
    if not isinstance(parameters, dict) or not parameters:
        raise document.fault(
            "template",
            "is missing",
            hint="write it after 'template: |', or give 'parameters' of the built-in node",
        )
    if wrong := _misshapen(parameters, node):
        raise document.fault(f"parameters.{wrong[0]}", f"must be {wrong[1]}")
    if unknown := sorted(parameters.keys() - node.parameters.keys()):
        raise document.fault(
            f"parameters.{unknown[0]}",
            "is not a parameter of the built-in node, whose template this document uses",
            hint=did_you_mean(unknown[0], node.parameters)
            or f"there are: {', '.join(node.parameters)}",
        )
    return replace(
        node,
        name=document.name,
        parameters={**node.parameters, **parameters},
        source=document.source,
        companions=(*node.companions, *companion_templates(document)),
    )


def _misshapen(parameters: Mapping[str, Any], node: ResourceTemplate) -> tuple[str, str] | None:
    """Return the first parameter that is neither what the built-in node has there nor left empty."""
    for name, value in parameters.items():
        usual = node.parameters.get(name)
        for form, words in _FORMS.items():
            if value is not None and isinstance(usual, form) and not isinstance(value, form):
                return name, words
    return _wrong_taint(parameters.get(_TAINTS) or ())


def _wrong_taint(taints: Sequence[Any]) -> tuple[str, str] | None:
    for number, taint in enumerate(taints):
        place = f"{_TAINTS}[{number}]"
        if not isinstance(taint, dict):
            return place, "a mapping"
        if not taint.get("key"):
            return f"{place}.key", "given"
        if taint.get("effect") not in _EFFECTS:
            return f"{place}.effect", f"one of {', '.join(_EFFECTS)}"
    return None
