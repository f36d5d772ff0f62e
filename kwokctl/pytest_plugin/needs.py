"""The needs of a test in the cluster, from its markers and the configuration."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from kwokctl.errors import UsageError

MARKER = "kwok"
_NUMBERS = ("nodes", "pods")


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """The objects that a test needs in the cluster, beside those that every test finds there."""

    nodes: int | None = None
    """None leaves them as they are."""
    pods: int | None = None
    crds: tuple[Path, ...] = ()
    stages: tuple[Path, ...] = ()
    objects: tuple[Path, ...] = ()
    webhooks: tuple[Path, ...] = ()

    @property
    def key(self) -> str:
        """The same text for the same needs."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]

    def joined(self, other: "Needs") -> "Needs":
        """Return these needs and others: files of both, numbers of the other if it has some."""
        return Needs(
            nodes=self.nodes if other.nodes is None else other.nodes,
            pods=self.pods if other.pods is None else other.pods,
            crds=_joined(self.crds, other.crds),
            stages=_joined(self.stages, other.stages),
            objects=_joined(self.objects, other.objects),
            webhooks=_joined(self.webhooks, other.webhooks),
        )


def _joined(own: tuple[Path, ...], more: tuple[Path, ...]) -> tuple[Path, ...]:
    return (*own, *(each for each in more if each not in own))


def needs_of(words: Mapping[str, object], folder: Path, place: str) -> Needs:
    """Read the words of a marker or of a configuration; paths are relative to `folder`.

    Raises UsageError, which names the place, for a word that is not known, and for a file that is not
    there.
    """
    known = Needs.__struct_fields__
    if unknown := [word for word in words if word not in known]:
        raise UsageError(f"{place}: '{unknown[0]}' is not one of {', '.join(known)}")
    values = {
        word: _number(value, word, place) if word in _NUMBERS else _paths(value, folder, place)
        for word, value in words.items()
    }
    return Needs(**values)  # type: ignore[arg-type]  # each has the type of its field


def _number(value: object, word: str, place: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise UsageError(f"{place}: '{word}' is {value!r}, not a number")


def _paths(value: object, folder: Path, place: str) -> tuple[Path, ...]:
    items = [value] if isinstance(value, str | Path) else value
    if not isinstance(items, Iterable):
        raise UsageError(f"{place}: {value!r} is neither a path nor a list of paths")
    return tuple(_existing(folder / str(item), place) for item in items)


def _existing(path: Path, place: str) -> Path:
    if not path.exists():
        raise UsageError(f"{place}: there is no file '{path}'")
    return path
