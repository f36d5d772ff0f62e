"""Checks the request of `create cluster`, and chooses what its user left open."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from ipaddress import ip_address

import msgspec

from kwokctl.clusters.configuration.component_patches import idle_patches, wanted_patches
from kwokctl.clusters.configuration.controller_documents import check_documents
from kwokctl.clusters.configuration.extra_components import check_extras
from kwokctl.clusters.state.cluster_stages import demand_stages, stage_remarks, stages_in_force
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.kept_documents import (
    controller_options,
    kept_documents,
    runtime_documents,
)
from kwokctl.clusters.state.scheduler_config import check_scheduler_config
from kwokctl.components.catalog import requested
from kwokctl.components.choose_data_path import choose_data_path
from kwokctl.components.cluster_plan import SELECTION, known_limits, selected
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.definitions.jaeger import check_jaeger
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.components.definitions.kube_apiserver_insecure_proxy import InsecureProxyOptions
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.definitions.kwok_kubelet import KwokKubeletOptions
from kwokctl.components.dialect_heartbeats import check_dialect_heartbeats, cost_of_heartbeats
from kwokctl.components.heartbeat import TIMES, settle_heartbeat
from kwokctl.components.metrics_page import settle_rounds
from kwokctl.config.config_documents import Document
from kwokctl.config.data_path import Choice
from kwokctl.config.document_kinds import STAGE
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import Patches
from kwokctl.config.resolve import Resolved
from kwokctl.controller.configuration import KIND, given_options, idle_options
from kwokctl.errors import KwokctlError, NotServedError, UnavailableError, UsageError
from kwokctl.host.platforms import check_platform
from kwokctl.host.ports import check_local
from kwokctl.json_value import Json
from kwokctl.model import (
    KUBE_APISERVER_INSECURE_PROXY,
    KUBE_CONTROLLER_MANAGER,
    KWOK_API_PROXY,
    KWOK_CONTROLLER,
    ClusterName,
    ComponentName,
)
from kwokctl.runtime import BringsKubernetes, PlansAhead, RunsImages, Runtime

_NO_FSYNC = (
    "etcd does not wait for the disk: a power cut or a crash of the machine may lose the last "
    "writes or the whole cluster; killing a program loses nothing"
)
_OPEN_ETCD = (
    "etcd requires no certificate and listens beyond this machine: anyone who can reach its port "
    "can change the cluster"
)
_CUSTOM_STAGES = (
    "Stages that you apply with kubectl are added to those of the cluster; they replace those that match "
    "the same objects, and those of the same name permanently"
)
_CUSTOM_COMMANDS = (
    "every user of the cluster who may create objects of kind {kinds} runs programs on this machine, "
    "as you"
)
_RUNNING = frozenset({"Exec", "ClusterExec", "PortForward", "ClusterPortForward"})
"""Kinds of documents that name commands."""


class WantedCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A request without contradictions."""

    options: ClusterOptions
    """With every choice made that its user left open."""
    data_path: Choice
    names: tuple[ComponentName, ...]
    patches: Patches
    stages: tuple[Mapping[str, Json], ...]
    notes: tuple[str, ...]
    """A line for each choice that its user should know of."""


def wanted_cluster(home: Home, resolved: Resolved, documents: Sequence[Document]) -> WantedCluster:
    """Return what is requested.

    Raises UsageError, ConfigError and NotServedError for a request that no cluster can fulfil,
    whether or not the cluster exists already; UnavailableError where clusters cannot be made.
    """
    check_platform()
    names = _checked(home, resolved)
    check_documents(resolved.options, documents)
    patches = wanted_patches(resolved.options, documents)
    data_path = choose_data_path(resolved.options, patches=patches)
    with resolved.naming("node_heartbeat", *TIMES):
        options = settle_heartbeat(
            resolved.options,
            resolved.chosen,
            is_fast=data_path.path == "etcd",
            is_monitored=KUBE_CONTROLLER_MANAGER in names,
        )
    options = settle_rounds(options)
    controller = options.of(KwokControllerOptions)
    with resolved.naming("dialect_heartbeats", "fault_dialects"):
        check_dialect_heartbeats(controller, has_etcd_path=data_path.path == "etcd")
    custom = {*controller.enable_crds, *(given_options(documents).get("enableCRDs") or ())}
    with resolved.naming("stage"):
        stages = stages_in_force(options, documents)
        if KWOK_CONTROLLER in names:
            demand_stages(stages, controller, custom)
    said = [*stage_remarks(stages, controller.stages)]
    if not controller.binary:
        said += _custom_remarks(custom)
        said += [
            f"{place}: without effect, because {why}"
            for place, why in idle_options(documents).items()
        ]
    return WantedCluster(
        options=options,
        data_path=data_path,
        names=names,
        patches=patches,
        stages=stages.documents,
        notes=(
            *said,
            *cost_of_heartbeats(controller),
            *idle_patches(patches, names),
            *_notes_on_etcd(options),
        ),
    )


def _custom_remarks(kinds: Collection[str]) -> Iterator[str]:
    if STAGE in kinds:
        yield _CUSTOM_STAGES
    if running := sorted(_RUNNING.intersection(kinds)):
        yield _CUSTOM_COMMANDS.format(kinds=" or ".join(running))


