"""Measures a run: records a cluster while loads or a command work on it, until nothing moves any more."""

import time
from pathlib import Path

from kwokctl.clusters.object_files.exporting.export import ExportSource
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import load
from kwokctl.clusters.tools import environment
from kwokctl.load.past_api.way import way_into
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.run_clock import RunClock
from kwokctl.measure.running.own_components import components_of
from kwokctl.measure.running.preparing import prepared
from kwokctl.measure.running.request import MeasuredCluster, MeasureRequest
from kwokctl.measure.running.whole_objects import recording_whole
from kwokctl.measure.sampling.audit_event import RECORDER_AGENT
from kwokctl.measure.sampling.metric_sources import open_sources
from kwokctl.model import ClusterName
from kwokctl.progress import Progress
from kwokctl.tasks import until_its_end


async def measure_own(home: Home, name: ClusterName, request: MeasureRequest) -> History:
    """Measure a run in a cluster of this kwokctl, and return what its record says.

    An interrupt ends it, once everything is watched; what was recorded until then is kept.
    """
    return await measure(own_cluster(home, name), request, home.progress)


async def measure_any(kubeconfig: Path, request: MeasureRequest, progress: Progress) -> History:
    """Measure a run in any cluster, likewise."""
    return await measure(any_cluster(kubeconfig), request, progress)


def own_cluster(home: Home, name: ClusterName) -> MeasuredCluster:
    """Return a cluster of this kwokctl; NotFoundError if there is none of this name."""
    paths = home.paths(name)
    saved = load(paths, name)
    return MeasuredCluster(
        saved=saved,
        components=components_of(home, saved),
        kubeconfig=paths.own_kubeconfig,
        environment=environment(home, name),
        way=way_into(home, name),
    )


def any_cluster(kubeconfig: Path) -> MeasuredCluster:
    """Return the cluster of a kubeconfig."""
    return MeasuredCluster(kubeconfig=kubeconfig, environment={"KUBECONFIG": str(kubeconfig)})


async def measure(cluster: MeasuredCluster, request: MeasureRequest, progress: Progress) -> History:
    """Measure a run in a cluster, likewise."""
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    source = ExportSource(kubeconfig=cluster.kubeconfig)
    missing: dict[str, str] = {}
    async with (
        source.connected(user_agent=RECORDER_AGENT) as (access, pool),
        open_sources(cluster.components, pool, missing) as sources,
    ):
        run = await prepared(cluster, request, sources, RunClock(wall), missing)
        with RecordWriter(request.record) as writer, progress.step("Measuring") as step:
            writer.begin(run.history.header)
            run.writer = writer
            async with recording_whole(source, request, run.kinds):
                work = run.work(access, progress, step)
                await until_its_end(work, None, has_begun=lambda: "begin" in run.history.moments)
            run.conclude()
    return run.history
