"""Stops a cluster and keeps its data."""

from contextlib import suppress

from kwokctl.clusters.launching.readiness import unready
from kwokctl.clusters.state.data_folders import forget_former, settle
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.state.saved import load
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ClusterName, ComponentName, Plan, State
from kwokctl.progress import Silent
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime


async def stop_cluster(home: Home, name: ClusterName) -> tuple[ComponentName, ...]:
    """Stop every component, each before those it uses; return those that ran."""
    with alone(home.workdir, name):
        paths = home.paths(name)
        saved = load(paths, name)
        runtime = home.runtime(saved.options.runtime)
        plan = saved.plan(runtime, paths)
        settle(paths)
        if paths.etcd_before_restore.exists() and not await unready(plan.components.values()):
            forget_former(paths)
        states = await runtime.states(name)
        running = tuple(each for each in saved.names if states.get(each) is State.RUNNING)
        # A component that does not run may be about to be restarted: it is stopped as well, but not shown.
        shown = home if running else replace(home, progress=Silent())
        _mark(paths)
        await stop_all(shown, runtime, plan)
        return running


def _mark(paths: ClusterPaths) -> None:
    """Note that components end because their user wants it; a full disk must not prevent that."""
    with suppress(OSError):
        paths.stopped.touch(mode=0o600)


async def stop_all(home: Home, runtime: Runtime, plan: Plan) -> None:
    """Stop the components of a plan, wave by wave; the caller holds the cluster's lock."""
    for wave in plan.stop_waves():
        names = [component.name for component in wave]
        with home.progress.step(f"Stopping {', '.join(names)}"):
            await runtime.stop(plan.cluster, *names)