def _notes_on_etcd(options: ClusterOptions) -> Iterator[str]:
    own = options.of(EtcdOptions)
    if own.fsync == "off":
        yield _NO_FSYNC
    if not own.tls and not ip_address(options.bind_address).is_loopback:
        yield _OPEN_ETCD


def _checked(home: Home, resolved: Resolved) -> tuple[ComponentName, ...]:
    """Return the components that are requested; refuse what can be seen to be wrong by itself."""
    options = resolved.options
    with resolved.naming(*SELECTION):
        names = selected(options)
        check_jaeger(options, names)
    with resolved.naming("memory_limit", "cpu_limit"):
        known_limits(options)
    with resolved.naming("bind_address"):
        check_local(options.bind_address)
    with resolved.naming("insecure_kubeconfig"):
        _check_insecure_context(options, names)
    check_scheduler_config(options)
    with resolved.naming("runtime"):
        if options.runtime:
            home.runtime(options.runtime)
    return names


def _check_insecure_context(options: ClusterOptions, names: Sequence[ComponentName]) -> None:
    wants = options.of(InsecureProxyOptions).is_for_context
    if wants and KUBE_APISERVER_INSECURE_PROXY not in names:
        raise UsageError(
            "'insecureKubeconfig' is for a port without credentials, and there is none",
            hint="add --kube-apiserver-insecure-port, or leave it out",
        )


def check_for_runtime(
    runtime: Runtime,
    cluster: ClusterName,
    options: ClusterOptions,
    documents: Sequence[Document],
) -> None:
    """Raise UsageError for options and documents that the runtime does not support."""
    runtime_documents(runtime, documents)
    given = controller_options(kept_documents(options, documents))
    check_settings(runtime, cluster, options, given)


def check_settings(
    runtime: Runtime,
    cluster: ClusterName,
    options: ClusterOptions,
    given: Mapping[str, Json],
) -> None:
    """Raise UsageError for settings that the runtime does not support.

    `given` are the options of the controller in documents.
    """
    check_extras(runtime, options.extras)
    has_processes = not isinstance(runtime, RunsImages | BringsKubernetes)
    is_limited = options.limits.memory or options.limits.cpu
    if is_limited and has_processes:
        raise UsageError(
            f"components are processes of this machine on the runtime '{runtime.name}', and those "
            "have no limits",
            hint="choose a runtime that runs them in containers, or leave --memory-limit and "
            "--cpu-limit out",
        )
    _check_api_faults(runtime, options, has_processes=has_processes)
    has_own_nodes = runtime.site(cluster).has_own_nodes
    if has_own_nodes and not options.of(KubeApiserverOptions).admission:
        raise UsageError(
            f"'--no-kube-admission' is not for the runtime '{runtime.name}', whose API server has "
            "the admission that real nodes need",
            hint="choose another runtime, or leave it out",
        )
    if options.of(KwokKubeletOptions).node_proxy:
        _check_node_proxy(runtime, options, has_processes=has_processes)
    if given.get("manageAllNodes") and has_own_nodes:
        raise UsageError(
            f"'{KIND}.options.manageAllNodes' cannot be set on the runtime '{runtime.name}', "
            "which has a real node",
            hint="choose nodes by a label or an annotation",
        )


def _check_api_faults(runtime: Runtime, options: ClusterOptions, *, has_processes: bool) -> None:
    if KWOK_API_PROXY in requested(options) and not has_processes:
        raise UsageError(
            f"'--api-faults' is not for the runtime '{runtime.name}', whose components dial the API server "
            "in containers, past the proxy",
            hint="choose --runtime binary, or leave it out",
        )


def _check_node_proxy(runtime: Runtime, options: ClusterOptions, *, has_processes: bool) -> None:
    if not has_processes:
        raise UsageError(
            f"--node-proxy is not supported on the runtime '{runtime.name}': the API server's connections "
            "would be made on this machine, where the names and addresses of containers are not known",
            hint="use the runtime binary, or leave --node-proxy out",
        )
    if options.of(KwokControllerOptions).binary:
        raise UsageError(
            "--node-proxy needs the kubelet server, which another controller replaces",
            hint="leave out --node-proxy or --kwok-controller-binary",
        )


async def choose_runtime(home: Home, options: ClusterOptions, *, is_plan: bool = False) -> Runtime:
    """Return the runtime that was requested, else the first that can run here, and report which.

    For a plan, the one asked for need not run here, if it can be planned for. Raises UnavailableError if
    the one asked for cannot run here, or none can; UsageError for an unknown name.
    """
    if options.runtime:
        runtime = home.runtime(options.runtime)
        try:
            await runtime.check()
        except UnavailableError as e:
            if not is_plan or not isinstance(runtime, PlansAhead):
                raise
            home.progress.warn(f"{e}; this is the plan for an engine that has nothing yet")
            runtime.expect_nothing()
        return runtime
    missing: list[KwokctlError] = []
    for name in options.runtimes:
        try:
            runtime = home.runtime(name)
            await runtime.check()
        except (UnavailableError, NotServedError) as e:
            missing.append(e)
            continue
        if missing:
            home.progress.note(f"runtime: {name} ({missing[0]})")
        return runtime
    raise UnavailableError(
        "clusters cannot run on this machine: " + "; ".join(str(e) for e in missing),
        hint=missing[-1].hint
        if missing
        else "name some in 'options.runtimes', or choose a --runtime",
    )
