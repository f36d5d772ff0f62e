"""`scale`: a number of nodes, pods or other objects."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import confirmation, dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of
from kwokctl.cli.parsing.shared_options import (
    Output,
    Timeout,
    Wait,
    count_option,
    file_option,
    namespace_option,
)
from kwokctl.errors import KwokctlError, UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.scaling.scale_request import ScaleRequest, ScaleResult


_ALL_NODES = "all"
_EXAMPLES = (
    "kwokctl scale node --replicas 1000 --wait",
    "kwokctl scale node big --replicas 2 --param '.allocatable.cpu = \"128\"'",
    "kwokctl scale pod --replicas 5000 --namespace load --wait 10m",
    "kwokctl scale pod --replicas 5000 --on-nodes all",
    "kwokctl --config zoned.yaml scale zoned-node --replicas 30",
    "kwokctl scale node --replicas 0",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    commands.command(app, "scale", panel=commands.CLUSTERS, examples=_EXAMPLES)(scale)


def scale(
    call: Invocation,
    *,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="node, pod, or the name of your own KwokctlResource",
        ),
    ],
    set_name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the set of objects [default: KIND]"),
    ] = None,
    replicas: Annotated[
        int | None,
        count_option("--replicas", "Number of objects in the set; must be given"),
    ] = None,
    serial_length: Annotated[
        int | None,
        count_option(
            "--serial-length",
            "Digits of the number in a name; 0 for one object with the name alone [default: 6]",
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        namespace_option("Namespace of the objects [default: that of the template, or default]"),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="JQ",
            help="jq program that edits the template's parameters, such as "
            "'.allocatable.cpu=\"64\"'; may be repeated [default: as the set was made before]",
        ),
    ] = None,
    kubeconfig: Annotated[
        str | None,
        file_option(
            "--kubeconfig",
            "Scale in the cluster of this kubeconfig, which kwokctl need not have created",
        ),
    ] = None,
    on_nodes: Annotated[
        str | None,
        typer.Option(
            "--on-nodes",
            metavar="SELECTOR",
            help="Spread pods evenly over the nodes with these labels, or over all, without the scheduler",
        ),
    ] = None,
    grace_period: Annotated[
        int | None,
        count_option(
            "--grace-period",
            "Grace period of deleted objects [default: 0]",
            metavar="SECONDS",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Ignore the limits of etcd's size and of private addresses, and with --on-nodes that of pods on each node",
        ),
    ] = False,
    data_path: Annotated[
        str | None,
        typer.Option(
            "--data-path",
            metavar="PATH",
            help="How objects are written: auto, api or etcd [default: that of the cluster]",
            parser=one_of("--data-path", "auto", "api", "etcd"),
        ),
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask for confirmation; on a terminal scale asks before more than half of a set of over "
            "ten objects is deleted, and before a set gets objects with another --param",
        ),
    ] = False,
    wait: Wait = None,
    timeout: Timeout = None,
    output: Output = "",
) -> None:
    """Create or delete nodes, GPU machines or pods until there are N.

    They are named NAME-000000, NAME-000001 and so on; the oldest are kept.
    """
    from kwokctl.clusters.scale import scale as scale_cluster
    from kwokctl.clusters.scaling.scale_request import LABEL, ScaleRequest, unasked
    from kwokctl.host.paths import expanded

    asking = partial(confirmation.confirmed_within, call.console)
    request = ScaleRequest(
        kind=kind,
        name=set_name,
        replicas=1 if replicas is None else replicas,
        serial_length=6 if serial_length is None else serial_length,
        namespace=namespace or None,
        params=tuple(params or ()),
        on_nodes="" if on_nodes == _ALL_NODES else on_nodes,
        force=force,
        grace_seconds=grace_period or 0,
        confirm=unasked if yes or not confirmation.is_possible() else asking,
        wait=wait or None,
        timeout=timeout or None,
    )
    if replicas is None:
        _demand_replicas(call, request)
    documents, elsewhere = call.documents(), expanded(kubeconfig) if kubeconfig else None
    if call.is_dry_run:
        from kwokctl.clusters.dry_run.scale_steps import scale_steps

        home, name = call.home, call.cluster
        steps = call.run(
            scale_steps, home, name, request, documents=documents, kubeconfig=elsewhere
        )
        dry_run.show(call, steps, output)
        return
    result = call.run(
        scale_cluster,
        call.home,
        call.cluster,
        request,
        documents=documents,
        kubeconfig=elsewhere,
        data_path=data_path,
    )
    tool = f"kubectl --kubeconfig {kubeconfig}" if kubeconfig else f"{call.itself} kubectl"
    within = f" -n {result.namespace}" if result.namespace not in {"", "default"} else ""
    see = f"{tool}{within} get {_plural(result.kind)} -l {LABEL}={result.name}"
    outcome = Outcome(
        message=in_words(
            result, is_waited_for=bool(wait), is_declined=result.count != request.replicas
        ),
        lead="See them with",
        then=(see,) if result.count or result.held else (),
        cluster="" if kubeconfig else call.name,
        changed=not result.is_unchanged,
        result=result,
    )
    conclude(call, outcome, output)


def _demand_replicas(call: Invocation, request: "ScaleRequest") -> None:
    """Raise UsageError where the number is not given, so that no object is deleted by a slip.

    Where the original's ways are asked for it is one.
    """
    if call.acts_as_original or _was_created_as_original(call):
        return
    words = " ".join(["scale", request.kind, *([request.name] if request.name else [])])
    raise UsageError(
        "'--replicas' is missing: nothing was created or deleted",
        hint=f"say how many objects you want: {call.itself} {words} --replicas 10",
    )


def _was_created_as_original(call: Invocation) -> bool:
    from kwokctl.clusters.state.saved import load
    from kwokctl.config.original.compat import KWOKCTL

    try:
        saved = load(call.home.paths(call.cluster), call.cluster)
    except KwokctlError:
        return False
    return saved.options.compat == KWOKCTL


def in_words(
    result: "ScaleResult", *, is_waited_for: bool = False, is_declined: bool = False
) -> str:
    """Return a line with the number of objects of a set, and the changes."""
    from kwokctl.clusters.scaling.ready_objects import word_for

    if is_declined:
        return f"'{result.name}' still has {objects_of(result)} (nothing was changed)"
    ready = f", all {word_for(result.kind)}" if is_waited_for and result.count else ""
    if result.broken:
        ready += f" but {result.broken:,} broken on purpose"
    changes = [
        f"{number:,} {what}"
        for number, what in ((result.created, "created"), (result.deleted, "deleted"))
        if number
    ]
    if result.companions:
        changes.append(f"{amount(result.companions, 'companions')} created")
    return (
        f"'{result.name}' has {objects_of(result)}{ready} ({', '.join(changes) or 'nothing to do'})"
        f"{_held(result)}"
    )


def _held(result: "ScaleResult") -> str:
    """Return a remark on deleted objects that still exist."""
    if not result.held:
        return ""
    verb, whose = ("exists", "its") if result.held == 1 else ("exist", "their")
    return f"; {result.held:,} more {verb} until {whose} finalizers are removed"


def objects_of(result: "ScaleResult") -> str:
    """Say how many objects there are: `1,000 nodes`."""
    return amount(result.count, _plural(result.kind))


def _plural(kind: str) -> str:
    """Return the resource of a kind, as the rules of Kubernetes' API guess it.

    https://github.com/kubernetes/apimachinery/blob/master/pkg/api/meta/restmapper.go
    """
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
