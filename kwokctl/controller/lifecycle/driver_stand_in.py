"""Prepares the ResourceClaims of pods that start, in place of DRA drivers: their devices are reported as ready."""

import logging
from collections.abc import Collection
from http import HTTPStatus

import orjson

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.lifecycle.admission.device_table import Devices
from kwokctl.controller.lifecycle.admission.resource_claims import (
    claim_names,
    devices_through,
    is_reserved,
    report_of,
)
from kwokctl.controller.write_errors import error_kind
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import RequestError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import Resource
from kwokctl.kube.stored_json import ObjectInJson

log = logging.getLogger(__name__)

CLAIMS = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", namespaced=True)


class UnpreparedError(Exception):
    """The claims of a pod cannot be prepared yet, in the words of a kubelet."""


class DriverStandIn:
    """Reads the claims of a pod, and writes what their drivers would.

    A claim that says already that its devices are ready is not written.
    """

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._told: set[str] = set()

    async def prepare(self, pod: ObjectInJson, drivers: Collection[str]) -> Devices:
        """Return the devices of these drivers that a pod has now.

        Raises UnpreparedError, or RequestError if the same may succeed later. What the user of the controller
        may not read or write is left out: that stops no pod.
        """
        claims: dict[str, ObjectInJson] = {}
        try:
            for name, object_name in claim_names(pod):
                claim = await self._read(pod, object_name)
                if claim is not None:
                    claims[name] = claim
        except ValueError as e:
            raise UnpreparedError(str(e)) from e
        for claim in claims.values():
            await self._report(claim, drivers)
        return devices_through(pod, claims, drivers)

    async def _read(self, pod: ObjectInJson, name: str) -> ObjectInJson | None:
        meta = pod["metadata"]
        try:
            raw = await self._context.reader.get(ObjectKey(CLAIMS, meta["namespace"], name))
        except RequestError as e:
            if e.status == HTTPStatus.NOT_FOUND and e.reason == "NotFound":
                raise UnpreparedError(f"fetch ResourceClaim {name}: {e}") from e
            self._go_without(e)
            return None
        claim: ObjectInJson = orjson.loads(raw)
        if not is_reserved(claim, pod):
            own, other = meta["uid"], claim["metadata"]["uid"]
            raise UnpreparedError(
                f"pod {meta['name']} ({own}) is not allowed to use ResourceClaim {name} ({other})"
            )
        return claim

    async def _report(self, claim: ObjectInJson, drivers: Collection[str]) -> None:
        devices = report_of(claim, drivers, self._context.wall())
        if devices is None:
            return
        meta = claim["metadata"]
        document: dict[str, Json] = {
            "apiVersion": CLAIMS.api_version,
            "kind": CLAIMS.kind,
            "metadata": {name: meta[name] for name in ("name", "namespace", "uid")},
            "status": {"devices": devices},
        }
        patch = Patch(document=document, type=PatchType.APPLY, subresource="status")
        try:
            await self._context.plane.patch(
                ObjectKey(CLAIMS, meta["namespace"], meta["name"]), patch
            )
        except RequestError as e:
            self._go_without(e)
        else:
            self._context.metrics.count("kwok_controller_writes_total", verb="patch")

    def _go_without(self, error: RequestError) -> None:
        """Say once what is refused; raise what may succeed later."""
        kind = error_kind(error)
        if not kind.is_lasting:
            raise error
        if error.reason in self._told or self._context.rights.is_known(error):
            return
        self._told.add(error.reason)
        log.warning(
            "pods start without what a DRA driver reports of their claims: %s%s (logged once)",
            error,
            f"; {error.hint}" if error.hint else "",
        )
