"""`create`, `delete`, `start` and `stop` a cluster."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwokctl.cli import commands, results
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.options import (
    Kubeconfig,
    Output,
    Timeout,
    Wait,
    chosen_options,
    cluster_parameters,
    kubeconfig_path,
)

if TYPE_CHECKING:
    from kwokctl.cli.console import Console
    from kwokctl.clusters.create import Created, CreateRequest


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for verb, function, adds, text in (
        ("create", create, cluster_parameters(), "Create a cluster."),
        ("delete", delete, (), "Delete a cluster."),
        ("start", start, (), "Start a cluster that was stopped."),
        ("stop", stop, (), "Stop a cluster and keep its data."),
    ):
        below = commands.group(app, verb, text, panel=commands.CLUSTERS)
        commands.command(below, "cluster", adds=adds)(function)


def create(
    call: Invocation,
    *,
    wait: Wait = None,
    timeout: Timeout = None,
    kubeconfig: Kubeconfig = None,
    keep_on_failure: Annotated[
        bool, typer.Option("--keep-on-failure", help="Leave what was made when it fails")
    ] = False,
    fail_on_drift: Annotated[
        bool,
        typer.Option("--fail-on-drift", help="Fail if the cluster exists with other settings"),
    ] = False,
    output: Output = "",
    **words: Any,
) -> None:
    """Create a cluster, or go on with one that was left half-made.

    A cluster that exists is left as it is, and what differs from the request is told.
    """
    import os

    from kwokctl.clusters.create import CreateRequest, create_cluster
    from kwokctl.config.resolve import resolve_options

    call = call.quietly(unless=not output)
    documents = call.documents()
    resolved = resolve_options(chosen_options(words), os.environ, documents)
    for warning in resolved.warnings:
        call.progress.warn(warning)
    request = CreateRequest(
        name=call.cluster,
        resolved=resolved,
        documents=documents,
        kubeconfig=kubeconfig_path(kubeconfig),
        wait=wait or None,
        timeout=timeout or None,
        keep_on_failure=keep_on_failure,
        fail_on_drift=fail_on_drift,
    )
    created = call.run(create_cluster, call.home, request)
    if output:
        results.emit_data(created, output)
    else:
        _tell_created(created, request, call.console)


def delete(
    call: Invocation,
    *,
    all_clusters: Annotated[
        bool, typer.Option("--all", help="Delete every cluster that this kwokctl made")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Delete what the original kwokctl made, and go on when the runtime is unavailable",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Delete a cluster and its context; it is no error if there is none."""
    from kwokctl.clusters.delete import delete_all, delete_cluster

    path = kubeconfig_path(kubeconfig)
    if not all_clusters:
        name = call.cluster
        if call.run(delete_cluster, call.home, name, kubeconfig=path, force=force):
            call.console.line(f"cluster '{name}' is deleted")
        else:
            call.console.warn(f"there is no cluster '{name}'")
        return
    deleted = call.run(delete_all, call.home, kubeconfig=path, force=force)
    for gone in deleted.names:
        call.console.line(f"cluster '{gone}' is deleted")
    if not deleted.names and not deleted.failures:
        call.console.line("there is no cluster to delete")
    if deleted.left:
        others = ", ".join(f"'{other}'" for other in deleted.left)
        call.console.warn(f"left alone, since the original kwokctl made them: {others}")
        call.console.line("delete one with 'kwokctl --name NAME delete cluster --force'")
    if deleted.failures:
        raise ExceptionGroup("not all clusters are deleted", list(deleted.failures.values()))


def start(call: Invocation, *, wait: Wait = None, timeout: Timeout = None) -> None:
    """Start a cluster; what runs already goes on."""
    from kwokctl.clusters.start import start_cluster

    call.run(start_cluster, call.home, call.cluster, wait=wait or None, timeout=timeout or None)


def stop(call: Invocation) -> None:
    """Stop a cluster; its data stays, and 'start cluster' brings it back."""
    from kwokctl.clusters.stop import stop_cluster

    call.run(stop_cluster, call.home, call.cluster)


def _tell_created(created: "Created", request: "CreateRequest", console: "Console") -> None:
    """Say what there is now and what to do with it; what differs from the request comes first."""
    for difference in created.drift:
        console.warn(f"the cluster exists with other settings: {difference}")
    state = "is ready" if request.wait else "exists" if created.existed else "has been started"
    if request.kubeconfig:
        access, reach = (
            f"'{created.context}' is the current context",
            f"--context {created.context}",
        )
    else:
        access, reach = "your kubeconfig is untouched", f"--kubeconfig {created.kubeconfig}"
    flag = "" if created.name == "kwok" else f" --name {created.name}"
    console.line(f"cluster '{created.name}' {state}; {access}. Now you can:")
    console.line(f"  kubectl {reach} get nodes")
    console.line(f"  kwokctl{flag} scale node --replicas 1000")
    console.line(f"  kwokctl{flag} delete cluster")
