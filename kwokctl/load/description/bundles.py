"""The objects of one arrival: where they come from, and how they are named and labelled."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Protocol

import orjson

from kwokctl.clusters.object_files.restoring.sent_objects import sent
from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate import template
from kwokctl.expr.gotemplate.template import Functions, Template
from kwokctl.json_value import Json

LOAD_LABEL, RUN_LABEL = "kwokctl.dev/load", "kwokctl.dev/run"
"""The labels of the objects of a load, and of a run of it; pods that others make of them have
these, too."""
_SEPARATOR = re.compile(r"^---[ \t]*$", re.MULTILINE)
_INNER = frozenset({"template", "jobTemplate"})
"""Fields with the shape of objects that a controller makes: of pods, and of Jobs."""


class ObjectSource(Protocol):
    """Gives the objects of arrivals."""

    def objects(self, data: Mapping[str, Json], functions: Functions) -> list[dict[str, Json]]:
        """Return new objects for the `data` of an arrival; ConfigError where there is none.

        Templates call the `functions` beside those that all have.
        """
        ...


class TemplatedObjects:
    """Renders objects from a template."""

    def __init__(self, source: str, place: str) -> None:
        """Compile the text; `place` is where it stands, for messages."""
        self._place = place
        self._whole = template.compile(source, name=place)
        self._parts = tuple(_parts(source, place))

    def objects(self, data: Mapping[str, Json], functions: Functions) -> list[dict[str, Json]]:
        """Return what the template gives."""
        try:
            found = [body for body in self._rendered(data, functions) if body is not None]
        except ExpressionError as e:
            raise ConfigError(str(e), hint=e.hint) from e
        if not found:
            raise ConfigError(f"'{self._place}' gives no object")
        return [self._checked(body, str(data["name"])) for body in found]

    def _rendered(self, data: Mapping[str, Json], functions: Functions) -> Sequence[Json]:
        if self._parts:
            return [_object_of(each, data, functions) for each in self._parts]
        return yaml.load_all(self._whole.render(data, functions))

    def _checked(self, body: Json, name: str) -> dict[str, Json]:
        if not isinstance(body, dict):
            raise ConfigError(f"'{self._place}' gives something that is no object")
        for field in ("apiVersion", "kind"):
            if not isinstance(body.get(field), str) or not body[field]:
                raise ConfigError(f"'{self._place}' gives an object without '{field}'")
        metadata = mapping_in(body, "metadata")
        if "generateName" not in metadata:
            metadata.setdefault("name", name)
        return body


class CopiedObjects:
    """Copies objects."""

    def __init__(self, originals: Sequence[Mapping[str, Json]]) -> None:
        """Copy what a client would send of these."""
        self._originals = [clean(each) for each in originals]

    def objects(self, data: Mapping[str, Json], functions: Functions) -> list[dict[str, Json]]:
        """Return a copy of each, whose name ends with the number of the arrival."""
        copies = deepcopy(self._originals)
        for each in copies:
            if "generateName" not in each["metadata"]:
                each["metadata"]["name"] += f"-{data['index']}"
        return copies


class RecordedObjects:
    """Gives the objects that were created in a recording, each at its arrival."""

    def __init__(self, recorded: Sequence[Mapping[str, Json]]) -> None:
        """The objects, in the order of their times."""
        self._recorded = [clean(each) for each in recorded]

    def objects(self, data: Mapping[str, Json], functions: Functions) -> list[dict[str, Json]]:
        """Return the object of the arrival."""
        return [deepcopy(self._recorded[data["index"]])]


def clean(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return what a client would send of an object that a cluster has stored."""
    created: Json = sent(orjson.dumps(body))
    wanted: dict[str, Json] = {key: value for key, value in created.items() if key != "status"}
    wanted["metadata"].pop("managedFields", None)
    wanted["metadata"].pop("ownerReferences", None)
    if wanted["kind"] == "Pod" and isinstance(wanted.get("spec"), dict):
        wanted["spec"].pop("nodeName", None)
    return wanted


def label(body: dict[str, Json], labels: Mapping[str, str]) -> None:
    """Give an object labels, and those that will be made from the templates in it."""
    mapping_in(mapping_in(body, "metadata"), "labels").update(labels)
    for inner in _templates(body.get("spec")):
        mapping_in(mapping_in(inner, "metadata"), "labels").update(labels)


def _templates(value: Json) -> Iterator[dict[str, Json]]:
    """Yield what looks like the template of an object, at any depth."""
    if isinstance(value, dict):
        for field, inner in value.items():
            if field in _INNER and isinstance(inner, dict) and "spec" in inner:
                yield inner
            yield from _templates(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _templates(inner)


def mapping_in(body: dict[str, Json], field: str) -> dict[str, Json]:
    """Return the mapping in a field, which is made if there is none."""
    found = body.get(field)
    if found is None:
        found = body[field] = {}
    if not isinstance(found, dict):
        raise ConfigError(f"'{field}' of an object of a load is not a mapping")
    return found


def _object_of(template: Template, data: Mapping[str, Json], functions: Functions) -> Json:
    """Return the object that a template gives, where random functions are called once each.

    An object that is built without reading YAML may take two attempts.
    """
    if template.is_random:
        return yaml.load(template.render(data, functions))
    return template.render_object(data, functions)


def _parts(source: str, place: str) -> Iterator[Template]:
    """Yield a template for each YAML document; none where an action reaches over several.

    An object is built from one document without reading YAML again.
    """
    texts = _SEPARATOR.split(source)
    try:
        found = [template.compile(each, name=place) for each in texts if each.strip()]
    except ExpressionError:
        return
    yield from found
