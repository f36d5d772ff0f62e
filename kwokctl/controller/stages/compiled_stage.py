"""Compiled Stages: what to do with an object, when, and for which objects."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from kwokctl.controller.stages.selectors import FieldQuery, Known, Selector
from kwokctl.controller.stages.stage_places import StagePlace
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType


class ObjectTemplate(Protocol):
    """A compiled Go template that renders a document."""

    @property
    def required(self) -> Collection[str]:
        """The functions that it calls beside those that every template has."""
        ...

    def render_object(self, data: Json, functions: Mapping[str, Any], /) -> Json:
        """Render and parse; raises ExpressionError if that fails."""
        ...

    def render_symbols(
        self, data: Json, functions: Mapping[str, Any], unknown: Collection[str], /
    ) -> Json:
        """Render and parse for many objects at once: symbols represent values that differ between the objects."""
        ...


class Kind(msgspec.Struct, frozen=True):
    """A kind of object, as a Stage names it."""

    api_version: str
    """ "v1", or "group/version". """
    name: str


NODE, POD = Kind("v1", "Node"), Kind("v1", "Pod")
MOST_WITHOUT_DELAY = 16
"""Stages that may follow each other on an object without delay: further ones are slowed down."""


class EventStep(msgspec.Struct, frozen=True, kw_only=True):
    """Create a Kubernetes event about the object."""

    type: str
    reason: str
    message: str


class FinalizersStep(msgspec.Struct, frozen=True, kw_only=True):
    """Change the object's finalizers."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    empty: bool


class DeleteStep(msgspec.Struct, frozen=True):
    """Delete the object without a grace period; its finalizers are respected."""


class PatchStep(msgspec.Struct, frozen=True, kw_only=True):
    """Patch the object, or one of its subresources, with what the template renders."""

    template: ObjectTemplate
    root: str
    subresource: str
    type: PatchType
    as_user: str
    field: str = ""
    """The path of the template in the document."""


class ApplyStep(msgspec.Struct, frozen=True, kw_only=True):
    """Create or patch the object that the template renders, whatever it is."""

    template: ObjectTemplate
    subresource: str
    type: PatchType
    as_user: str
    field: str = ""
    """The path of the template in the document."""


Step = EventStep | FinalizersStep | DeleteStep | PatchStep | ApplyStep


class Delay(msgspec.Struct, frozen=True, kw_only=True):
    """The delay of a Stage: all in seconds, `…_from` computed from the object."""

    base: float = 0.0
    base_from: FieldQuery | None = None
    bound: float | None = None
    bound_from: FieldQuery | None = None


class Stage(msgspec.Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """One step in the life of the objects of one kind."""

    name: str
    kind: Kind
    selector: Selector | None
    steps: tuple[Step, ...]
    weight: int = 0
    weight_from: FieldQuery | None = None
    delay: Delay | None = None
    immediate_next: bool = False
    source: str = ""
    """The file and the place in it from which it was read."""

    def field_of(self, step: int) -> str:
        """Return where the template of a step is in the document; empty for a step without one."""
        found = self.steps[step] if step < len(self.steps) else None
        return found.field if isinstance(found, PatchStep | ApplyStep) else ""

    def place(self, field: str) -> StagePlace:
        """Return where one of its fields is; without a name, where the Stage is."""
        return StagePlace(self.name, self.source, field)

    @property
    def deletes(self) -> bool:
        """Whether it deletes the object."""
        return DeleteStep in map(type, self.steps)

    def matches(self, value: Json, known: Known | None = None) -> bool:
        """Return whether this stage is for an object; one without selector is for none.

        `known` is as for selectors.
        """
        return self.selector is not None and self.selector.matches(value, known)


def by_kind(stages: Iterable[Stage]) -> dict[Kind, Sequence[Stage]]:
    """Group stages by the kind that they are for; the order within a kind stays."""
    groups: dict[Kind, list[Stage]] = {}
    for stage in stages:
        groups.setdefault(stage.kind, []).append(stage)
    return dict(groups)
