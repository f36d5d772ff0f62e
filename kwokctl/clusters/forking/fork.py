"""Creates clusters with the settings and the objects of one that runs."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kwokctl.clusters.forking.content import ForkedData, forget_events, snapshot_of
from kwokctl.clusters.forking.identity import copy_authorities
from kwokctl.clusters.forking.mend import mend, wait_served
from kwokctl.clusters.launching.launch import Patience, bring_up
from kwokctl.clusters.launching.manifests import copy_manifests
from kwokctl.clusters.launching.ports import held_ports, without_ports
from kwokctl.clusters.snapshot import demand_etcd
from kwokctl.clusters.state.files import write_files
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.locks import alone, using
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.config.declaring import ports_of
from kwokctl.config.options import ClusterOptions, with_values
from kwokctl.errors import ConflictError, NotServedError
from kwokctl.host.files import remove_private_folder, remove_tree
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """What `create cluster --from` was requested."""

    source: ClusterName
    names: tuple[ClusterName, ...]
    """Of the clusters to create."""
    kubeconfig: Path | None
    """The file that receives the contexts; None leaves all alone."""
    has_own_authorities: bool = False
    """Whether to make new certificate authorities rather than copy those of the source."""
    patience: Patience


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """A cluster that was created from another."""

    name: ClusterName
    source: ClusterName
    context: str
    kubeconfig: Path
    started: tuple[ComponentName, ...]


async def fork_cluster(home: Home, request: ForkRequest) -> tuple[Forked, ...]:
    """Create clusters that begin with what the source holds now, or undo what this run made.

    They have its settings, and ports of their own; the source runs on.
    """
    for name in request.names:
        _check_free(home, request, name)
    with using(home.workdir, request.source):
        saved = load(home.paths(request.source), request.source)
        runtime = home.runtime(saved.options.runtime)
        _check_runtime(runtime)
        _check_ports(saved)
        await demand_etcd(runtime, request.source)
        async with snapshot_of(home, saved, runtime) as data:
            made = [_forked(home, request, saved, name, data) for name in request.names]
            return tuple(await _together(made))


async def _together(made: Sequence[Coroutine[object, None, Forked]]) -> list[Forked]:
    """Make all of them; the first failure ends the others, which undo what they have made."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in made]
    return [task.result() for task in tasks]


async def _forked(
    home: Home, request: ForkRequest, source: Saved, name: ClusterName, data: ForkedData
) -> Forked:
    runtime, paths = home.runtime(source.options.runtime), home.paths(name)
    with alone(home.workdir, name):
        _check_free(home, request, name)
        async with _undone_on_failure(home, runtime, name):
            with held_ports(home, name, _portless(source.options), source.names) as (options, held):
                saved = replace(source, name=name, options=options)
                copy_manifests(home.paths(source.name), paths, options)
                if not request.has_own_authorities:
                    copy_authorities(home.paths(source.name).pki, paths.pki)
                plan, _ = await asyncio.gather(
                    asyncio.to_thread(write_files, home, runtime, saved), data.restore(paths)
                )
                data.put_in_place(paths)
                await runtime.install(plan)
                prepare = partial(_prepare, home, request, source, saved)
                started = await bring_up(home, runtime, plan, held, request.patience, prepare)
        if request.kubeconfig:
            context = context_name(name)
            await entries.merge_context(request.kubeconfig, paths.kubeconfig, context)
    return Forked(
        name=name,
        source=source.name,
        context=context_name(name),
        kubeconfig=request.kubeconfig or paths.kubeconfig,
        started=started,
    )


async def _prepare(home: Home, request: ForkRequest, source: Saved, fork: Saved) -> None:
    """Correct the objects before controllers see them."""
    runtime = home.runtime(source.options.runtime)
    await wait_served(home, fork)
    settings = [each.setting(runtime, home.paths(each.name)) for each in (source, fork)]
    await forget_events(settings[1])
    await mend(*settings, has_own_authorities=request.has_own_authorities)


def _check_free(home: Home, request: ForkRequest, name: ClusterName) -> None:
    paths = home.paths(name)
    if paths.saved.is_file():
        raise ConflictError(
            f"the cluster '{name}' exists",
            hint=f"choose another --name, or remove it with: kwokctl --name {name} delete cluster",
        )
    if request.kubeconfig:
        entries.check_mergeable(request.kubeconfig, context_name(name), paths.root)


def _check_runtime(runtime: Runtime) -> None:
    if isinstance(runtime, RunsImages | BringsKubernetes):
        raise NotServedError(
            f"'--from' is not supported yet for clusters on the runtime '{runtime.name}'",
            hint="save the cluster with 'kwokctl snapshot save', create another, and restore it there",
        )


def _check_ports(source: Saved) -> None:
    """Raise NotServedError for a component whose ports kwokctl does not choose: both would have them."""
    for extra in source.options.extras:
        if extra.ports and not extra.add_on:
            raise NotServedError(
                f"'--from' is not supported yet for clusters with the component '{extra.name}': "
                f"its port {extra.ports[0].port} is fixed, and in use by '{source.name}'",
                hint="save the cluster with 'kwokctl snapshot save', create another with other ports "
                "in its 'components', and restore it there",
            )


def _portless(options: ClusterOptions) -> ClusterOptions:
    """Return the same options with ports to be chosen."""
    held = (field for each in options.components for field in ports_of(each))
    extras = tuple(without_ports(each) if each.add_on else each for each in options.extras)
    return replace(with_values(options, dict.fromkeys(held, 0)), extras=extras)


@asynccontextmanager
async def _undone_on_failure(
    home: Home, runtime: Runtime, name: ClusterName
) -> AsyncIterator[None]:
    try:
        yield
    except BaseException:
        await runtime.uninstall(name)
        remove_private_folder(home.paths(name).sockets)
        remove_tree(home.paths(name).root)
        raise
