"""Plays single steps of a Stage on one object."""

from collections.abc import Callable, Mapping, Sequence

import orjson

from kwokctl.controller.engine import stage_patches
from kwokctl.controller.engine.node_conditions import ConditionComposer
from kwokctl.controller.engine.object_events import about
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.object_reader import ObjectReader
from kwokctl.controller.stages.compiled_stage import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizersStep,
    PatchStep,
    Step,
)
from kwokctl.controller.stages.patch_root import rooted
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.port import KubeletWriter, ObjectKey, Patch
from kwokctl.embedded.process_metrics import Metrics
from kwokctl.embedded.resource_metrics import with_path
from kwokctl.errors import ApiError, ExpressionError
from kwokctl.faults.overlays.node_writes import change_of, started_anew, with_transitions
from kwokctl.faults.overlays.overlay import overlay
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES, Resource
from kwokctl.kube.stored_json import ObjectInJson


class StepPlayer:
    """Writes the result of a step of a Stage, unless it would change nothing."""

    def __init__(
        self,
        plane: KubeletWriter,
        reader: ObjectReader,
        metrics: Metrics,
        wall: Callable[[], float],
        faults: OpenFaults,
    ) -> None:
        """Write through `plane`; `wall` is the time of day for Events.

        What `faults` show on a node stays visible when a Stage writes the same fields.
        """
        self._faults = faults
        self._plane = plane
        self._direct = plane.direct
        self._reader = reader
        self._metrics = metrics
        self._wall = wall
        self._conditions = ConditionComposer()

    async def play(
        self,
        steps: Sequence[Step],
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> tuple[int, ObjectInJson | None]:
        """Play the first step, or an Event together with the patch after it if one write can do both.

        Returns the number of steps played, and the stored object if it was patched, else None.
        `value` is the present object. Raises RequestError when the cluster refuses, and
        ExpressionError when a template's result cannot be sent.
        """
        if len(steps) > 1 and isinstance(steps[0], EventStep) and isinstance(steps[1], PatchStep):
            answer = await self._event_and_patch(steps[0], steps[1], target, value, functions)
            if answer is not None:
                return 2, answer
        return 1, await self._play(steps[0], target, value, functions)

    async def _play(
        self, step: Step, target: ObjectKey, value: ObjectInJson, functions: Mapping[str, object]
    ) -> ObjectInJson | None:
        match step:
            case PatchStep():
                return await self._patch(step, target, value, functions)
            case DeleteStep():
                await self._delete(target, value)
            case EventStep():
                await self._event(step, target, value)
            case FinalizersStep():
                return await self._finalizers(step, target, value)
            case ApplyStep():
                await self._apply(step, target, value, functions)
        return None

    async def _event_and_patch(
        self,
        event: EventStep,
        step: PatchStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> ObjectInJson | None:
        """Create an Event and patch the object in one write; None if that is impossible, or changes nothing."""
        if self._direct is None:
            return None
        try:
            patch = self._rendered(step, target, value, functions)
        except ExpressionError:
            return (
                None  # the Event is created first, and the error is raised when the patch is played
            )
        if patch is None:
            return None
        about = self._about(event, target, value)
        answer = await self._direct.patch_and_record(target, patch, about, current=value)
        if answer is not None:
            self._metrics.count("kwok_controller_writes_total", verb="event")
            self._metrics.count("kwok_controller_writes_total", verb="patch")
        return answer

    async def _patch(
        self,
        step: PatchStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> ObjectInJson | None:
        patch = self._rendered(step, target, value, functions)
        if patch is None:
            self._metrics.count("kwok_controller_writes_saved_total", verb="patch")
            return None
        self._metrics.count("kwok_controller_writes_total", verb="patch")
        return await self._plane.patch(target, patch, current=value)

    def _rendered(
        self,
        step: PatchStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> Patch | None:
        """Return the patch of a step; None if it changes nothing."""
        if target.resource == NODES and self._faults.concerns(value):
            return self._beneath_faults(step, target, value, functions)
        return self._plain(step, target, value, functions)

    def _beneath_faults(
        self,
        step: PatchStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> Patch | None:
        """Return the patch of a step that is played on what lies beneath the faults of a node."""
        now = self._wall()
        patch = self._plain(step, target, self._faults.beneath(value), functions)
        if patch is None or patch.result is None or step.subresource not in ("", "status"):
            return patch
        shown = overlay(patch.result, self._faults.shown(patch.result).open, now)
        after = started_anew(value, with_transitions(value, shown))
        document = change_of(value, after, step.subresource)
        if not document:
            return None
        meta = value["metadata"]
        same = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
        document["metadata"] = {**document.get("metadata", {}), **same}
        return Patch(
            document=document,
            type=PatchType.MERGE,
            subresource=step.subresource,
            as_user=step.as_user,
        )

    def _plain(
        self,
        step: PatchStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> Patch | None:
        document = rooted(step.template.render_object(value, functions), step.root, step.type)
        if step.subresource == "status" and target.resource == NODES:
            document = self._conditions.compose(value, document, step.type, self._wall())
            document = with_path(value, document, step.type)
        result = stage_patches.result_of(value, document, step.type, target.resource.kind)
        if result is value:
            return None
        if step.subresource in {"", "status"}:
            document = stage_patches.with_uid(document, value["metadata"]["uid"], step.type)
        return Patch(
            document=document,
            type=step.type,
            subresource=step.subresource,
            as_user=step.as_user,
            result=result,
        )

    async def _finalizers(
        self, step: FinalizersStep, target: ObjectKey, value: ObjectInJson
    ) -> ObjectInJson | None:
        metadata = value["metadata"]
        current = metadata.get("finalizers") or []
        wanted = stage_patches.finalizers_after(
            current, add=step.add, remove=step.remove, empty=step.empty
        )
        if wanted == current:
            self._metrics.count("kwok_controller_writes_saved_total", verb="patch")
            return None
        document = {
            "metadata": {
                "finalizers": wanted,
                "resourceVersion": metadata["resourceVersion"],
                "uid": metadata["uid"],
            }
        }
        self._metrics.count("kwok_controller_writes_total", verb="patch")
        patch = Patch(document=document, type=PatchType.MERGE)
        return await self._plane.patch(target, patch, current=value)

    async def _delete(self, target: ObjectKey, value: ObjectInJson) -> None:
        metadata = value["metadata"]
        if (
            metadata.get("deletionTimestamp")
            and metadata.get("finalizers")
            and not metadata.get("deletionGracePeriodSeconds")
        ):
            self._metrics.count("kwok_controller_writes_saved_total", verb="delete")
            return
        self._metrics.count("kwok_controller_writes_total", verb="delete")
        await self._plane.delete(target, grace_seconds=0, uid=metadata["uid"], current=value)

    async def _event(self, step: EventStep, target: ObjectKey, value: ObjectInJson) -> None:
        event = self._about(step, target, value)
        self._metrics.count("kwok_controller_writes_total", verb="event")
        await self._plane.record(event)

    def _about(self, step: EventStep, target: ObjectKey, value: ObjectInJson) -> ObjectEvent:
        metadata = value["metadata"]
        return about(step, target, metadata["uid"], metadata["resourceVersion"], self._wall())

    async def _apply(
        self,
        step: ApplyStep,
        target: ObjectKey,
        value: ObjectInJson,
        functions: Mapping[str, object],
    ) -> None:
        document = step.template.render_object(value, functions)
        applied = await self._applied(document, target)
        body = orjson.dumps(document)
        self._metrics.count("kwok_controller_writes_total", verb="apply")
        if not step.subresource:
            try:
                await self._plane.create(
                    applied.resource, applied.namespace, body, as_user=step.as_user
                )
            except ApiError as e:
                if e.reason != "AlreadyExists":
                    raise
            else:
                return
        patch = Patch(
            document=document,
            type=step.type,
            subresource=step.subresource,
            as_user=step.as_user,
        )
        await self._plane.patch(applied, patch)

    async def _applied(self, document: Json, source: ObjectKey) -> ObjectKey:
        """Return the key of a rendered object; its namespace defaults to that of `source`."""
        if not isinstance(document, dict):
            raise ExpressionError("an apply step rendered something that is not an object")
        metadata = document.get("metadata") or {}
        words = document.get("apiVersion"), document.get("kind"), metadata.get("name")
        if not all(isinstance(word, str) and word for word in words):
            raise ExpressionError(
                "an apply step rendered an object without 'apiVersion', 'kind' and 'metadata.name'"
            )
        api_version, kind, name = map(str, words)
        resource: Resource = await self._reader.resolve(api_version, kind)
        namespace = None
        if resource.namespaced:
            namespace = metadata.get("namespace") or source.namespace or "default"
        return ObjectKey(resource, namespace, name)
