"""The Stages that are shipped, in sets that `--stage` names; the data is in `templates/stages`."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache

import msgspec

from kwokctl import assets
from kwokctl.components.heartbeat import Heartbeat
from kwokctl.config.checks import InvalidText
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import UsageError
from kwokctl.expr import yaml
from kwokctl.json_value import Json

NONE = "none"
"""The name that stands for none of the default sets."""
_OUT = "-"
"""The suffix of the name of a Stage to leave out, like that of a label for kubectl."""
KUBELET_PODS = "pod-kubelet"
"""The set without Stages: the controller gives pods the life that a kubelet gives them."""
HEARTBEATS = "heartbeats"
"""The part whose Stages refresh what other Stages have made."""
_USUAL = {"nodes": "node-fast", "pods": "pod-fast"}


class StageSet(msgspec.Struct, frozen=True, kw_only=True):
    """Stages that belong together."""

    name: str
    part: str
    """Of what it is the whole; two sets of the same part exclude each other. Empty for an addition."""
    text: str
    files: tuple[str, ...]
    objects: tuple[str, ...] = ()
    """The files of objects that a cluster must have for its Stages to be of use."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of its Stages."""
        return tuple(file.rpartition("/")[2] for file in self.files)


@cache
def shipped_sets() -> Mapping[str, StageSet]:
    """Return every set by its name."""
    found = yaml.load(assets.text("stages/sets.yaml"))
    return {
        name: StageSet(
            name=name,
            part=body.get("part", ""),
            text=body["text"],
            files=tuple(body["stages"]),
            objects=tuple(body.get("objects", ())),
        )
        for name, body in found.items()
    }


def check_word(word: str) -> InvalidText | None:
    """Accept the name of a set, `none`, or that of a single Stage with a minus behind it."""
    sets = shipped_sets()
    if word == NONE or word in sets:
        return None
    stages = {f"{stage}{_OUT}" for each in sets.values() for stage in each.stages}
    if word in stages:
        return None
    hint = did_you_mean(word, [*sets, *stages]) or f"sets are: {', '.join([*sets, NONE])}"
    return InvalidText("neither a set of Stages nor a Stage with a minus behind it", hint)


def sets_in_force(words: Sequence[str], beat: Heartbeat) -> tuple[StageSet, ...]:
    """Return the sets that are named, and the default sets of all parts without a named set.

    Raises UsageError for two sets of the same part.
    """
    sets = shipped_sets()
    named = [sets[word] for word in dict.fromkeys(words) if word in sets]
    parts: dict[str, StageSet] = {}
    for each in named:
        if other := parts.get(each.part) if each.part else None:
            raise UsageError(
                f"the sets of Stages '{other.name}' and '{each.name}' exclude each other",
                hint=f"both are for all {each.part}: leave one of them out",
            )
        parts[each.part] = each
    usual = [] if NONE in words else [sets[name] for name in usual_sets(beat)]
    added = [each for each in usual if each.part not in parts]
    return tuple(sorted((*added, *named), key=lambda each: list(sets).index(each.name)))


def documents_of(
    sets: Sequence[StageSet], words: Sequence[str], beat: Heartbeat
) -> list[dict[str, Json]]:
    """Return the documents of sets but for those Stages that the words leave out."""
    return [
        _document(file, beat if each.part == HEARTBEATS else None)
        for each in sets
        for file, stage in zip(each.files, each.stages, strict=True)
        if f"{stage}{_OUT}" not in words
    ]


def objects_of(sets: Sequence[StageSet]) -> list[Json]:
    """Return the objects that a cluster with these sets begins with."""
    return [yaml.load(assets.text(f"stages/{file}.yaml")) for each in sets for file in each.objects]


def usual_sets(beat: Heartbeat) -> AbstractSet[str]:
    """Return the names of the sets that are in force where none is named, in their order."""
    names = dict.fromkeys(_USUAL.values())
    if not beat.is_off:
        names["node-heartbeat-with-lease" if beat.lease_seconds else "node-heartbeat"] = None
    return names.keys()


def _document(file: str, beat: Heartbeat | None) -> dict[str, Json]:
    body: dict[str, Json] = yaml.load(assets.text(f"stages/{file}.yaml"))
    if beat is not None:
        _slow_down(body["spec"]["delay"], beat.status_milliseconds)
    return body


def _slow_down(delay: dict[str, Json], period: int) -> None:
    """Keep a heartbeat's delay, in milliseconds, from being shorter than the status period."""
    delay["durationMilliseconds"] = max(delay["durationMilliseconds"], period)
    longest = max(delay["jitterDurationMilliseconds"], period + period // 10)
    delay["jitterDurationMilliseconds"] = longest
