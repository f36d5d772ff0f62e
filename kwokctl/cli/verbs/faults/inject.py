"""`fault inject`: breaks something in a cluster."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, number, whole_number
from kwokctl.cli.parsing.shared_options import Output, namespace_option, wait_option
from kwokctl.cli.verbs.faults.options import (
    Dialects,
    expression,
    fault_name,
    lasting,
    object_name,
    selector,
    setting,
    time_of_day,
)
from kwokctl.cli.verbs.faults.options import class_name as class_name_
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.faults.inject import Injected
    from kwokctl.clusters.faults.inject_request import InjectRequest
    from kwokctl.faults.objects.fault_schema import FaultTarget

_EXAMPLES = (
    "kwokctl fault inject xid-79 --node dgx-h100-000003 --set gpu=3 --for 10m",
    "kwokctl fault inject gpu-lost --percent 1 --busy --dialect aks --seed 42 --wait",
    "kwokctl fault inject leaf-down --unit dgx-h100-leaf-0002 --dry-run",
    """kwokctl fault inject not-ready --where 'rack == "dgx-h100-rack-0003"' --for 5m""",
)
_MOST_SEED = 2**31 - 1


def register(below: typer.Typer) -> None:
    """Add the command."""
    commands.command(below, "inject", examples=_EXAMPLES)(inject)


def inject(
    call: Invocation,
    class_name: Annotated[
        str,
        typer.Argument(
            metavar="CLASS", help="The class of faults", parser=checked("CLASS", class_name_)
        ),
    ],
    *,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NODE",
            help="Hit this node; may be repeated",
            parser=checked("--node", object_name),
        ),
    ] = None,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            metavar="UNIT",
            help="Hit the nodes of this unit of the fleet, such as a rack or a leaf; 'kwokctl get fleet' shows them",
            parser=checked("--unit", object_name),
        ),
    ] = "",
    where: Annotated[
        str,
        typer.Option(
            "--where",
            metavar="CEL",
            help="Hit the nodes that meet this expression over name, labels, annotations, rack, leaf, spine, zone, core, "
            "feed, domain, shape, gpus, busy, ready, cordoned and pods",
            parser=checked("--where", expression),
        ),
    ] = "",
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            metavar="N",
            help="Draw this number of what the other words allow",
            parser=whole_number("--count", least=1),
        ),
    ] = None,
    percent: Annotated[
        float | None,
        typer.Option(
            "--percent",
            metavar="PERCENT",
            help="Draw this share of what the other words allow, at least one",
            parser=number("--percent", least=0.0001, most=100.0),
        ),
    ] = None,
    busy: Annotated[
        bool,
        typer.Option("--busy", help="Hit only what a pod uses now: then it is not reproducible"),
    ] = False,
    idle: Annotated[bool, typer.Option("--idle", help="Hit only what no pod uses now")] = False,
    namespace: Annotated[
        str | None,
        namespace_option("For classes that hit pods: only pods of this namespace [default: all]"),
    ] = None,
    labels: Annotated[
        str,
        typer.Option(
            "--selector",
            "-l",
            metavar="SELECTOR",
            help="For classes that hit pods: only pods with these labels",
            parser=checked("--selector", selector),
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Also hit nodes that come later")
    ] = False,
    foreign: Annotated[
        bool, typer.Option("--foreign", help="Also hit nodes that no controller of kwokctl plays")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Value of a parameter of the class, such as gpu=3; may be repeated [default: drawn, or that of the class]",
            parser=checked("--set", setting),
        ),
    ] = None,
    dialects: Dialects = None,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="DURATION",
            help="Time from now until it happens [default: 0s]",
            parser=checked("--at", lasting),
        ),
    ] = "",
    lasts: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="DURATION",
            help="Time from its start to its end, such as 10m [default: until it is cleared]",
            parser=checked("--for", lasting),
        ),
    ] = "",
    until: Annotated[
        str,
        typer.Option(
            "--until",
            metavar="TIME",
            help="Time of day of its end, such as 2027-01-02T15:04:05Z",
            parser=checked("--until", time_of_day),
        ),
    ] = "",
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="N",
            help="Seed of all that is drawn: equal seeds hit the same nodes at the same times [default: drawn, and printed]",
            parser=whole_number("--seed", least=0, most=_MOST_SEED),
        ),
    ] = None,
    gang: Annotated[
        bool,
        typer.Option("--gang", help="Let what hits a pod hit all pods of its gang"),
    ] = False,
    fault: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="FAULT",
            help="Name of the Fault [default: the class and some letters]",
            parser=checked("--id", fault_name),
        ),
    ] = "",
    wait: Annotated[
        float | None,
        wait_option("all units show all of it", "when no further unit has shown it for {}"),
    ] = None,
    output: Output = "",
) -> None:
    """Inject a fault: create a Fault, whose effects the controller shows on nodes until it is cleared.

    Of the nodes that all words together allow, --count or --percent are drawn; without these, all are hit. Of a class that hits a GPU,
    one GPU of each node is. With --dry-run it prints whom it would hit, what would be written there and when, and which pods
    would be evicted.
    """
    from kwokctl.clusters.faults.inject import inject as inject_fault
    from kwokctl.clusters.faults.inject_request import InjectRequest
    from kwokctl.faults.objects.fault_schema import FaultTarget, PodTarget

    if busy and idle:
        raise UsageError("'--busy' and '--idle' exclude each other", hint="give one of them")
    pods = PodTarget(namespace=namespace or "", selector=labels) if namespace or labels else None
    target = FaultTarget(
        nodes=tuple(filter(None, nodes or ())),
        unit=unit,
        where=where,
        count=count,
        percent=percent,
        usage="busy" if busy else "idle" if idle else "any",
        pods=pods,
        foreign=foreign,
        follow=follow,
    )
    if target != FaultTarget() or not _hits_the_api(call, class_name):
        _demand_target(target)
    request = InjectRequest(
        name=fault,
        class_name=class_name,
        target=target,
        settings=tuple(filter(None, settings or ())),
        dialects=tuple(filter(None, dialects or ())),
        at=at,
        lasts=lasts,
        until=until,
        seed=seed,
        gang=gang,
        wait=wait or None,
    )
    if call.is_dry_run:
        _foresee(call, request, output)
        return
    made = call.run(inject_fault, call.home, call.cluster, request, call.documents())
    outcome = Outcome(
        message=_in_words(made, is_seed_drawn=seed is None),
        lead="Now you can",
        then=(
            f"{call.itself} fault status {made.name} --watch",
            f"{call.itself} fault clear {made.name}",
        ),
        cluster=call.name,
        result=made,
    )
    conclude(call, outcome, output)


def _hits_the_api(call: Invocation, class_name: str) -> bool:
    """Return whether a class is known to need no target; of one that only the cluster has, it is not."""
    from kwokctl.faults.classes.catalogue import FaultCatalogue
    from kwokctl.faults.targets.target_selection import API

    catalogue = FaultCatalogue(call.documents())
    return class_name in catalogue.names and catalogue.find(class_name).spec.scope == API


def _demand_target(target: "FaultTarget") -> None:
    """Raise UsageError for a target that names nothing, in the words of the options."""
    given = (target.nodes, target.unit, target.where, target.count, target.percent, target.pods)
    if not any(given):
        raise UsageError(
            "no target is given",
            hint="give --node, --unit, --where, --count or --percent; '--percent 100' means all nodes",
        )
    if target.count is not None and target.percent is not None:
        raise UsageError("'--count' and '--percent' exclude each other", hint="give one of them")


def _foresee(call: Invocation, request: "InjectRequest", output: str) -> None:
    from kwokctl.cli.verbs.faults.foreseen import foreseen_lines
    from kwokctl.clusters.faults.foresee import foresee
    from kwokctl.script.steps import Comment

    now = time.time()  # noqa: TID251 - the dry run counts from now
    found = call.run(foresee, call.home, call.cluster, request, call.documents(), now=now)
    lines = foreseen_lines(found, is_seed_drawn=request.seed is None)
    dry_run.show(call, map(Comment, lines), output)


def _in_words(made: "Injected", *, is_seed_drawn: bool) -> str:
    seed = f"seed {made.seed}" if is_seed_drawn else ""
    if made.phase in ("Landed", "Cleared"):
        units = f"shown by {made.landed:,} of {amount(made.units, 'units')}"
        failed = f"{made.failed:,} cannot" if made.failed else ""
        foreign = (
            f"{amount(made.foreign, 'nodes')} left out, which no controller of kwokctl plays"
            if made.foreign
            else ""
        )
        words = ", ".join(each for each in (units, failed, foreign, seed) if each)
        return f"fault '{made.name}' of class '{made.class_name}' is injected: {words}"
    end = f" ({seed})" if seed else ""
    return f"fault '{made.name}' of class '{made.class_name}' is made{end}"
