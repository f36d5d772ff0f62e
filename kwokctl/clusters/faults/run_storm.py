"""Runs a schedule of faults: stores its plan in the cluster, where the controller plays it."""

from collections.abc import Callable
from contextlib import aclosing, suppress

import msgspec

from kwokctl.clusters.faults.inject import catalogue_of, serve
from kwokctl.clusters.faults.inject_request import documents_of
from kwokctl.clusters.faults.object_versions import object_versions
from kwokctl.clusters.faults.reaching import FaultCluster, demand_player, fault_cluster
from kwokctl.clusters.faults.schedule_reports import ScheduleReport, reports_of
from kwokctl.clusters.faults.stop_storm import remove_storm
from kwokctl.clusters.faults.stored_schedules import decode_schedule
from kwokctl.clusters.faults.storm_plans import PlannedStorm, storm_in
from kwokctl.clusters.objects.apply import apply_all
from kwokctl.clusters.state.home import Home
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import FAULT_SCHEDULE, OWN
from kwokctl.errors import ApiError, ConflictError, TimedOutError
from kwokctl.expr.duration import parse_duration
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.storms.plan_pages import in_pages, plan_page, plan_rows
from kwokctl.faults.storms.schedule_reader import Schedule
from kwokctl.faults.storms.stored_schedule import OVER, ScheduleStatus, StoredSchedule
from kwokctl.faults.storms.storm_faults import page_body
from kwokctl.kube.client import PatchType
from kwokctl.kube.names import LABEL_RULE, is_label
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES
from kwokctl.model import ClusterName
from kwokctl.tasks import for_each
from kwokctl.waits import Standstill, after, bounded

_EXISTS = 409
_LONGEST_NAME = 56
"""Characters: a Fault has the name of its schedule and seven more."""
_PAGES_TOGETHER = 16


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule that is to run."""

    document: Document
    documents: tuple[Document, ...]
    """The user's classes and dialects."""
    name: str = ""
    """The name of the FaultSchedule; without one, that of the document."""
    wait: float | Standstill | None = None
    """Seconds until it must be over; None not to wait, and a standstill is the time after its horizon."""


async def run_storm(
    home: Home, name: ClusterName, request: RunRequest, wall: Callable[[], float]
) -> ScheduleReport:
    """Make a FaultSchedule with its plan, and wait for its end if that is wanted; `wall` returns the time of day.

    Raises ConfigError for one that makes no sense, NotFoundError if it hits no node, ConflictError if there is one of its name, and TimedOutError
    if it is not over in time; then it goes on.
    """
    async with fault_cluster(home, name) as cluster:
        demand_player(cluster)
        catalogue = await catalogue_of(cluster, request.documents)
        storm = await storm_in(cluster, request.document, catalogue)
        schedule_name = _checked_name(request)
        for notice in notices(storm):
            home.progress.warn(notice)
        await serve(cluster, FAULT_SCHEDULES)
        await _apply_documents(cluster, storm.schedule, catalogue, request)
        made = await _create(cluster, request.document, schedule_name)
        try:
            made = await _store_plan(cluster, made, storm)
        except BaseException:  # without its plan it would wait for ever, and keep its name
            with suppress(ApiError):
                await remove_storm(cluster.client, made)
            raise
        if request.wait is not None:
            made = await _over(cluster, made, request.wait)
        [report] = await reports_of(cluster, [made], wall)
    return report


def notices(storm: PlannedStorm) -> list[str]:
    """Return warnings about what may surprise: clocks that do not scale, and processes without a unit."""
    found = [f"the process '{name}' has no unit on these nodes" for name in storm.plan.empty]
    if (scale := storm.schedule.spec.time_scale) != 1:
        found.append(
            f"timeScale is {scale:g}: the schedule and the signals of its faults are faster by it, and all other clocks are not: those of "
            "kube-controller-manager (nodes are Unknown after 50 s, evictions after 300 s more), kube-scheduler, Jobs, Stages, kubelets, and your own "
            "programs; do not add up seconds of both"
        )
    return found


