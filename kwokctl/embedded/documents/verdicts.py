"""Notes in the status of custom resources which of them cannot be used, and why."""

import asyncio
import logging
from collections.abc import Callable, Mapping

import msgspec

from kwokctl.config.document_kinds import API_VERSIONS
from kwokctl.errors import KwokctlError
from kwokctl.expr.duration import format_time
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType

log = logging.getLogger(__name__)

Bodies = Mapping[str, Mapping[str, Json]]
"""Custom resources as JSON, by their keys: "name", or "namespace/name"."""
ACCEPTED = "Accepted"
"""The type of the condition."""


class Verdicts:
    """Writes a condition to those that are wrong, and to those that were and are not any more.

    All others stay as they are: a Stage for Stages may look at the conditions, too.
    """

    def __init__(self, client: Client, kind: str, wall: Callable[[], float]) -> None:
        """Write with `client`; `wall` is the time of day."""
        self._client = client
        self._kind = kind
        self._wall = wall
        self._waiting: dict[str, tuple[Mapping[str, Json], Mapping[str, Json]]] = {}
        self._any = asyncio.Event()

    def note(self, bodies: Bodies, refused: Mapping[str, str]) -> None:
        """Write what is wrong with those that are `refused`, by their keys."""
        self._waiting = {
            key: (body, condition)
            for key, body in bodies.items()
            if (condition := self._condition(body, refused.get(key))) is not None
        }
        if self._waiting:
            self._any.set()

    async def run(self) -> None:
        """Write until cancelled; what cannot be written is logged."""
        while True:
            await self._any.wait()
            self._any.clear()
            while self._waiting:
                key = next(iter(self._waiting))
                body, condition = self._waiting.pop(key)
                try:
                    await self._write(body, condition)
                except KwokctlError as e:  # a newer version comes with the watch
                    log.debug("the status of %s %r cannot be written: %s", self._kind, key, e)

    def _condition(
        self, body: Mapping[str, Json], problem: str | None
    ) -> Mapping[str, Json] | None:
        """Return the condition that an object needs; None if it has that, or needs none."""
        before = next((each for each in _conditions(body) if each.get("type") == ACCEPTED), None)
        if problem is None and before is None:
            return None
        wanted = {
            "type": ACCEPTED,
            "status": "True" if problem is None else "False",
            "reason": "Valid" if problem is None else "Invalid",
            "message": problem or "",
            "observedGeneration": body["metadata"].get("generation", 0),
        }
        if before is not None and wanted.items() <= before.items():
            return None
        return {**wanted, "lastTransitionTime": self._since(before, wanted["status"])}

    def _since(self, before: Mapping[str, Json] | None, status: Json) -> Json:
        if before is not None and before.get("status") == status:
            return before.get("lastTransitionTime")
        return format_time(self._wall())

    async def _write(self, body: Mapping[str, Json], condition: Mapping[str, Json]) -> None:
        metadata = body["metadata"]
        others = [each for each in _conditions(body) if each.get("type") != ACCEPTED]
        patch = {
            "metadata": {"resourceVersion": metadata["resourceVersion"]},
            "status": {"conditions": [*others, condition]},
        }
        resource = await self._client.resource_for(API_VERSIONS[self._kind], self._kind)
        path = resource.path(metadata.get("namespace"), metadata["name"], "status")
        await self._client.call(
            "PATCH", path, msgspec.json.encode(patch), content_type=PatchType.MERGE
        )


def _conditions(body: Mapping[str, Json]) -> list[Json]:
    return (body.get("status") or {}).get("conditions") or []
