"""What `create cluster` asks for, checked before anything is locked, fetched or made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kwokctl.clusters.choosing.defaults import Choices, choices
from kwokctl.clusters.choosing.document_checks import check_documents
from kwokctl.clusters.state.documents import controller_options, kept_documents
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.stages import runtime_documents
from kwokctl.components.catalog import catalog
from kwokctl.components.plan import known_limits, selected
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.config.resolve import Resolved, parse_extra_args
from kwokctl.controller.configuration import KIND
from kwokctl.errors import UsageError
from kwokctl.host.ports import check_local
from kwokctl.model import ClusterName, ComponentName
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCluster:
    """A request without contradictions."""

    names: tuple[ComponentName, ...]
    extra_args: Mapping[str, Mapping[str, str | None]]
    choices: Choices


def wanted_cluster(home: Home, resolved: Resolved, documents: Sequence[Document]) -> WantedCluster:
    """Return what is asked for.

    Raises UsageError, ConfigError and NotServedError for a request that no cluster can fulfil,
    whether or not the cluster exists already.
    """
    options = resolved.options
    names = selected(options)
    extra_args = parse_extra_args(options.arguments.extra, tuple(catalog()))
    known_limits(options)
    check_local(options.bind_address)
    if options.runtime:
        home.runtime(options.runtime)
    check_documents(options, documents)
    return WantedCluster(
        names=names, extra_args=extra_args, choices=choices(options, resolved.chosen, names)
    )


def check_for_runtime(
    runtime: Runtime,
    cluster: ClusterName,
    options: ClusterOptions,
    documents: Sequence[Document],
) -> None:
    """Raise UsageError for options and documents that the runtime does not support."""
    runtime_documents(runtime, documents)
    is_limited = options.limits.memory or options.limits.cpu
    if is_limited and not isinstance(runtime, RunsImages | BringsKubernetes):
        raise UsageError(
            f"components are processes of this machine on the runtime '{runtime.name}', and those "
            "have no limits",
            hint="choose a runtime that runs them in containers, or leave --memory-limit and "
            "--cpu-limit out",
        )
    given = controller_options(kept_documents(options, documents))
    if given.get("manageAllNodes") and runtime.site(cluster).has_own_nodes:
        raise UsageError(
            f"'{KIND}.options.manageAllNodes' cannot be set on the runtime '{runtime.name}', "
            "which has a real node",
            hint="choose nodes by a label or an annotation",
        )
