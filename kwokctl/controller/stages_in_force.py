"""The Stages that a controller plays now, and what `scale` gets of them to play the same."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256

import msgspec

from kwokctl.controller.documents.stage_documents import KIND, StageLibrary, stages_of_files
from kwokctl.controller.settings import Settings
from kwokctl.controller.stages.compiled_stage import POD
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.scale_protocol import PlayedStages
from kwokctl.embedded.documents.verdicts import Bodies
from kwokctl.json_value import Json
from kwokctl.replacing import replace

log = logging.getLogger(__name__)

_KINDS = frozenset({"Node", "Pod"})


def _forget(_: Mapping[str, str]) -> None:
    """Remember nothing: there are no Stages of files that could be replaced."""


class ChangingStages:
    """Gives the controller the Stages of its files, and those that are custom resources."""

    def __init__(self, settings: Settings, controller: Controller, *, manager: str) -> None:
        """Begin with the Stages of the files; the controller writes as `manager`."""
        self._settings = settings
        self._controller = controller
        self._manager = manager
        self._library = StageLibrary(stages_of_files(settings.stages, settings.stage_documents))
        self._custom: Bodies | None = None
        self._replaced: Mapping[str, str] = {}
        self.remember: Callable[[Mapping[str, str]], None] = _forget
        """Gets the Stages of files that custom resources have come in place of."""
        is_known = KIND not in settings.custom_kinds
        self.played = self._played(settings.stage_documents) if is_known else None
        """The Stages for `scale`; None before the custom resources are known."""

    def change(self, custom: Bodies) -> Mapping[str, str]:
        """Play with these custom resources; return what is wrong with some, by their names."""
        self._custom = custom
        return self._play(custom)

    def leave_out(self, replaced: Mapping[str, str]) -> None:
        """Play without those Stages of files that were replaced by custom resources before."""
        self._replaced = replaced
        if self._custom is not None:
            self._play(self._custom)

    def _play(self, custom: Bodies) -> Mapping[str, str]:
        found = self._library.update(custom, self._replaced)
        for remark in found.remarks:
            log.log(remark.level, "%s", remark.text)
        self.remember(found.replaced)
        self._controller.change(each.value for each in found.in_force.values())
        self.played = self._played(each.body for each in found.in_force.values())
        return found.refused

    def _played(self, bodies: Iterable[Mapping[str, Json]]) -> PlayedStages:
        return stages_in_force(
            self._settings, bodies, manager=self._manager, started=self._controller.started
        )


def stages_in_force(
    settings: Settings, bodies: Iterable[Mapping[str, Json]], *, manager: str, started: str
) -> PlayedStages:
    """Return what a controller plays that has `started` then, and writes as `manager`."""
    kubelet, kinds = settings.kubelet, _KINDS
    if settings.has_kubelet_pods:
        kinds = kinds - {POD.name}  # few pods have the annotation for Stages, and they can wait
    found = PlayedStages(
        stages=[dict(body) for body in bodies if _is_for_scale(body, kinds)],
        selection=dict(settings.selecting),
        node_ip=kubelet.ip,
        node_name=kubelet.name,
        node_port=kubelet.port,
        kubelet_address=kubelet.address,
        kubelet_features=kubelet.features,
        started=started,
        manager=manager,
    )
    found.generation = sha256(msgspec.json.encode(found)).hexdigest()
    return found


def with_followers(played: PlayedStages, *, faults_follow: bool) -> PlayedStages:
    """Return what is played while faults are open that hit new nodes, or none are."""
    if not faults_follow:
        return played
    return replace(played, faults_follow=True, generation=f"{played.generation}-faults")


def _is_for_scale(body: Mapping[str, Json], kinds: Collection[str]) -> bool:
    reference = (body.get("spec") or {}).get("resourceRef") or {}
    return reference.get("kind") in kinds
