"""The dry runs of `create`, `start`, `stop` and `delete cluster`, as steps of a script."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kwokctl.clusters.create import CreateRequest, compared
from kwokctl.clusters.dry_run.launch_steps import (
    ScriptedLaunch,
    cluster_objects,
    context_of,
    in_cluster,
    kubectl_of,
    lacking_parts,
    launching,
    outline,
    probed,
    stopping,
    tidied,
)
from kwokctl.clusters.dry_run.plumbing import plumbing
from kwokctl.clusters.dry_run.program_steps import Foreseen, foreseen
from kwokctl.clusters.launching.drafts import drafted, needed_programs
from kwokctl.clusters.launching.ports import held_ports, portless
from kwokctl.clusters.launching.readiness import unready
from kwokctl.clusters.programs.tools_last import tools_of
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.saved import Saved, cluster_names, is_foreign, load
from kwokctl.clusters.wanted import wanted_cluster
from kwokctl.errors import ConflictError
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import ClusterName, Plan, State
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime, WritesScripts
from kwokctl.script.steps import Action, Command, Comment

Steps = tuple[Action, ...]


async def create_steps(home: Home, request: CreateRequest) -> Steps:
    """Return what `create_cluster` would do; it raises the errors that can be foreseen."""
    wanted = wanted_cluster(home, request.resolved, request.documents)
    paths = home.paths(request.name)
    if request.kubeconfig:
        entries.check_mergeable(request.kubeconfig, context_name(request.name), paths.root)
    if paths.saved.is_file():
        return await _continue_steps(home, request)
    draft = await drafted(
        home, request.name, wanted, request.resolved, request.documents, is_plan=True
    )
    found = await foreseen(
        home, draft.runtime, draft.options, [*draft.needed, *tools_of(draft.options)]
    )
    with held_ports(home, request.name, draft.options, wanted.names) as (options, _):
        saved = draft.saved(options, found.artifacts)
    launch = _Launching(
        home=home, runtime=draft.runtime, saved=saved, wait=request.wait, timeout=request.timeout
    )
    return (
        *await launch.steps(found, is_new=True),
        *context_of(saved, request.kubeconfig),
    )


async def _continue_steps(home: Home, request: CreateRequest) -> Steps:
    saved, drift = compared(home, request)
    remarks = [Comment(f"The cluster exists with other settings: {each}") for each in drift]
    context = context_of(saved, request.kubeconfig)
    runtime = home.runtime(saved.options.runtime)
    await runtime.check()
    if await _is_up(home, runtime, saved):
        return (Comment("The cluster exists and runs."), *remarks, *context)
    needed = [*needed_programs(saved.options, saved.names), *tools_of(saved.options)]
    found = await foreseen(home, runtime, saved.options, needed, saved.artifacts)
    launch = _Launching(
        home=home, runtime=runtime, saved=saved, wait=request.wait, timeout=request.timeout
    )
    return (*remarks, *await launch.steps(found, is_new=True), *context)


async def start_steps(
    home: Home, name: ClusterName, *, wait: float | None = None, timeout: float | None = None
) -> Steps:
    """Return what `start_cluster` would do."""
    saved = load(home.paths(name), name)
    runtime = home.runtime(saved.options.runtime)
    await runtime.check()
    return await start_saved_steps(home, runtime, saved, wait=wait, timeout=timeout, is_probed=True)


async def start_saved_steps(
    home: Home,
    runtime: Runtime,
    saved: Saved,
    *,
    wait: float | None,
    timeout: float | None = None,
    is_probed: bool = False,
) -> Steps:
    """Return what `start_saved` would do."""
    found = await foreseen(home, runtime, saved.options, saved.names, saved.artifacts)
    missing = await portless(runtime, saved.name, saved.names)
    with held_ports(home, saved.name, saved.options, missing):
        pass  # a taken port is the error that it is for the command itself
    launch = _Launching(
        home=home, runtime=runtime, saved=saved, wait=wait, timeout=timeout, is_probed=is_probed
    )
    return await launch.steps(found, is_new=False)


async def stop_steps(home: Home, name: ClusterName) -> Steps:
    """Return what `stop_cluster` would do."""
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    plan = saved.plan(runtime, paths)
    if not isinstance(runtime, WritesScripts):
        return tuple(outline(plan, runtime, "stop"))
    work = await runtime.script(plan)
    return (
        in_cluster(paths),
        Command(("touch", str(paths.stopped))),
        *stopping(plan, work),
    )


async def delete_steps(
    home: Home, name: ClusterName, *, kubeconfig: Path | None, force: bool
) -> Steps:
    """Return what `delete_cluster` would do."""
    paths = home.paths(name)
    if not paths.saved.is_file():
        return (Comment(f"There is no cluster '{name}'."),)
    if is_foreign(paths) and not force:
        raise ConflictError(
            f"the cluster '{name}' was made by the original kwokctl",
            hint=f"to delete it anyway: kwokctl delete cluster --force --name {name}",
        )
    if is_foreign(paths):
        return (Comment(f"Remove '{paths.root}', and end what the original kwokctl runs there."),)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    plan = saved.plan(runtime, paths)
    if not isinstance(runtime, WritesScripts):
        return tuple(outline(plan, runtime, "delete"))
    work = await runtime.script(plan)
    context = ("remove-context", str(kubeconfig)) if kubeconfig else ()
    return (
        in_cluster(paths),
        Comment(f"End and remove {', '.join(plan.components)}."),
        *work.uninstall(),
        *((plumbing(name, *context),) if context else ()),
        Command(("rm", "-rf", *_folders(paths.sockets, paths.root))),
    )


async def delete_all_steps(home: Home, *, kubeconfig: Path | None, force: bool) -> Steps:
    """Return what `delete_all` would do."""
    own = [name for name in cluster_names(home.workdir) if not is_foreign(home.paths(name))]
    found = [await delete_steps(home, n, kubeconfig=kubeconfig, force=force) for n in own]
    return tuple(step for steps in found for step in steps) or (
        Comment("There is no cluster to delete."),
    )


def _folders(sockets: Path, root: Path) -> Sequence[str]:
    return [str(root)] if sockets.is_relative_to(root) else [str(sockets), str(root)]


async def _is_up(home: Home, runtime: Runtime, saved: Saved) -> bool:
    plan = saved.plan(runtime, home.paths(saved.name))
    states = await runtime.states(saved.name)
    runs = all(states.get(name) is State.RUNNING for name in plan.components)
    return runs and not await unready(plan.components.values())


class _Launching(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster that is launched."""

    home: Home
    runtime: Runtime
    saved: Saved
    wait: float | None
    timeout: float | None
    is_probed: bool = True

    async def steps(self, found: Foreseen, *, is_new: bool) -> Steps:
        saved = replace(self.saved, artifacts=found.artifacts)
        plan: Plan = saved.plan(self.runtime, self.home.paths(saved.name))
        if not isinstance(self.runtime, WritesScripts):
            return tuple(outline(plan, self.runtime, "create" if is_new else "start"))
        if lacking := lacking_parts(saved):
            return (lacking, *outline(plan, self.runtime, "create" if is_new else "start"))
        launch = ScriptedLaunch(
            saved=saved,
            plan=plan,
            paths=self.home.paths(saved.name),
            work=await self.runtime.script(plan),
            kubectl=kubectl_of(found.artifacts),
            wait=self.wait,
            timeout=self.timeout,
        )
        return (
            *found.steps,
            *tidied(launch.paths),
            *launching(launch),
            *cluster_objects(launch, is_new=is_new),
            *(probed(launch) if self.is_probed else ()),
        )
