"""Reads the folder of an add-on: `addon.yaml`, and the files and manifests that it names."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kwokctl import assets
from kwokctl.artifacts.module_parts import FILES, PROGRAM
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.config.option_keys import KIND as CONFIGURATION
from kwokctl.config.patches.document_shapes import StrictShape
from kwokctl.errors import ConfigError, UsageError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.names import LABEL_RULE, is_label

API_VERSION, KIND = "kwokctl.dev/v1alpha1", "AddOn"
FILE = "addon.yaml"
SHIPPED = "addons"
"""The folder of data files with those that come with kwokctl."""
_OWN = ("groups", "rules", "clusterRoles", "readiness", "webhooks")
"""Fields of a component that are an add-on's alone, and are kept as they are."""


class NameShape(StrictShape):
    """The metadata."""

    name: str


class ModuleShape(StrictShape):
    """The Go module that programs are built from, and manifests are read from."""

    module: str
    version: str
    instead: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    """Versions in its `go.mod`, each with the one that is taken in its place."""

    @property
    def programs(self) -> str:
        """Return how programs of the module are named, but for the package."""
        instead = "".join(f";{old}={new}" for old, new in self.instead.items())
        return f"{PROGRAM}{self.module}@{self.version}{instead}"


class ManifestShape(StrictShape):
    """Files of the module, by patterns that its folder is searched for."""

    module: tuple[str, ...]


class AddOnSpecShape(StrictShape):
    """The specification of an add-on."""

    about: str
    components: tuple[dict[str, Json], ...]
    version: str = ""
    source: ModuleShape | None = None
    options: dict[str, Json] = {}  # noqa: RUF012 - msgspec copies it
    components_patches: tuple[dict[str, Json], ...] = ()
    manifests: tuple[str | ManifestShape, ...] = ()


class AddOnShape(StrictShape):
    """A whole `addon.yaml`."""

    api_version: str
    kind: str
    metadata: NameShape
    spec: AddOnSpecShape


class AddOn(msgspec.Struct, frozen=True, kw_only=True):
    """An add-on, whose files have been found."""

    name: str
    about: str
    version: str
    document: Document
    """The configuration of kwokctl that it is."""


def shipped() -> list[str]:
    """Return the names of the add-ons that come with kwokctl."""
    return sorted(path.parent.name for path in assets.path(SHIPPED).glob(f"*/{FILE}"))


def of_components() -> dict[str, str]:
    """Return the add-on of each component of those that come with kwokctl."""
    return {
        str(component["name"]): name
        for name in shipped()
        for component in read_add_on(assets.path(SHIPPED) / name).document.body["components"]
    }


def folder_of(word: str) -> Path | None:
    """Return the folder that a word of `--enable` names; None if it names none.

    Raises UsageError for a path at which there is no add-on.
    """
    if "/" in word or word.startswith("."):
        return _checked(Path(word).expanduser(), word)
    name = word if word in shipped() else of_components().get(word)
    return assets.path(SHIPPED) / name if name else None


def _checked(folder: Path, word: str) -> Path:
    if not os.access(folder / FILE, os.R_OK):
        raise UsageError(
            f"'--enable' is '{word}', which is not the folder of an add-on",
            hint=f"give a folder with a file '{FILE}'",
        )
    return folder


def read_add_on(folder: Path) -> AddOn:
    """Read the add-on in a folder.

    Raises ConfigError, naming the file and the field, for one that is incomplete or wrong.
    """
    place = str(folder / FILE)
    shape = _shape(_text(folder / FILE), place)
    spec, name = shape.spec, shape.metadata.name
    if not is_label(name):
        raise ConfigError(f"{place}: '{name}' cannot be the name of an add-on", hint=LABEL_RULE)
    if not spec.components:
        raise ConfigError(f"{place}: 'spec.components' is empty: an add-on needs at least one")
    _check_names(spec, place)
    first, *others = spec.components
    components = [
        _component(shape, folder, first, **_manifests(spec, folder)),
        *(_component(shape, folder, each) for each in others),
    ]
    body = {
        "apiVersion": API_VERSIONS[CONFIGURATION],
        "kind": CONFIGURATION,
        "options": {key: _filled(value, spec, folder) for key, value in spec.options.items()},
        "components": components,
        "componentsPatches": list(spec.components_patches),
    }
    document = Document(
        kind=CONFIGURATION,
        api_version=API_VERSIONS[CONFIGURATION],
        name="",
        body=body,
        source=place,
    )
    return AddOn(name=name, about=spec.about, version=spec.version, document=document)


