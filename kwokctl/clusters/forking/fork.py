"""Creates clusters with the settings and the objects of one that runs."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from kwokctl.clusters.forking.content import ForkedData, forget_events, snapshot_of
from kwokctl.clusters.forking.fork_target import ForkPlace, at_its_place, check_place
from kwokctl.clusters.forking.kubelet_addresses import server_of
from kwokctl.clusters.forking.mend import Corrections, mend, registered, wait_served
from kwokctl.clusters.forking.needed_memory import demand_memory, needs_of_forks
from kwokctl.clusters.launching.launch import Patience, bring_up
from kwokctl.clusters.launching.ports import held_ports, without_ports
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.context_files import remember_context_file
from kwokctl.clusters.state.half_copies import begin_copy, complete_copy, demand_whole
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.locks import alone, using
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.stopped_components import demand_running
from kwokctl.components import cluster_identities
from kwokctl.config.declaring import ports_of
from kwokctl.config.options import ClusterOptions, with_values
from kwokctl.errors import ConflictError
from kwokctl.host.files import private_folder, remove_private_folder, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import AUTHORITY, ETCD, ClusterName, ComponentName
from kwokctl.progress import Progress, Silent
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime


class ForkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a `create cluster --from`."""

    source: ClusterName
    names: tuple[ClusterName, ...]
    """Of the clusters to create."""
    kubeconfig: Path | None
    """The file that receives the contexts; None leaves all alone."""
    has_own_authorities: bool = False
    """Whether to make new certificate authorities rather than copy those of the source."""
    place: ForkPlace = msgspec.field(default_factory=ForkPlace)
    ignores_memory: bool = False
    """Whether to make them where this machine seems to have too little memory."""
    patience: Patience


class _Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The source of forks: its settings, and its data."""

    source: Saved
    """As it runs."""
    here: Saved
    """As it would be at the place of the forks."""
    data: ForkedData


class Forked(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster that was created from another."""

    name: ClusterName
    source: ClusterName
    context: str
    kubeconfig: Path
    started: tuple[ComponentName, ...]


async def fork_cluster(home: Home, request: ForkRequest) -> tuple[Forked, ...]:
    """Create clusters that begin with what the source holds now, or undo what this run made.

    They have its settings, and ports of their own; the source runs on. Raises CapacityError, before
    anything is made, if this machine has not the memory for them.
    """
    for name in request.names:
        check_free(home, name, request.kubeconfig)
    with using(home.workdir, request.source):
        saved = load(home.paths(request.source), request.source)
        runtime = home.runtime(saved.options.runtime)
        await check_place(home, saved, request.place, request.names[0])
        await demand_running(home, runtime, request.source, ETCD)
        needs = await needs_of_forks(runtime, saved, len(request.names))
        demand_memory(needs, home.progress, is_ignored=request.ignores_memory)
        here = await at_its_place(home, saved, request.place)
        async with snapshot_of(home, saved, runtime) as data:
            origin = _Origin(source=saved, here=here, data=data)
            # Lines of several clusters at once would not say which they are of.
            each = home if len(request.names) == 1 else replace(home, progress=Silent())
            made = [_forked(each, request, origin, name) for name in request.names]
            return tuple(await together(made, home.progress))


async def _forked(home: Home, request: ForkRequest, origin: _Origin, name: ClusterName) -> Forked:
    here, paths = origin.here, home.paths(name)
    runtime = home.runtime(here.options.runtime)
    with alone(home.workdir, name):
        check_free(home, name, request.kubeconfig)
        async with _undone_on_failure(home, runtime, name):
            with held_ports(home, name, _portless(here.options), here.names) as (options, held):
                fork = replace(here, name=name, options=options)
                begin_copy(paths)
                copy_manifests(home.paths(request.source), paths, options)
                if not request.has_own_authorities:
                    copy_authorities(home.paths(request.source).pki, paths.pki)
                plan, _ = await asyncio.gather(
                    asyncio.to_thread(write_files, home, runtime, fork), origin.data.restore(paths)
                )
                origin.data.put_in_place(paths)
                await runtime.install(plan)
                prepare = partial(_prepare, home, request, origin.source, fork)
                started = await bring_up(home, runtime, plan, held, request.patience, prepare)
                complete_copy(paths)
        if request.kubeconfig:
            context = context_name(name)
            await entries.merge_context(request.kubeconfig, paths.kubeconfig, context)
            remember_context_file(paths, request.kubeconfig)
    return Forked(
        name=name,
        source=request.source,
        context=context_name(name),
        kubeconfig=request.kubeconfig or paths.kubeconfig,
        started=started,
    )


async def _prepare(home: Home, request: ForkRequest, source: Saved, fork: Saved) -> None:
    """Correct the objects before controllers see them."""
    await wait_served(home, fork)
    runtimes = [home.runtime(each.options.runtime) for each in (source, fork)]
    former, setting = (
        each.setting(runtime, home.paths(each.name))
        for each, runtime in zip((source, fork), runtimes, strict=True)
    )
    await forget_events(setting)
    wanted = Corrections(
        setting=setting,
        former=server_of(former),
        has_other_authorities=request.has_own_authorities,
        nodes=registered(runtimes[1], fork),
    )
    await mend(wanted)


def check_free(home: Home, name: ClusterName, kubeconfig: Path | None) -> None:
    """Raise ConflictError for a cluster that exists, and for a kubeconfig that cannot take its context."""
    paths = home.paths(name)
    if paths.saved.is_file():
        demand_whole(paths, name)
        raise ConflictError(
            f"the cluster '{name}' exists",
            hint=f"choose another --name, or remove it with: kwokctl --name {name} delete cluster",
        )
    if kubeconfig:
        entries.check_mergeable(kubeconfig, context_name(name), paths.root)


def _portless(options: ClusterOptions) -> ClusterOptions:
    """Return the options without their ports, so that new ports are chosen."""
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


_COPIED = (AUTHORITY, cluster_identities.FRONT_PROXY_CA, "sa")
"""Those of certificates, and the key of tokens, which are stored as Secrets."""


def copy_authorities(source: Path, target: Path) -> None:
    """Copy keys and certificates, so that what they have signed is valid in the fork; modes stay.

    To be called before other certificates are made with them.
    """
    private_folder(target)
    for name in _COPIED:
        for file in source.glob(f"{name}.*"):
            shutil.copy2(file, target / file.name)


def copy_manifests(source: ClusterPaths, paths: ClusterPaths, options: ClusterOptions) -> None:
    """Copy the manifests of add-ons that the source keeps: the store may have lost them."""
    for extra in options.extras:
        file = source.add_on_manifests(extra.name)
        if extra.add_on and file.is_file():
            paths.add_on_manifests(extra.name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, paths.add_on_manifests(extra.name))


T = TypeVar("T")


async def together(made: Sequence[Coroutine[object, None, T]], progress: Progress) -> Sequence[T]:
    """Make all of them; the first failure ends the others, which undo what they have made.

    A single one shows its own progress.
    """
    if len(made) == 1:
        return [await made[0]]
    with progress.step(f"Creating {len(made)} clusters", total=len(made), unit="clusters") as step:

        async def counted(each: Coroutine[object, None, T]) -> T:
            result = await each
            step.advance()
            return result

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(counted(each)) for each in made]
    return [task.result() for task in tasks]
