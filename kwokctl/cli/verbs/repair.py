"""`repair`: repairs a node by hand, says how repairs go, and gives a cluster its policies."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.grammar import usual_group
from kwokctl.cli.parsing.option_values import checked, one_of
from kwokctl.cli.parsing.shared_options import Output, format_option, wait_option
from kwokctl.cli.verbs.faults.options import lasting, object_name
from kwokctl.config import checks
from kwokctl.expr.duration import format_duration, format_seconds
from kwokctl.faults.repairs.repair_actions import ACTIONS

if TYPE_CHECKING:
    from kwokctl.clusters.repairs.stored_repairs import RepairReport

_TEXT = """\
Repair broken nodes, by hand and by policies.

'repair NODE --action ACTION' is 'repair start NODE --action ACTION'.
"""
_COLUMNS = ("NAME", "NODE", "ACTION", "PHASE", "TRIGGER", "ENDED", "LEFT", "AGE")
_FORMATS = ("table", "name", "wide", "json", "yaml")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    cls = usual_group("start", "start")
    below = commands.group(app, "repair", _TEXT, panel=commands.CLUSTERS, cls=cls)
    starting = (
        "kwokctl repair dgx-h100-000003 --action reboot",
        "kwokctl repair dgx-h100-000003 --action replace --takes 90s --wait",
    )
    seeing = ("kwokctl repair status", "kwokctl repair status dgx-h100-000003 -o wide")
    giving = ("kwokctl repair policy -f shop.yaml",)
    commands.command(below, "start", examples=starting)(start)
    commands.command(below, "status", examples=seeing)(status)
    commands.command(below, "policy", examples=giving)(policy)


def start(
    call: Invocation,
    node: Annotated[
        str,
        typer.Argument(
            metavar="NODE", help="The node to repair", parser=checked("NODE", object_name)
        ),
    ],
    *,
    action: Annotated[
        str,
        typer.Option(
            "--action",
            metavar="ACTION",
            help=f"How to repair it: {', '.join(ACTIONS)}",
            parser=one_of("--action", *ACTIONS),
        ),
    ],
    of_policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="POLICY",
            help="The RepairPolicy that says how long it takes and what it ends [default: the first by name that is for the node]",
            parser=checked("--policy", object_name),
        ),
    ] = "",
    takes: Annotated[
        str,
        typer.Option(
            "--takes",
            metavar="DURATION",
            help="Its length [default: that of the policy, or of the action]",
            parser=checked("--takes", lasting),
        ),
    ] = "",
    wait: Annotated[
        float | None,
        wait_option("it is over", "when nothing has happened to it for {}"),
    ] = None,
    output: Output = "",
) -> None:
    """Repair a node: make a Repair, which the controller carries out.

    Meanwhile the node shows what it would show: NotReady, and then another boot id; a node that is replaced is deleted, and made anew.
    Which faults it ends, their classes and the policy say. Exits with 1 if '--wait' is given and it is refused or not over in time.
    """
    from kwokctl.clusters.repairs.asking import RepairRequest, repair

    if call.is_dry_run:
        dry_run.remark(call, f"Repair the node '{node}': {action}.", output)
        return
    request = RepairRequest(
        node=node,
        action=ACTIONS[ACTIONS.index(action)],
        policy=of_policy,
        takes=takes,
        wait=wait or None,
    )
    made = call.run(repair, call.home, call.cluster, request)
    outcome = Outcome(
        message=_in_words(made),
        lead="Now you can",
        then=(f"{call.itself} repair status {node}",),
        cluster=call.name,
        result=made,
    )
    conclude(call, outcome, output)


def status(
    call: Invocation,
    nodes: Annotated[
        list[str] | None, typer.Argument(metavar="NODE", help="Names of nodes [default: all]")
    ] = None,
    *,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the repairs of a cluster, in the order in which they were asked for.

    wide adds who asked, the policy, the faults that were ended and left, and a message. json and yaml give a list of {name, node, action, phase,
    trigger, by, policy, created, acceptedAt, startedAt, endedAt, takes, attempt, cleared, left, asleep, message}.
    """
    from kwokctl.clusters.repairs.stored_repairs import repair_reports

    quiet = call.quietly()
    found = quiet.run(repair_reports, quiet.home, quiet.cluster, nodes or ())
    if output in ("json", "yaml"):
        results.emit_data(found, output)
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        _emit_rows(found, is_wide=output == "wide")


def policy(
    call: Invocation,
    *,
    file: Annotated[
        str,
        typer.Option(
            "--filename",
            "-f",
            metavar="FILE",
            help="File with a document of kind RepairPolicy, '-' for standard input",
            parser=checked("--filename", lambda word: None if word == "-" else checks.file(word)),
        ),
    ],
    output: Output = "",
) -> None:
    """Give a cluster a RepairPolicy: what starts repairs, how long they take, which faults they end, and how many go on at a time.

    It takes the place of the one with its name. Delete it with 'kwokctl kubectl delete repairpolicy NAME'.
    """
    from kwokctl.clusters.repairs.asking import apply_policy
    from kwokctl.config.config_documents import load_documents, only_document
    from kwokctl.config.document_kinds import REPAIR_POLICY
    from kwokctl.faults.classes.catalogue import FaultCatalogue
    from kwokctl.faults.repairs.policy_reader import read_policy

    documents = load_documents([file], progress=call.quietly().progress)
    document = only_document(documents, REPAIR_POLICY, file)
    if call.is_dry_run:
        found = read_policy(document, FaultCatalogue(call.documents()).names)
        dry_run.remark(call, f"Give the cluster the RepairPolicy '{found.name}'.", output)
        return
    name = call.run(apply_policy, call.home, call.cluster, document)
    outcome = Outcome(
        message=f"the RepairPolicy '{name}' is in force", cluster=call.name, result={"name": name}
    )
    conclude(call, outcome, output)


def _in_words(made: "RepairReport") -> str:
    what = f"repair '{made.name}' of node '{made.node}' ({made.action})"
    if made.phase in ("Succeeded", "Failed"):
        return f"{what} has {made.phase.lower()}: {made.message}"
    return f"{what} is asked for"


def _emit_rows(found: "list[RepairReport]", *, is_wide: bool) -> None:
    now = time.time()  # noqa: TID251 - ages are counted from now
    headings, rows = [*_COLUMNS], [_row(each, now) for each in found]
    if is_wide:
        headings += ["BY", "POLICY", "TAKES", "MESSAGE"]
        for row, each in zip(rows, found, strict=True):
            takes = (
                "" if each.takes is None else format_duration(int(each.takes * 1000) * 1_000_000)
            )
            row += [each.by, each.policy, takes, each.message]
    results.emit_table(headings, rows)


def _row(each: "RepairReport", now: float) -> list[str]:
    age = format_seconds(int(each.age(now)))
    ended, left = ",".join(each.cleared), ",".join(each.left)
    return [each.name, each.node, each.action, each.phase, each.trigger, ended, left, age]
