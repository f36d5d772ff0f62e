"""`create`, `delete`, `start` and `stop` a cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude, conclude_all
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import (
    Kubeconfig,
    Output,
    Timeout,
    Wait,
    chosen_options,
    cluster_parameters,
    is_read_by_kubectl,
    kubeconfig_path,
    reached_by,
)
from kwokctl.cli.suggestions import get_nodes
from kwokctl.cli.verbs.populate import going_on, populate, words_of
from kwokctl.cli.verbs.scale import objects_of
from kwokctl.cli.verbs.time_travel import forking
from kwokctl.replacing import replace

if TYPE_CHECKING:
    from kwokctl.clusters.create import Created, CreateRequest
    from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult


_EXAMPLES = {
    "create": (
        "kwokctl create cluster --nodes 1000 --pods 2000 --wait",
        "kwokctl create cluster --name old --kube-version v1.34.1 --wait 10m",
        "kwokctl create cluster --runtime docker --memory-limit 4Gi",
        "kwokctl create cluster --config my-stages.yaml --disable kube-scheduler",
        "kwokctl create cluster --from kwok --name copy --count 3",
        "kwokctl create cluster -o json",
    ),
    "delete": ("kwokctl delete cluster --name old", "kwokctl delete cluster --all"),
}


_COMMON = (
    "--wait", "--timeout", "--kubeconfig", "--keep-on-failure", "--from", "--count", "--output",
    "--runtime", "--kube-version", "--profile", "--restart",
    "--nodes", "--pods", "--stage", "--enable", "--disable", "--kube-authorization", "--extra-args",
    "--name", "--config", "--dry-run", "--v",
)  # fmt: skip
"""The options of `create` that most users need."""
_TO_CHANGE = "'create' does not change a cluster: delete it first, or give another --name"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for verb, function, adds, text in (
        ("create", create, cluster_parameters(), "Create a cluster."),
        ("delete", delete, (), "Delete a cluster."),
        ("start", start, (), "Start a cluster that was stopped."),
        ("stop", stop, (), "Stop a cluster and keep its data."),
    ):
        below = commands.group(app, verb, text, panel=commands.CLUSTERS)
        examples, common = _EXAMPLES.get(verb, ()), _COMMON if verb == "create" else ()
        commands.command(below, "cluster", adds=adds, examples=examples, common=common)(function)


def create(
    call: Invocation,
    *,
    wait: Wait = None,
    timeout: Timeout = None,
    kubeconfig: Kubeconfig = None,
    keep_on_failure: Annotated[
        bool, typer.Option("--keep-on-failure", help="Keep what was created if it fails")
    ] = False,
    fail_on_drift: Annotated[
        bool,
        typer.Option("--fail-on-drift", help="Fail if the cluster exists with other settings"),
    ] = False,
    source: forking.From = None,
    count: forking.Count = None,
    new_pki: forking.NewPki = False,
    ignore_memory: forking.IgnoreMemory = False,
    output: Output = "",
    **words: object,
) -> None:
    """Create a cluster, or complete one whose creation was interrupted.

    Without --wait it returns when the API server is ready. A cluster that exists keeps its settings;
    a warning names each one that differs from the request.
    """
    fork = forking.WantedForks(
        source=source or "",
        count=count,
        new_pki=new_pki,
        ignores_memory=ignore_memory,
        output=output,
    )
    snapshot = forking.snapshot_of(source, fork)
    if snapshot is None and (source is not None or fork.is_wanted):
        forking.create(call, fork, chosen_options(words), (kubeconfig, wait, timeout))
        return
    import os

    from kwokctl.clusters.create import CreateRequest, create_cluster
    from kwokctl.clusters.scaling.scale_request import first_sets
    from kwokctl.components.catalog import usual_options
    from kwokctl.config.add_ons.enabling import resolve_with_add_ons

    chosen = chosen_options(words) | ({"verbosity": call.level} if call.level else {})
    found = resolve_with_add_ons(usual_options(), chosen, os.environ, call.documents())
    resolved, documents = found.resolved, found.documents
    for warning in resolved.warnings:
        call.progress.warn(warning)
    request = CreateRequest(
        name=call.cluster,
        resolved=resolved,
        documents=documents,
        kubeconfig=kubeconfig_path(kubeconfig),
        wait=wait or None,
        timeout=timeout or None,
        snapshot=snapshot,
        keep_on_failure=keep_on_failure,
        fail_on_drift=fail_on_drift,
    )
    requests = first_sets(resolved.options)
    if call.is_dry_run and snapshot:
        forking.show_seed(call, snapshot, fork)
        return
    if call.is_dry_run:
        _show_creation(call, request, requests, output)
        return
    if snapshot and count:
        forking.create_from_file(call, request, requests, fork)
        return
    created = call.run(create_cluster, call.home, request)
    for difference in created.drift:
        call.console.warn(f"the cluster exists with other settings: {difference}")
    if created.drift:
        call.console.line(_TO_CHANGE, label="hint:")
    scaled = populate(call, requests, documents, wait=wait or None, timeout=timeout or None)
    if created.lacking:
        created = _with_tools(call, created)
    conclude(call, _creation(call, request, created, scaled), output)


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
            help="Also delete clusters of the original kwokctl, and continue when the runtime is "
            "unavailable",
        ),
    ] = False,
    kubeconfig: Kubeconfig = None,
    output: Output = "",
) -> None:
    """Delete a cluster and its context; succeeds if it does not exist."""
    from kwokctl.clusters.delete import delete_all, delete_cluster
    from kwokctl.clusters.state.saved import hint_of_clusters

    path = kubeconfig_path(kubeconfig)
    if call.is_dry_run:
        _show_deletion(call, path, all_clusters=all_clusters, force=force, output=output)
        return
    if all_clusters:
        deleted = call.run(delete_all, call.home, kubeconfig=path, force=force)
        conclude_all(call, deleted, output)
        return
    name = call.cluster
    was_there = call.run(delete_cluster, call.home, name, kubeconfig=path, force=force)
    if not was_there:
        others = hint_of_clusters(call.home.paths(name), name)
        call.console.warn(f"there is no cluster '{name}'" + (f"; {others}" if others else ""))
    outcome = Outcome(
        message=f"cluster '{name}' is deleted" if was_there else "nothing was deleted",
        cluster=name,
        changed=bool(was_there),
        result={"deleted": [name] if was_there else [], "leftAlone": []},
    )
    if was_there or output:
        conclude(call, outcome, output)


def start(
    call: Invocation, *, wait: Wait = None, timeout: Timeout = None, output: Output = ""
) -> None:
    """Start a cluster; components that already run are left alone."""
    from kwokctl.clusters.start import start_cluster

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.lifecycle_steps import start_steps

        steps = call.run(
            start_steps, call.home, call.cluster, wait=wait or None, timeout=timeout or None
        )
        dry_run.show(call, steps, output)
        return
    started = call.run(
        start_cluster, call.home, call.cluster, wait=wait or None, timeout=timeout or None
    )
    state = "is ready" if wait else "has been started"
    outcome = Outcome(
        message=f"cluster '{call.name}' {state if started else 'runs already'}",
        lead="Look at it with",
        then=(f"{call.itself} get components -o wide",),
        cluster=call.name,
        changed=bool(started),
        result={"started": started or ()},
    )
    conclude(call, outcome, output)


def stop(call: Invocation, *, output: Output = "") -> None:
    """Stop a cluster; its data stays, and 'start cluster' brings it back."""
    from kwokctl.clusters.stop import stop_cluster

    if call.is_dry_run:
        from kwokctl.clusters.dry_run.lifecycle_steps import stop_steps

        dry_run.show(call, call.run(stop_steps, call.home, call.cluster), output)
        return
    stopped = call.run(stop_cluster, call.home, call.cluster)
    state = "is stopped" if stopped else "was stopped already"
    outcome = Outcome(
        message=f"cluster '{call.name}' {state}; its data stays",
        lead="Start it again with",
        then=(f"{call.itself} start cluster",),
        cluster=call.name,
        changed=bool(stopped),
        result={"stopped": stopped or ()},
    )
    conclude(call, outcome, output)


def _show_creation(
    call: Invocation, request: "CreateRequest", requests: "Sequence[ScaleRequest]", output: str
) -> None:
    """Print what would create the cluster, and fill it with its first objects."""
    from kwokctl.clusters.dry_run.lifecycle_steps import create_steps
    from kwokctl.clusters.dry_run.plumbing import kwokctl

    steps = call.run(create_steps, call.home, request)
    files = [path for path in call.config if path != "-"]
    config = [word for path in files for word in ("--config", str(Path(path).absolute()))]
    scaling = (kwokctl(call.cluster, *config, *words_of(each, request.wait)) for each in requests)
    dry_run.show(call, (*steps, *scaling), output)


def _show_deletion(
    call: Invocation, kubeconfig: "Path | None", *, all_clusters: bool, force: bool, output: str
) -> None:
    from kwokctl.clusters.dry_run import lifecycle_steps

    if all_clusters:
        steps = call.run(
            lifecycle_steps.delete_all_steps, call.home, kubeconfig=kubeconfig, force=force
        )
    else:
        steps = call.run(
            lifecycle_steps.delete_steps,
            call.home,
            call.cluster,
            kubeconfig=kubeconfig,
            force=force,
        )
    dry_run.show(call, steps, output)


def _with_tools(call: Invocation, created: "Created") -> "Created":
    """Get the tools that no component needs, last of all."""
    from kwokctl.clusters.programs.tools_last import get_tools

    with going_on(call, f"{call.itself} create cluster"):
        missing = call.run(get_tools, call.home, created.name, created.lacking)
    return replace(created, lacking=missing)


def _creation(
    call: Invocation, request: "CreateRequest", created: "Created", scaled: "Sequence[ScaleResult]"
) -> Outcome:
    """Describe the new clusters, and suggest the next commands."""
    if request.wait:
        state = "is ready"
    elif created.started or not created.existed:
        state = "existed and has been started" if created.existed else "has been started"
    else:
        state = "exists and runs"
    access, reach = "your kubeconfig is untouched", reached_by(created.kubeconfig, created.context)
    if request.kubeconfig:
        place = "" if is_read_by_kubectl(request.kubeconfig) else f" of '{request.kubeconfig}'"
        access, reach = (
            f"'{created.context}' is the current context{place}",
            reached_by(request.kubeconfig, created.context),
        )
    objects = " and ".join(map(objects_of, scaled))
    return Outcome(
        message=f"cluster '{created.name}' {state}{objects and f' with {objects}'}; {access}",
        lead="Now you can",
        then=(
            get_nodes(reach, call.itself),
            f"{call.itself} {'get components -o wide' if scaled else 'scale node --replicas 1000'}",
            f"{call.itself} delete cluster",
        ),
        remark=_remark(created),
        cluster=created.name,
        changed=any((created.started, not created.existed, *(not r.is_unchanged for r in scaled))),
        result={**results.plain(created), "scaled": scaled},
    )


def _remark(created: "Created") -> str:
    """Say why writes to a new cluster take the slower path, if they do, and where its components have pages.

    'status' says how it is written to in any case.
    """
    pages = [f"{name}: {url}" for name, url in created.urls.items()]
    is_worth_it = not created.existed and created.data_path.path == "api"
    return "\n".join([*([str(created.data_path)] if is_worth_it else []), *pages])