def _checked_name(request: RunRequest) -> str:
    found = request.name or request.document.name
    if not found:
        raise request.document.fault(
            "metadata.name", "is missing", hint="give one, or give --id NAME"
        )
    if not is_label(found) or len(found) > _LONGEST_NAME:
        hint = f"{LABEL_RULE}; at most {_LONGEST_NAME} characters"
        raise request.document.fault("metadata.name", f"is '{found}'", hint=hint)
    return found


async def _apply_documents(
    cluster: FaultCluster, schedule: Schedule, catalogue: FaultCatalogue, request: RunRequest
) -> None:
    """Give the cluster those of the user's classes and dialects that the schedule needs."""
    classes = {each.class_name for each in schedule.processes}
    used = documents_of(classes, schedule.spec.dialects, catalogue, request.documents)
    await apply_all(cluster.client, [each.body for each in used])


async def _create(cluster: FaultCluster, document: Document, name: str) -> StoredSchedule:
    meta = document.body.get("metadata") or {}
    kept = {key: meta[key] for key in ("labels", "annotations") if key in meta}
    body = {
        "apiVersion": OWN,
        "kind": FAULT_SCHEDULE,
        "metadata": {**kept, "name": name},
        "spec": document.body["spec"],
    }
    try:
        return decode_schedule(
            await cluster.client.create(FAULT_SCHEDULES, None, msgspec.json.encode(body))
        )
    except ApiError as e:
        if e.status != _EXISTS:
            raise
        this = f"kwokctl --name {cluster.saved.name} fault"
        raise ConflictError(
            f"there is a FaultSchedule '{name}' already",
            hint=f"choose another --id, or remove it with its faults: {this} clear --schedule {name}",
        ) from e


async def _store_plan(
    cluster: FaultCluster, made: StoredSchedule, storm: PlannedStorm
) -> StoredSchedule:
    """Store the plan, and then the status that lets it begin."""
    meta, faults = made.metadata, storm.plan.faults
    pages = list(in_pages(plan_rows(faults)))
    firsts = [0]
    for page in pages:
        firsts.append(firsts[-1] + len(page))
    with cluster.home.progress.step("Storing the plan", total=len(pages), unit="pages") as step:

        async def store(number: int) -> None:
            name = plan_page(meta.name, meta.uid, number)
            body = page_body(name, meta, firsts[number], pages[number])
            await cluster.client.create(FAULT_PAGES, None, body)
            step.advance()

        await for_each(range(len(pages)), store, at_once=_PAGES_TOGETHER)
    status = ScheduleStatus(planned=len(faults), pages=len(pages), nodes=storm.nodes)
    patch = {
        "metadata": {"uid": meta.uid},
        "status": {"phase": status.phase, **msgspec.to_builtins(status)},
    }
    path = FAULT_SCHEDULES.path(None, meta.name, "status")
    body = msgspec.json.encode(patch)
    return decode_schedule(
        await cluster.client.call("PATCH", path, body, content_type=PatchType.MERGE)
    )


async def _over(cluster: FaultCluster, made: StoredSchedule, seconds: float) -> StoredSchedule:
    """Return the schedule once it is over; errors as `run_storm`."""
    spec, last = made.spec, [made]
    following = object_versions(cluster.client, FAULT_SCHEDULES, made, decode_schedule)
    limit = seconds
    if isinstance(seconds, Standstill):
        limit = Standstill(parse_duration(spec.horizon) / spec.time_scale + seconds)
    title = f"Waiting until the schedule '{made.metadata.name}' is over"
    try:
        with cluster.home.progress.step(title, total=made.status.planned, unit="faults") as step:
            async with bounded(limit), aclosing(following) as versions:
                async for found in versions:
                    step.advance(found.status.next - last[-1].status.next)
                    last.append(found)
                    if found.status.phase in OVER:
                        break
    except TimeoutError:
        status = last[-1].status
        raise TimedOutError(
            f"{after(seconds)} {status.next} of {status.planned} faults of the schedule '{made.metadata.name}' have come",
            hint=f"it goes on; look at it with: kwokctl --name {cluster.saved.name} fault status --schedules",
        ) from None
    return last[-1]
