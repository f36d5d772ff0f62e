"""The shapes of what an arrival does."""

from typing import Annotated, Literal

from msgspec import Meta

from kwokctl.draws.drawn import exactly_one
from kwokctl.load.description.strict import Amount, LoadPart, Positive, Word


class BundleShape(LoadPart, frozen=True, kw_only=True):
    """The objects of one arrival: exactly one of `template` and `copies` is given."""

    template: Word | None = None
    """A Go template of one or more YAML documents."""
    copies: Word | None = None
    """A file of objects to copy; the names of copies end with the number of their arrival."""
    weight: Amount = 1.0
    """Its weight beside those of the others: a larger one is chosen more often."""

    def __post_init__(self) -> None:
        """Raise ValueError unless it says where objects come from."""
        exactly_one(self, ("template", "copies"))


class SelectionShape(LoadPart, frozen=True, kw_only=True):
    """Objects of a kind: all of them, or those of a load, or with labels."""

    kind: Word
    """A kind as kubectl knows it: `pods`, `deployments.apps`."""
    namespace: str | None = None
    """Without it, that of the load; empty for all namespaces."""
    load: str = ""
    """The load that has made them."""
    selector: str = ""
    """A label selector."""


class TargetShape(SelectionShape, frozen=True, kw_only=True):
    """One object: that of a name, or one that is drawn of those selected."""

    name: str = ""
    """A Go template of the name."""

    def __post_init__(self) -> None:
        """Raise ValueError for a name beside a selection."""
        if self.name and (self.load or self.selector):
            raise ValueError("'name' is one object: 'load' and 'selector' are for others")


class PatchActShape(LoadPart, frozen=True, kw_only=True):
    """Patches one object."""

    target: TargetShape
    patch: Word
    """A Go template of the patch, in YAML."""
    type: Literal["merge", "strategic", "json"] = "merge"
    subresource: str = ""


class ScaleActShape(LoadPart, frozen=True, kw_only=True):
    """Scales one object."""

    target: TargetShape
    replicas: Annotated[int, Meta(ge=0)] | Word
    """A number, or a Go template of one."""


class DeleteActShape(LoadPart, frozen=True, kw_only=True):
    """Deletes one object."""

    target: TargetShape


class RecreateActShape(LoadPart, frozen=True, kw_only=True):
    """Deletes a share of the objects, and creates them again as they were."""

    target: SelectionShape
    percent: Annotated[float, Meta(gt=0, le=100)]


class ListActShape(LoadPart, frozen=True, kw_only=True):
    """Lists objects, as a reader does."""

    target: SelectionShape
    limit: Positive | None = None
    """Objects in a page; without it all come in one answer."""
    cached: bool = True
    """Whether the API server may answer from its cache."""
