"""Resource templates: the shapes of the objects that `scale` creates."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kwokctl import assets
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import FOR_SCALE
from kwokctl.clusters.state.saved import load
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import KwokctlError, UsageError
from kwokctl.model import ClusterName
from kwokctl.replacing import replace

_BUILT_IN = ("node", "pod")
_AS_KUBECTL: Mapping[str, str] = {"nodes": "node", "no": "node", "pods": "pod", "po": "pod"}
"""kubectl's names for the kinds of the built-in templates."""


class ResourceTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """A Go template of an object, and the parameters that it is rendered with."""

    name: str
    parameters: Any
    template: str
    source: str
    """Its file, for messages."""

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

    def _mentions(self, name: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.template))


def load_templates(documents: Sequence[Document]) -> Mapping[str, ResourceTemplate]:
    """Return the resource templates by name: the user's `documents` before the built-in ones.

    Of two with one name the first is taken. Raises ConfigError for a document that is not a
    valid resource template; documents of other kinds are ignored.
    """
    built_in = load_documents([str(assets.path(f"objects/{name}.yaml")) for name in _BUILT_IN])
    templates: dict[str, ResourceTemplate] = {}
    for document in (*documents, *built_in):
        if document.kind == FOR_SCALE:
            template = _template(document)
            templates.setdefault(template.name, template)
    return templates


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


def with_one_address(templates: Mapping[str, ResourceTemplate]) -> Mapping[str, ResourceTemplate]:
    """Return the templates with one address for each node of the built-in one.

    The original's default Stage for nodes (kwok 0.7) repeats addresses, and the API server refuses two
    of one type.
    """
    node = templates.get("node")
    if node is None or not node.source.startswith(str(assets.path("objects"))):
        return templates
    parameters = {**node.parameters, "nodeIPs": node.parameters["nodeIPs"][:1]}
    return {**templates, "node": replace(node, parameters=parameters)}


def find_template(templates: Mapping[str, ResourceTemplate], name: str) -> ResourceTemplate:
    """Return the template called `name`; UsageError, which names the known ones, if it is unknown."""
    if name in templates:
        return templates[name]
    known = f"there are: {', '.join(sorted(templates))}"
    near = did_you_mean(name, templates)
    raise UsageError(
        f"there is no resource template called '{name}'",
        hint=f"{near} {known}" if near else f"{known}; {of_cluster(name)}",
    )


def of_cluster(kind: str) -> str:
    """Say what scales an object that is in the cluster already."""
    return f"for an object of the cluster: 'kwokctl kubectl scale {kind} --replicas N'"


def _template(document: Document) -> ResourceTemplate:
    document.check_fields(["parameters", "template"])
    if not document.name:
        raise document.fault("metadata.name", "is missing")
    template = document.body.get("template")
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
    )