def _check_names(spec: AddOnSpecShape, place: str) -> None:
    names = [str(each.get("name")) for each in spec.components]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{place}: two components have the name '{twice[0]}'")


def _shape(text: str, place: str) -> AddOnShape:
    try:
        body = yaml.load(text)
    except ConfigError as e:
        raise ConfigError(f"'{place}' is not valid YAML: {e}", hint=e.hint) from e
    try:
        shape = msgspec.convert(body, AddOnShape)
    except msgspec.ValidationError as e:
        raise ConfigError(f"'{place}': {str(e).replace('`', chr(39))}") from e
    if (shape.api_version, shape.kind) != (API_VERSION, KIND):
        raise ConfigError(
            f"'{place}': apiVersion and kind are '{shape.api_version}' and '{shape.kind}'",
            hint=f"write 'apiVersion: {API_VERSION}' and 'kind: {KIND}'",
        )
    return shape


def _component(
    shape: AddOnShape, folder: Path, given: Mapping[str, Json], **first: Json
) -> dict[str, Json]:
    """Return a component as documents have it, with what is an add-on's alone under `addOn`."""
    spec = shape.spec
    place = f"{folder / FILE}: the component '{given.get('name')}'"
    entry = {key: value for key, value in given.items() if key not in (*_OWN, "package", "files")}
    if (package := given.get("package")) is not None:
        if spec.source is None:
            raise ConfigError(f"{place} has a 'package', and there is no 'spec.source'")
        entry["binary"] = f"{spec.source.programs}#{package}"
    entry.setdefault("version", spec.version)
    if str(entry.get("binary", "")).startswith(("./", "../")):
        entry["binary"] = str((folder / entry["binary"]).resolve())
    if "addOn" in given:
        raise ConfigError(f"{place}: 'addOn' is not a field of a component")
    named = given.get("files") or {}
    if not isinstance(named, Mapping):
        raise ConfigError(f"{place}: 'files' must be a mapping")
    files = [
        {"name": name, "content": _content(folder, path, place)} for name, path in named.items()
    ]
    add_on = {
        "name": shape.metadata.name,
        **{key: given[key] for key in _OWN if key in given},
        **({"files": files} if files else {}),
        **({"manifestSource": first["source"]} if first.get("source") else {}),
    }
    texts = [*(entry.get("manifestContents") or ()), *first.get("texts", ())]
    return {**entry, **({"manifestContents": texts} if texts else {}), "addOn": add_on}


def _manifests(spec: AddOnSpecShape, folder: Path) -> dict[str, Json]:
    """Return the manifests of the folder as texts, and those of the module as their source."""
    place = f"{folder / FILE}: 'spec.manifests'"
    texts = [_content(folder, each, place) for each in spec.manifests if isinstance(each, str)]
    if any(isinstance(each, ManifestShape) and not each.module for each in spec.manifests):
        raise ConfigError(f"{place}: 'module' is empty")
    patterns = [
        pattern
        for each in spec.manifests
        if isinstance(each, ManifestShape)
        for pattern in each.module
    ]
    if patterns and spec.source is None:
        raise ConfigError(f"{place} names files of a module, and there is no 'spec.source'")
    source = (
        f"{FILES}{spec.source.module}@{spec.source.version}#{','.join(patterns)}"
        if patterns and spec.source
        else ""
    )
    return {"texts": texts, "source": source}


def _filled(value: Json, spec: AddOnSpecShape, folder: Path) -> Json:
    """Put the folder and the module into an option: `{folder}/FILE`, `{source}#PACKAGE`."""
    if not isinstance(value, str):
        return value
    module = spec.source.programs if spec.source else ""
    return value.replace("{folder}", str(folder.resolve())).replace("{source}", module)


def _content(folder: Path, name: Json, place: str) -> str:
    """Return the content of a file of the folder, naming the place where it is wanted if it has none."""
    path = _inside(folder, name, place)
    try:
        return _text(path)
    except ConfigError as e:
        raise ConfigError(f"{place}: {e}") from e


def _inside(folder: Path, name: Json, place: str) -> Path:
    """Return a file of the folder; ConfigError for one elsewhere."""
    path = folder / str(name)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(f"{place}: '{name}' is not in the folder of the add-on")
    return path


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as e:
        raise ConfigError(f"there is no file '{path}'") from e
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"cannot read '{path}': {e}") from e
