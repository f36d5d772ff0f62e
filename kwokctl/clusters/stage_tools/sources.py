"""The Stages and the objects that the tools look at."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.stage_sets import StageSet, documents_of, sets_in_force, shipped_sets
from kwokctl.config.config_documents import STDIN, Document, load_documents
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import ClusterOptions
from kwokctl.controller.stages.compiled_stage import Kind, Stage
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.errors import ConfigError, UsageError
from kwokctl.expr import yaml
from kwokctl.json_value import Json


def stage_documents_of(words: Sequence[str], options: ClusterOptions) -> list[Document]:
    """Return the Stage documents that sets, files and folders name; without any, the default ones.

    `options` are those of a cluster. Raises UsageError for a word that is neither.
    """
    if not words:
        return _documents(sets_in_force((), heartbeat(options)), options)
    sets = shipped_sets()
    found: list[Document] = []
    for word in words:
        if word in sets:
            found += _documents([sets[word]], options)
        elif word == STDIN or is_there(word):
            found += [each for each in load_documents([word]) if each.kind == "Stage"]
        else:
            hint = did_you_mean(word, sets) or f"sets are: {', '.join(sets)}"
            raise UsageError(f"'{word}' is neither a file nor a set of Stages", hint=hint)
    return found


def documents_from(bodies: Iterable[Json], source: str) -> list[Document]:
    """Return Stages that have been read as documents."""
    return [
        Document(
            kind="Stage", api_version="", name=body["metadata"]["name"], body=body, source=source
        )
        for body in bodies
    ]


def stages_for(documents: Iterable[Document], value: Json) -> tuple[Stage, ...]:
    """Return the Stages for objects of the kind that this one is of."""
    kind = Kind(str(value.get("apiVersion") or ""), str(value.get("kind") or ""))
    return tuple(stage for stage in read_stages(documents) if stage.kind == kind)


def is_there(path: str) -> bool:
    """Return whether a word is the path of something; false also for what cannot be a path at all."""
    return os.path.exists(path)  # noqa: PTH110 - Path raises OSError


def object_in(path: Path) -> Json:
    """Read the only object of a file; ConfigError if there is none."""
    try:
        value = yaml.load(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise ConfigError(f"cannot read '{path}': {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise ConfigError(f"'{path}' is not valid YAML: {e}") from e
    except ConfigError as e:
        raise ConfigError(f"'{path}' is not valid YAML: {e}", hint=e.hint) from e
    if not isinstance(value, dict) or not value.get("kind") or not value.get("apiVersion"):
        raise ConfigError(
            f"'{path}' holds no object",
            hint="write one document with 'apiVersion', 'kind' and 'metadata'",
        )
    value.setdefault("metadata", {})
    return value


def _documents(sets: Sequence[StageSet], options: ClusterOptions) -> list[Document]:
    bodies = documents_of(sets, (), heartbeat(options))
    return documents_from(bodies, "the shipped sets")
