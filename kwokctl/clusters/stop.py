"""Stops a cluster and keeps its data."""

from kwokctl.clusters.data_folders import forget_former, settle
from kwokctl.clusters.home import Home
from kwokctl.clusters.ready import unready
from kwokctl.clusters.saved import load
from kwokctl.host.files import locked
from kwokctl.model import ClusterName, Plan
from kwokctl.runtime import Runtime


async def stop_cluster(home: Home, name: ClusterName) -> None:
    """Stop every component, each before those it uses; no effect on a stopped cluster."""
    with locked(home.workdir.cluster_lock(name), what=f"the cluster '{name}'"):
        paths = home.paths(name)
        saved = load(paths, name)
        runtime = home.runtime(saved.options.runtime)
        plan = saved.plan(runtime, paths)
        settle(paths)
        if paths.etcd_before_restore.exists() and not await unready(plan.components.values()):
            forget_former(paths)
        await stop_all(home, runtime, plan)


async def stop_all(home: Home, runtime: Runtime, plan: Plan) -> None:
    """Stop the components of a plan, wave by wave; the caller holds the cluster's lock."""
    for wave in plan.stop_waves():
        names = [component.name for component in wave]
        with home.progress.step(f"Stopping {', '.join(names)}"):
            await runtime.stop(plan.cluster, *names)
