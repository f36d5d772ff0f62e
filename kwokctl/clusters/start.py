"""Starts a cluster that exists."""

from dataclasses import replace
from functools import partial

from kwokctl.clusters.launching.custom_resources import install_definitions
from kwokctl.clusters.launching.launch import Patience, bring_up
from kwokctl.clusters.launching.ports import held_ports, portless
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.state.data_folders import forget_former, settle
from kwokctl.clusters.state.files import write_files
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import starting
from kwokctl.clusters.state.saved import Saved, load, version_remark
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import Runtime


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
        runtime = home.runtime(saved.options.runtime)
        await runtime.check()
        return await start_saved(home, runtime, saved, wait=wait, timeout=timeout)


async def start_saved(
    home: Home,
    runtime: Runtime,
    saved: Saved,
    *,
    wait: float | None,
    timeout: float | None = None,
) -> tuple[ComponentName, ...]:
    """Start the components of a cluster that do not run; the caller holds its lock."""
    settle(home.paths(saved.name))
    found = await artifacts(home, runtime, saved.options, saved.names, saved.artifacts)
    saved = replace(saved, artifacts=found)
    missing = await portless(runtime, saved.name, saved.names)
    with held_ports(home, saved.name, saved.options, missing) as (_, held):
        plan = write_files(home, runtime, saved)
        await runtime.install(plan)
        prepare = partial(install_definitions, home, saved)
        started = await bring_up(home, runtime, plan, held, Patience(timeout, wait), prepare)
    # The API answers: the data that a killed restore has left in place work.
    forget_former(home.paths(saved.name))
    return started
