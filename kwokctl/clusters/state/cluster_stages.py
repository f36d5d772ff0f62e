"""Chooses the Stages of a cluster: those of the selected sets, and the user's own."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.heartbeat import heartbeat
from kwokctl.components.stage_language import is_portable, portable
from kwokctl.components.stage_sets import (
    HEARTBEATS,
    KUBELET_PODS,
    NONE,
    StageSet,
    documents_of,
    sets_in_force,
    usual_sets,
)
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import STAGE
from kwokctl.config.options import ClusterOptions
from kwokctl.controller.stages.rivals import rival_of
from kwokctl.errors import UsageError
from kwokctl.json_value import Json

if TYPE_CHECKING:
    from kwokctl.controller.stages.compiled_stage import Stage


class StagesInForce(msgspec.Struct, frozen=True, kw_only=True):
    """The Stages that a new cluster plays."""

    sets: tuple[StageSet, ...]
    shipped: tuple[Mapping[str, Json], ...] = ()
    own: tuple[Mapping[str, Json], ...]
    displaced: Mapping[str, str]
    """Stages of the sets that are left out, each with the user's Stage that replaces it."""

    @property
    def documents(self) -> tuple[Mapping[str, Json], ...]:
        """All of them."""
        return (*self.shipped, *self.own)


def stages_in_force(options: ClusterOptions, documents: Sequence[Document]) -> StagesInForce:
    """Return the shipped Stages that a new cluster plays, and the user's.

    A user's Stage replaces the Stage of a default set that has its name or is for the same objects;
    heartbeats, and Stages of a set that was named, are replaced by name only. A controller given by
    the user gets the user's Stages alone, unless sets are named: it may have default Stages beside
    them. It gets none if it reads Stages from the API server.

    Raises UsageError for what a controller given by the user does not have.
    """
    controller, beat = options.of(KwokControllerOptions), heartbeat(options)
    own = [document for document in documents if document.kind == STAGE]
    bodies = tuple(document.body for document in own)
    if controller.binary:
        _check_words(controller.stages, has_own=bool(own))
        if STAGE in controller.enable_crds:
            return StagesInForce(sets=(), own=(), displaced={})
        if own and set(controller.stages) <= usual_sets(beat):
            return StagesInForce(sets=(), own=bodies, displaced={})
    sets = sets_in_force(controller.stages, beat)
    shipped = documents_of(sets, controller.stages, beat)
    usual = _usual(sets, controller.stages)
    rivals = () if controller.binary else _read(own)
    displaced = _displaced(shipped, own, usual, rivals) if own else {}
    kept = tuple(body for body in shipped if _name(body) not in displaced)
    if controller.binary:
        _check_portable(kept, sets)
        kept = tuple(map(portable, kept))
    return StagesInForce(sets=sets, shipped=kept, own=bodies, displaced=displaced)


def demand_stages(
    stages: StagesInForce, controller: KwokControllerOptions, custom_kinds: Collection[str]
) -> None:
    """Raise UsageError for a new cluster whose controller would have no Stage and get none later."""
    lives = KUBELET_PODS in controller.stages or STAGE in custom_kinds
    if stages.documents or lives or controller.binary:
        return
    raise UsageError(
        "with '--stage none' and without your own Stages nothing would happen to any node or pod",
        hint="give Stages with --config, read them from the cluster with --enable-crds Stage, or leave "
        "the controller out with --disable kwok-controller",
    )


def _read(documents: Sequence[Document]) -> Sequence["Stage"]:
    """Return what documents say; without any, the compilers of their expressions are not loaded."""
    if not documents:
        return ()
    from kwokctl.controller.stages.stage_reader import read_stages  # a sixth of the start

    return read_stages(documents)


def _check_words(words: Sequence[str], *, has_own: bool) -> None:
    """Raise UsageError for what was named with `--stage` that another controller does not have."""
    if KUBELET_PODS in words:
        raise UsageError(
            f"'--stage {KUBELET_PODS}' needs the embedded controller",
            hint="leave out --kwok-controller-binary, or choose another set of Stages for pods",
        )
    if NONE in words and not has_own:
        raise UsageError(
            f"'--stage {NONE}' needs the embedded controller: another controller may play default Stages of "
            "its own where it gets none",
            hint="leave out --kwok-controller-binary, or give Stages with --config",
        )


def _check_portable(bodies: Sequence[Mapping[str, Json]], sets: Sequence[StageSet]) -> None:
    for name in (_name(body) for body in bodies if not is_portable(body)):
        of = next(each.name for each in sets if name in each.stages)
        raise UsageError(
            f"'--stage {of}' needs the embedded controller: the Stage '{name}' applies objects, which not "
            "every other controller can do",
            hint="leave out --kwok-controller-binary, or this set",
        )


def stage_remarks(stages: StagesInForce, words: Sequence[str]) -> Iterator[str]:
    """Yield which Stages are in force, if the user has chosen any, and how to choose others.

    `words` are what was given with `--stage`.
    """
    if not (stages.own or words):
        return
    sets = [each.name for each in stages.sets] if stages.shipped else []
    yours = [f"{len(stages.own)} of your own"] if stages.own else []
    yield f"Stages: {', '.join([*sets, *yours]) or 'none'}"
    if KUBELET_PODS in words and any(_kind_of(body) == "Pod" for body in stages.documents):
        yield "those for pods are for pods with the annotation 'kwokctl.dev/life: stages' alone"
    others = {name: rival for name, rival in stages.displaced.items() if name != rival}
    if same := [f"'{name}'" for name in stages.displaced if name not in others]:
        yield f"yours replace those of the same name: {', '.join(same)}"
    for name, rival in others.items():
        yield f"'{name}' is left out, because your '{rival}' matches the same objects"


def _usual(sets: Sequence[StageSet], words: Sequence[str]) -> set[str]:
    """Return the Stages of the sets that the user has not named, except heartbeats."""
    unnamed = [each for each in sets if each.name not in words and each.part != HEARTBEATS]
    return {stage for each in unnamed for stage in each.stages}


def _displaced(
    shipped: Sequence[Mapping[str, Json]],
    own: Sequence[Document],
    usual: set[str],
    rivals: Sequence["Stage"],
) -> dict[str, str]:
    found = {document.name: document.name for document in own}
    names = [_name(body) for body in shipped]
    for stage in _read([_document(body) for body in shipped]):
        if stage.name in usual and (rival := rival_of(stage, rivals)):
            found.setdefault(stage.name, rival)
    return {name: rival for name, rival in found.items() if name in names}


def _kind_of(body: Mapping[str, Json]) -> Json:
    return ((body.get("spec") or {}).get("resourceRef") or {}).get("kind")


def _document(body: Mapping[str, Json]) -> Document:
    name = _name(body)
    return Document(kind=STAGE, api_version="", name=name, body=dict(body), source=name)


def _name(body: Mapping[str, Json]) -> str:
    return str(body["metadata"]["name"])
