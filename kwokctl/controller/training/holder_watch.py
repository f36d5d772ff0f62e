"""Follows the Jobs and JobSets of a cluster, once a pod says that it trains."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing

import msgspec

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.decoded import SelectableMetadata, version_of
from kwokctl.controller.known_trainings.rank_reader import HolderKey
from kwokctl.controller.known_trainings.trainings import Holder
from kwokctl.controller.object_warnings import COMPONENT
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.expr.duration import parse_time
from kwokctl.fleet.gangs import JOB_SETS
from kwokctl.fleet.gangs import JOBS as JOBS_NAME
from kwokctl.kube.client import Client
from kwokctl.kube.collections.served import while_served
from kwokctl.kube.collections.watch import EventType, watch
from kwokctl.kube.resource import JOBS, Resource
from kwokctl.retry import until_answered
from kwokctl.training.plan import OF_PLANS, STEPS
from kwokctl.training.preflight import PREFLIGHT, PREFLIGHT_TIMEOUT
from kwokctl.training.state import state_in

log = logging.getLogger(__name__)

PLANNED = frozenset({*OF_PLANS, PREFLIGHT, PREFLIGHT_TIMEOUT})
"""The annotations that count where pods have them, and nowhere else."""
_REASON = "IgnoredAnnotations"
_JOB_SET = ("jobset.x-k8s.io/v1alpha2", "JobSet")


class _HolderMetadata(SelectableMetadata, rename="camel"):
    creation_timestamp: str = ""


class _Annotated(msgspec.Struct, gc=False):
    annotations: dict[str, str] | None = None


class _PodTemplate(msgspec.Struct, gc=False):
    metadata: _Annotated = msgspec.field(default_factory=_Annotated)


class _JobSpec(msgspec.Struct, gc=False):
    parallelism: int = 1
    completions: int | None = None
    template: _PodTemplate = msgspec.field(default_factory=_PodTemplate)

    @property
    def said(self) -> frozenset[str]:
        """The annotations of its pods, by their names."""
        return frozenset(self.template.metadata.annotations or ())

    @property
    def size(self) -> int:
        """The number of its pods that train together; 0 if they do not, as those of a driver of others."""
        said = self.said
        if STEPS not in said and PREFLIGHT not in said:
            return 0
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


class _Job(msgspec.Struct, gc=False):
    metadata: _HolderMetadata
    spec: _JobSpec = msgspec.field(default_factory=_JobSpec)

    @property
    def size(self) -> int:
        return self.spec.size

    @property
    def said(self) -> frozenset[str]:
        return self.spec.said


class _JobTemplate(msgspec.Struct, gc=False):
    spec: _JobSpec = msgspec.field(default_factory=_JobSpec)


class _ReplicatedJob(msgspec.Struct, gc=False):
    replicas: int = 1
    template: _JobTemplate = msgspec.field(default_factory=_JobTemplate)

    @property
    def size(self) -> int:
        return self.replicas * self.template.spec.size


class _JobSetSpec(msgspec.Struct, gc=False, rename="camel"):
    replicated_jobs: list[_ReplicatedJob] = []


class _JobSet(msgspec.Struct, gc=False):
    metadata: _HolderMetadata
    spec: _JobSetSpec = msgspec.field(default_factory=_JobSetSpec)

    @property
    def size(self) -> int:
        return sum(each.size for each in self.spec.replicated_jobs)

    @property
    def said(self) -> frozenset[str]:
        return frozenset().union(*(each.template.spec.said for each in self.spec.replicated_jobs))


_Kind = type[_Job] | type[_JobSet]
_SHAPES: Mapping[str, _Kind] = {JOBS_NAME: _Job, JOB_SETS: _JobSet}


class HolderWatch:
    """Tells the trainings what Jobs and JobSets say. Without a pod that trains it asks for nothing."""

    def __init__(
        self, client: Client, context: ControllerContext, is_mine: Callable[[], bool]
    ) -> None:
        """Watch with `client`; `is_mine` says whether this controller is the one of several that warns."""
        self._client = client
        self._is_mine = is_mine
        self._context = context
        self._trainings = context.trainings
        self._random = context.random
        self._warned: set[str] = set()
        """The Jobs and JobSets, by uid, that were told that some of their annotations do nothing."""
        self.resources: dict[str, Resource] = {}
        """The resource of each kind that is followed."""

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._jobs())
            tasks.create_task(self._job_sets())

    async def _jobs(self) -> None:
        await self._trainings.kinds[JOBS_NAME].wait()
        await until_answered(lambda: self._follow(JOBS_NAME, JOBS), self._random)

    async def _job_sets(self) -> None:
        await self._trainings.kinds[JOB_SETS].wait()

        async def follow(resource: Resource) -> None:
            await until_answered(lambda: self._follow(JOB_SETS, resource), self._random)

        await while_served(self._client, _JOB_SET, follow, lambda: None, self._random)

    async def _follow(self, kind: str, resource: Resource) -> None:
        self.resources[kind] = resource
        events = watch(
            self._client.pool,
            resource,
            decoder=msgspec.json.Decoder(_SHAPES[kind]).decode,
            while_served=kind == JOB_SETS,
        )
        async with aclosing(events) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is not None:
                        is_gone = event.type is EventType.DELETED
                        self._note(kind, event.object, is_gone=is_gone)

    def _note(self, kind: str, found: _Job | _JobSet, *, is_gone: bool) -> None:
        meta = found.metadata
        key = HolderKey(kind, meta.namespace, meta.name)
        if is_gone:
            self._warned.discard(meta.uid)
        elif meta.uid not in self._warned and self._is_mine():
            self._warn(kind, found)
        if is_gone or not found.size:  # all others need not be known
            self._trainings.hold(key, None)
            return
        holder = Holder(
            uid=meta.uid,
            version=version_of(meta),
            created=parse_time(meta.creation_timestamp),
            size=found.size,
            state=state_in(meta.annotations or {}),
        )
        self._trainings.hold(key, holder)

    def _warn(self, kind: str, found: _Job | _JobSet) -> None:
        """Warn of annotations that stand where no pod gets them."""
        meta = found.metadata
        idle = sorted((PLANNED & (meta.annotations or {}).keys()) - found.said)
        if not idle:
            return
        self._warned.add(meta.uid)
        names = ", ".join(f"'{each}'" for each in idle)
        problem = f"no effect here: {names}; write them into the template of the pods"
        log.warning("'%s/%s' of %s: %s", meta.namespace, meta.name, kind, problem)
        self._context.warnings.put(
            ObjectEvent(
                resource=self.resources[kind],
                about_namespace=meta.namespace,
                about=meta.name,
                uid=meta.uid,
                version=meta.resource_version,
                type="Warning",
                reason=_REASON,
                message=problem,
                component=COMPONENT,
                at=self._context.wall(),
            )
        )
