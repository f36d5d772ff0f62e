"""Asks the controller of a cluster what it plays, to play that on new objects before they are written."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from kwokctl.config.config_documents import Document
from kwokctl.controller.in_memory.kubelet import ControllerIdentity, InMemoryKubelet
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.dataplane.scale_protocol import ControllerClient, PlayedStages
from kwokctl.embedded.selection import select
from kwokctl.errors import ConfigError, KwokctlError, RequestError
from kwokctl.json_value import Json
from kwokctl.tasks import beside

log = logging.getLogger(__name__)

_NODE = "Node"
_ASK_EVERY = 0.5
"""Seconds between questions whether other Stages are played now."""


@asynccontextmanager
async def kubelet_of(
    controller: ControllerClient, kind: str
) -> AsyncIterator[InMemoryKubelet | None]:
    """Yield what plays nodes or pods as the controller does; None if it does not report its Stages.

    As soon as it plays something else, or does not answer, `is_current` is false.
    """
    try:
        found = await controller.stages()
        if found.faults_follow and kind == _NODE:
            raise ConfigError("faults are open that hit new nodes: the controller alone decides")
        kubelet = _kubelet(found, kind)
    except KwokctlError as e:  # another release's, or another controller
        log.debug("objects are written as they are created: %s", e)
        yield None
        return
    async with beside(_follow(controller, found.generation, kubelet)):
        yield kubelet


def _kubelet(found: PlayedStages, kind: str) -> InMemoryKubelet:
    # The rule for all Stages, also those for other kinds: of one name, the last counts.
    named = {_name(body): body for body in found.stages}
    stages = read_stages(_document(body) for body in named.values() if _is_for(kind, body))
    selecting: dict[str, Any] = dict(found.selection)
    if any(map(_is_by_chance, named.values())):
        raise ConfigError("a selector depends on chance: the controller alone decides")
    return InMemoryKubelet(
        kind,
        stages,
        selection=select(**selecting),
        identity=ControllerIdentity(
            kubelet=Kubelet(
                ip=found.node_ip,
                name=found.node_name,
                port=found.node_port,
                address=found.kubelet_address,
                features=found.kubelet_features,
            ),
            started=found.started,
            manager=found.manager,
        ),
        random=Random(),
    )


def _name(body: dict[str, Json]) -> str:
    return str((body.get("metadata") or {}).get("name") or "")


def _is_for(kind: str, body: dict[str, Json]) -> bool:
    reference = (body.get("spec") or {}).get("resourceRef") or {}
    return reference.get("kind") == kind and (reference.get("apiGroup") or "v1") == "v1"


def _is_by_chance(body: dict[str, Json]) -> bool:
    """Return whether a Stage matches by chance; such a condition must be evaluated only once."""
    selector = (body.get("spec") or {}).get("selector") or {}
    expressions = selector.get("matchExpressions") or ()
    return any("Rand" in str((each.get("cel") or {}).get("expression")) for each in expressions)


def _document(body: dict[str, Json]) -> Document:
    version = str(body.get("apiVersion") or "")
    return Document(
        kind="Stage", api_version=version, name=_name(body), body=body, source="the controller"
    )


async def _follow(controller: ControllerClient, generation: str, kubelet: InMemoryKubelet) -> None:
    """Ask repeatedly whether the Stages are still the same, until cancelled."""
    while True:
        await asyncio.sleep(_ASK_EVERY)
        try:
            kubelet.is_current = await controller.generation() == generation
        except RequestError:
            kubelet.is_current = False
