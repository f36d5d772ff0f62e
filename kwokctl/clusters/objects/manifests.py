"""Reads the objects of manifests: files, folders, texts of YAML that were read already, or mappings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl.config.document_folders import files_of
from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.expr import yaml
from kwokctl.json_value import Json

Manifest = str | Path | Mapping[str, Json]
"""A file, a folder of YAML files, or one object."""


def objects_of(source: Manifest | Sequence[Manifest]) -> list[dict[str, Json]]:
    """Return all objects, in their order; lists are taken apart.

    Raises NotFoundError for a file that is not there, and ConfigError, which names the place, for
    what is no object.
    """
    sources = [source] if isinstance(source, str | Path | Mapping) else source
    return [each for one in sources for each in _of_one(one)]


def _of_one(source: Manifest) -> Iterator[dict[str, Json]]:
    if isinstance(source, Mapping):
        yield from _flat(dict(source), "the object")
        return
    path = Path(source)
    for file in files_of(path) if path.is_dir() else [path]:
        for number, document in enumerate(_documents(file), start=1):
            if document is not None:
                yield from _flat(document, f"'{file}', document {number}")


def _documents(file: Path) -> Iterable[Json]:
    try:
        return yaml.load_all(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as e:
        raise NotFoundError(f"there is no file '{file}'") from e
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"cannot read '{file}': {e}") from e
    except ConfigError as e:
        raise ConfigError(f"'{file}' is not valid YAML: {e}", hint=e.hint) from e


def _flat(body: Json, place: str) -> Iterator[dict[str, Json]]:
    """Yield an object, or the items of a list of objects."""
    if not isinstance(body, dict):
        raise ConfigError(f"{place} is not a mapping")
    if str(body.get("kind", "")).endswith("List") and isinstance(body.get("items"), list):
        for number, item in enumerate(body["items"], start=1):
            yield from _flat(item, f"{place}, item {number}")
        return
    _check(body, place)
    yield body


def _check(body: Mapping[str, Json], place: str) -> None:
    metadata = body.get("metadata")
    names = metadata if isinstance(metadata, dict) else {}
    missing = [field for field in ("apiVersion", "kind") if not isinstance(body.get(field), str)]
    if not (names.get("name") or names.get("generateName")):
        missing.append("metadata.name")
    if missing:
        raise ConfigError(f"{place}: '{missing[0]}' is missing or not a string")
