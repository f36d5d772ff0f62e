"""Finds the shipped Stages in whose place others come: those that are for the same objects."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from kwokctl import assets
from kwokctl.errors import ExpressionError
from kwokctl.expr import yaml
from kwokctl.json_value import Json

if TYPE_CHECKING:
    from kwokctl.controller.stages.compiled_stage import Stage

_HEARTBEATS = "heartbeats"
"""The part of the sets whose Stages others replace by name only: a user's Stage for the same nodes is not meant to end heartbeats."""


def rival_of(stage: "Stage", others: Iterable["Stage"]) -> str:
    """Return the name of a Stage that is for all objects that this one is known to be for.

    Comparing the texts of selectors would miss every other spelling of the same condition.
    """
    objects = [each for each in _examples() if _is_for(stage, each)]
    rivals = (
        other.name for other in others if objects and all(_is_for(other, each) for each in objects)
    )
    return next(rivals, "")


def is_shipped(body: Mapping[str, Json]) -> bool:
    """Return whether a document is one of the shipped Stages, heartbeats aside, as it is shipped."""
    return _shipped().get(str(body["metadata"]["name"]), []).count(body.get("spec")) > 0


def read_shipped() -> None:
    """Read the files now, which would hold up an event loop later."""
    _shipped()
    _examples()


@cache
def _shipped() -> Mapping[str, list[Json]]:
    found: dict[str, list[Json]] = {}
    for one in yaml.load(assets.text("stages/sets.yaml")).values():
        if one.get("part") == _HEARTBEATS:
            continue
        for file in one["stages"]:
            body = yaml.load(assets.text(f"stages/{file}.yaml"))
            found.setdefault(body["metadata"]["name"], []).append(body["spec"])
    return found


def _is_for(stage: "Stage", value: Json) -> bool:
    kind = stage.kind
    if (kind.api_version, kind.name) != (value["apiVersion"], value["kind"]):
        return False
    try:
        return stage.matches(value)
    except ExpressionError:
        return False


@cache
def _examples() -> list[Json]:
    return list(yaml.load(assets.text("stages/examples.yaml")).values())
