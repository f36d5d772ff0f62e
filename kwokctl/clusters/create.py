"""Creates a cluster, or continues a creation that was interrupted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from kwokctl.clusters.launching.custom_resources import enabled_kinds, install_definitions
from kwokctl.clusters.launching.drafts import drafted, needed_programs
from kwokctl.clusters.launching.failed_logs import forget_failed_logs, keep_log, log_of
from kwokctl.clusters.launching.first_objects import create_first_objects
from kwokctl.clusters.launching.launch import Patience, bring_up, got
from kwokctl.clusters.launching.ports import held_ports, portless
from kwokctl.clusters.launching.probe_node import demand_ready_node
from kwokctl.clusters.launching.readiness import unready
from kwokctl.clusters.programs.images import artifacts
from kwokctl.clusters.programs.tools_last import lacking_tools
from kwokctl.clusters.state.component_files import write_files
from kwokctl.clusters.state.context_files import remember_context_file
from kwokctl.clusters.state.data_folders import forget_former, settle
from kwokctl.clusters.state.drift import differences
from kwokctl.clusters.state.half_copies import begin_copy, complete_copy, demand_whole
from kwokctl.clusters.state.home import Home, context_name
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.state.saved import Saved, load, version_remark
from kwokctl.clusters.wanted import WantedCluster, check_for_runtime, wanted_cluster
from kwokctl.components.definitions import kube_apiserver
from kwokctl.components.definitions.kube_apiserver_insecure_proxy import InsecureProxyOptions
from kwokctl.config.config_documents import Document
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions
from kwokctl.config.resolve import Resolved
from kwokctl.errors import ConflictError, KwokctlError
from kwokctl.etcd import snapshot_files
from kwokctl.host.files import remove_private_folder, remove_tree
from kwokctl.host.paths import ClusterPaths
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import ClusterName, ComponentName, Plan, State
from kwokctl.progress import Progress
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime


class CreateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a `create cluster`. Times are seconds."""

    name: ClusterName
    resolved: Resolved
    documents: tuple[Document, ...] = ()
    kubeconfig: Path | None
    """The file that receives the context; None leaves all alone."""
    wait: float | None = None
    """None does not wait; 0 waits as long as it takes."""
    timeout: float | None = None
    snapshot: Path | None = None
    """The file with what etcd begins with; None for nothing."""
    keep_on_failure: bool = False
    fail_on_drift: bool = False

    @property
    def patience(self) -> Patience:
        """The time limits of the launch."""
        return Patience(self.timeout, self.wait)


