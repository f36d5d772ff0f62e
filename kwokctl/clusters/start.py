"""Starts a cluster that exists."""

from collections.abc import Awaitable, Callable

from kwokctl.clusters.launching.custom_resources import enabled_kinds, install_definitions
from kwokctl.clusters.launching.launch import Patience, bring_up, got
from kwokctl.clusters.launching.ports import held_ports, portless
from kwokctl.clusters.launching.probe_node import demand_ready_node
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.data_folders import forget_former, settle
from kwokctl.clusters.state.half_copies import demand_whole
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import starting
from kwokctl.clusters.state.saved import Saved, load, version_remark
from kwokctl.model import KWOK_CONTROLLER, KWOK_KUBELET, ClusterName, ComponentName
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime

_NO_KUBELET = (
    "an older kwokctl created the cluster without a kubelet server: 'kubectl logs', 'exec' and 'top' show "
    "nothing of its pods until the cluster is created again"
)


async def start_cluster(
    home: Home,
    name: ClusterName,
    *,
    wait: float | None = None,
    timeout: float | None = None,
) -> tuple[ComponentName, ...]:
    """Start the components that do not run, of a stopped cluster or not; return their names."""
    with starting(home.workdir, name):
        saved = load(home.paths(name), name)
        if remark := version_remark(saved):
            home.progress.warn(remark)
        if _is_older(saved):
            home.progress.warn(_NO_KUBELET)
        runtime = home.runtime(saved.options.runtime)
        await runtime.check()
        started = await start_saved(home, runtime, saved, wait=wait, timeout=timeout)
        await demand_ready_node(home, runtime, saved, wait)
        return started


def _is_older(saved: Saved) -> bool:
    """Return whether a cluster was created before there was a kubelet server."""
    is_given_up = KWOK_KUBELET in saved.options.selection.disable
    has_other = saved.options.component(KWOK_CONTROLLER).binary
    return KWOK_KUBELET not in saved.names and not is_given_up and not has_other


async def start_saved(
    home: Home,
    runtime: Runtime,
    saved: Saved,
    *,
    wait: float | None,
    timeout: float | None = None,
    before_controllers: Callable[[], Awaitable[None]] | None = None,
) -> tuple[ComponentName, ...]:
    """Start the components of a cluster that do not run; the caller holds its lock.

    `before_controllers` is awaited when etcd and the API server run, and nothing else does yet.
    """
    demand_whole(home.paths(saved.name), saved.name)
    settle(home.paths(saved.name))
    getting = artifacts(home, runtime, saved.options, saved.names, saved.artifacts)
    found, patience = await got(getting, Patience(timeout, wait))
    saved = replace(saved, artifacts=found)
    missing = await portless(runtime, saved.name, saved.names)
    with held_ports(home, saved.name, saved.options, missing) as (_, held):
        plan = write_files(home, runtime, saved)
        await runtime.install(plan)

        async def prepare() -> None:
            if before_controllers is not None:
                await before_controllers()
            await install_definitions(home, saved)

        early = not enabled_kinds(saved) and before_controllers is None
        started = await bring_up(home, runtime, plan, held, patience, prepare, early=early)
    # The API answers: the data that a killed restore has left in place work.
    forget_former(home.paths(saved.name))
    return started