class Created(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a `create cluster`."""

    name: ClusterName
    context: str
    kubeconfig: Path
    server: str
    existed: bool
    drift: tuple[str, ...]
    data_path: Choice
    """The data path of fake kubelets and `scale`, with the reason."""
    urls: Mapping[ComponentName, str]
    """The addresses of components with web pages."""
    started: tuple[ComponentName, ...] = ()
    """The components that did not run before."""
    lacking: tuple[str, ...] = ()
    """The tools that are not on this machine: no component needs them, so they come last."""


async def create_cluster(home: Home, request: CreateRequest) -> Created:
    """Bring the cluster up, or undo what this run made.

    An existing cluster stays as it is, and every difference to the request is reported; what a
    killed run left half made is continued with the settings of that run. Raises UnavailableError
    where clusters cannot be made.
    """
    wanted = wanted_cluster(home, request.resolved, request.documents)
    with alone(home.workdir, request.name):
        paths = home.paths(request.name)
        context = context_name(request.name)
        if request.kubeconfig:
            entries.check_mergeable(request.kubeconfig, context, paths.root)
        if existed := paths.saved.is_file():
            demand_whole(paths, request.name)
            _check_empty(request)
            saved, drift = compared(home, request)
            data_path, options = saved.data_path(), saved.options
            lacking = await lacking_tools(home, options)
            server, plan, started = await _continue(home, request, saved)
        else:
            drift, data_path, options = (), wanted.data_path, wanted.options
            lacking = await lacking_tools(home, options)
            server, plan, started = await _create(home, request, wanted)
        target = request.kubeconfig or paths.kubeconfig
        if request.kubeconfig:
            await _give_context(home.progress, target, _source(paths, options), context)
            remember_context_file(paths, target)
    return Created(
        name=request.name,
        context=context,
        kubeconfig=target,
        server=server,
        existed=existed,
        drift=drift,
        data_path=data_path,
        urls={each.name: each.url for each in plan.components.values() if each.url},
        started=started,
        lacking=lacking,
    )


def compared(home: Home, request: CreateRequest) -> tuple[Saved, tuple[str, ...]]:
    """Return the cluster that exists, and how the request differs from it.

    Raises what the request says that a difference is.
    """
    saved = load(home.paths(request.name), request.name)
    if remark := version_remark(saved):
        home.progress.warn(remark)
    runtime = home.runtime(saved.options.runtime)
    check_for_runtime(runtime, request.name, request.resolved.options, request.documents)
    drift = differences(saved, request.resolved, request.documents)
    if drift and request.fail_on_drift:
        raise ConflictError(
            f"the cluster '{request.name}' exists with other settings",
            hint="delete it first, or leave out --fail-on-drift",
            detail="\n".join(drift),
        )
    return saved, drift


_CREATE = "kwokctl create cluster --name"
_WITHOUT_CONTEXT = "the cluster runs: repeat the command to add its context"

_Started = tuple[str, Plan, tuple[ComponentName, ...]]
"""The URL of an API server, its cluster, and the components that did not run before."""


def _source(paths: ClusterPaths, options: ClusterOptions) -> Path:
    """Return the kubeconfig with the context that the user is to have."""
    if options.of(InsecureProxyOptions).is_for_context:
        return paths.insecure_kubeconfig
    return paths.kubeconfig


async def _give_context(progress: Progress, target: Path, source: Path, context: str) -> None:
    try:
        await entries.merge_context(target, source, context)
    except KwokctlError as e:
        e.hint = "; ".join(filter(None, (e.hint, _WITHOUT_CONTEXT)))
        raise
    except asyncio.CancelledError:
        progress.warn(_WITHOUT_CONTEXT)
        raise


async def _create(home: Home, request: CreateRequest, wanted: WantedCluster) -> _Started:
    draft = await drafted(home, request.name, wanted, request.resolved, request.documents)
    runtime, options = draft.runtime, draft.options
    if request.snapshot:
        snapshot_files.verify(request.snapshot)
    getting = artifacts(home, runtime, options, draft.needed, is_exact=draft.is_exact)
    found, patience = await got(getting, request.patience)
    async with _undone_on_failure(home, runtime, request):
        with held_ports(home, request.name, options, wanted.names) as (options, held):
            saved = draft.saved(options, found)
            if request.snapshot:
                begin_copy(home.paths(request.name))
            plan = write_files(home, runtime, saved)
            prepare = await _prepared(home, saved, request.snapshot)
            await runtime.install(plan)
            early = not (request.snapshot or enabled_kinds(saved))
            started = await bring_up(home, runtime, plan, held, patience, prepare, early=early)
            complete_copy(home.paths(request.name))
            await create_first_objects(home, saved)
            await demand_ready_node(home, runtime, saved, request.wait)
    return kube_apiserver.url(saved.setting(runtime, home.paths(request.name))), plan, started


async def _prepared(home: Home, saved: Saved, file: Path | None) -> Callable[[], Awaitable[None]]:
    """Make the data that etcd begins with, if any; return what is to be done when the API answers."""
    correct = await _seeded(home, saved, file) if file else None

    async def prepare() -> None:
        if correct:
            await correct()
        await install_definitions(home, saved)

    return prepare


async def _seeded(home: Home, saved: Saved, file: Path) -> Callable[[], Awaitable[None]]:
    from kwokctl.clusters.forking.seed import seed

    return await seed(home, saved, file)


def _check_empty(request: CreateRequest) -> None:
    if request.snapshot:
        raise ConflictError(
            f"the cluster '{request.name}' exists",
            hint="choose another --name, or replace what it holds: "
            f"kwokctl --name {request.name} snapshot restore --path {request.snapshot}",
        )


async def _continue(home: Home, request: CreateRequest, saved: Saved) -> _Started:
    """Bring up what is missing of a cluster that exists; nothing is removed when that fails."""
    paths = home.paths(saved.name)
    runtime = home.runtime(saved.options.runtime)
    await runtime.check()
    url = kube_apiserver.url(saved.setting(runtime, paths))
    settle(paths)
    plan = saved.plan(runtime, paths)
    states = await runtime.states(saved.name)
    is_running = all(states.get(name) is State.RUNNING for name in plan.components)
    if is_running and not await unready(plan.components.values()):
        forget_former(paths)
        await install_definitions(home, saved)
        await create_first_objects(home, saved)
        return url, plan, ()
    needed = needed_programs(saved.options, saved.names)
    getting = artifacts(home, runtime, saved.options, needed, saved.artifacts)
    found, patience = await got(getting, request.patience)
    saved = replace(saved, artifacts=found)
    missing = await portless(runtime, saved.name, list(plan.components))
    with held_ports(home, saved.name, saved.options, missing) as (options, held):
        plan = write_files(home, runtime, replace(saved, options=options))
        await runtime.install(plan)
        prepare, early = partial(install_definitions, home, saved), not enabled_kinds(saved)
        started = await bring_up(home, runtime, plan, held, patience, prepare, early=early)
    forget_former(paths)
    await create_first_objects(home, saved)
    await demand_ready_node(home, runtime, saved, request.wait)
    return url, plan, started


@asynccontextmanager
async def _undone_on_failure(
    home: Home, runtime: Runtime, request: CreateRequest
) -> AsyncIterator[None]:
    """Remove what the block has created, and only that, if an exception ends it."""
    root = home.paths(request.name).root
    before = {entry.name for entry in root.iterdir()} if root.is_dir() else None
    forget_failed_logs(home.workdir, request.name)
    try:
        yield
    except BaseException as e:
        if request.keep_on_failure:
            # A fork whose creation was interrupted is not continued: its data may still be those of its source.
            on = "" if request.snapshot else f"continue with '{_CREATE} {request.name}', or "
            home.progress.note(
                f"kept the unfinished cluster '{request.name}': {on}remove it with "
                f"'kwokctl delete cluster --name {request.name}'"
            )
            raise
        log = await log_of(runtime, request.name, e)
        with home.progress.step(f"Removing the unfinished cluster '{request.name}'"):
            await runtime.uninstall(request.name)
            remove_private_folder(home.paths(request.name).sockets)
            _remove_new(root, before)
        await keep_log(home.workdir, request.name, e, log)
        raise


def _remove_new(root: Path, before: set[str] | None) -> None:
    if before is None:
        remove_tree(root)
        return
    for entry in root.iterdir():
        if entry.name not in before:
            remove_tree(entry)
