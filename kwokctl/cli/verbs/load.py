"""`load`: what arrives at a cluster, in a rhythm, from files that describe it."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run, hook_consent
from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, label_value
from kwokctl.cli.parsing.shared_options import (
    AllowHooks,
    LoadSeed,
    LoadSpeed,
    Output,
    file_option,
)
from kwokctl.config import checks

if TYPE_CHECKING:
    from pathlib import Path

    from kwokctl.load.load_verdict import LoadVerdict, RunVerdict

_RUNNING = (
    "kwokctl load run -f training.yaml",
    "kwokctl load run -f training.yaml --seed 7 --speed 10",
    "kwokctl load run -f training.yaml --dry-run",
)
_CLEARING = (
    "kwokctl load clear",
    "kwokctl load clear training",
    "kwokctl load clear --run 3f9c2b1a",
)
_Files = Annotated[
    list[str],
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE",
        help="File of documents of kind Load, '-' for standard input; may be repeated",
        parser=checked("--filename", lambda word: None if word == "-" else checks.file(word)),
    ),
]
_Kubeconfig = Annotated[
    str | None,
    file_option(
        "--kubeconfig", "Use the cluster of this kubeconfig, which kwokctl need not have created"
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app,
        "load",
        "Let Jobs, pods and others arrive in a rhythm, and remove them.",
        panel=commands.CLUSTERS,
    )
    commands.command(below, "run", examples=_RUNNING)(run)
    commands.command(below, "clear", examples=_CLEARING)(clear)


def run(
    call: Invocation,
    *,
    files: _Files,
    seed: LoadSeed = 0,
    speed: LoadSpeed = 1.0,
    allow_hooks: AllowHooks = False,
    kubeconfig: _Kubeconfig = None,
    output: Output = "",
) -> None:
    """Run loads: send each arrival when it is due, until the last.

    Late ones are sent nevertheless, and counted. Ctrl-C ends the arrivals; what was made stays.
    """
    from kwokctl.load.load_documents import read_loads
    from kwokctl.load.verbs import LoadRequest, run_in_cluster

    loads = read_loads(files, progress=call.progress)
    if call.is_dry_run:
        from kwokctl.load.foreseen_load import foreseen

        dry_run.remark(call, foreseen(loads, seed, speed), output)
        return
    hook_consent.demand(call, loads, is_given=allow_hooks)
    request = LoadRequest(loads=loads, seed=seed, speed=speed, kubeconfig=_path(kubeconfig))
    clearing = f"{call.itself} load clear --run {request.run}{_option(kubeconfig)}"
    try:
        verdict = call.run(run_in_cluster, call.home, call.cluster, request)
    except KeyboardInterrupt:
        call.console.line(f"no more arrivals are sent; remove what was made with: {clearing}")
        raise
    made = any(each.objects for each in verdict.loads)
    outcome = Outcome(
        message=f"run '{verdict.run}' {_end(verdict)}: {'; '.join(map(in_words, verdict.loads))}",
        lead="Remove what it made with",
        then=(clearing,) if made else (),
        remark="\n".join([*verdict.problems, *verdict.refusals]),
        is_partial=verdict.is_stopped,
        cluster="" if kubeconfig else call.name,
        changed=made,
        result=verdict,
    )
    conclude(call, outcome, output)


def clear(
    call: Invocation,
    *,
    load: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The load [default: all]", parser=checked("NAME", label_value)
        ),
    ] = None,
    run: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="NAME",
            help="Only what this run made [default: all runs]",
            parser=checked("--run", label_value),
        ),
    ] = "",
    kubeconfig: _Kubeconfig = None,
    output: Output = "",
) -> None:
    """Delete the objects that loads have created, found by their labels, and their dependents."""
    from kwokctl.load.clear import ClearRequest, clear_loads

    request = ClearRequest(load=load or "", run=run, kubeconfig=_path(kubeconfig))
    done = call.run(clear_loads, call.home, call.cluster, request, only_look=call.is_dry_run)
    counts = ", ".join(amount(number, plural) for plural, number in sorted(done.objects.items()))
    if call.is_dry_run:
        dry_run.remark(call, f"Delete: {counts or 'nothing'}.", output)
        return
    outcome = Outcome(
        message=f"deleted {counts}" if counts else "there is nothing that a load has made",
        cluster="" if kubeconfig else call.name,
        changed=bool(counts),
        result=done,
    )
    conclude(call, outcome, output)


def _end(verdict: "RunVerdict") -> str:
    return "was ended by a refusal" if verdict.is_stopped else "has ended"


def in_words(verdict: "LoadVerdict") -> str:
    """Return the result of a load, in words."""
    accepted = f"{verdict.accepted:,} of {amount(verdict.arrivals, 'arrivals')} accepted"
    parts = [f"{verdict.load}: {accepted}"]
    if verdict.past_api:
        parts.append(f"{amount(verdict.past_api, 'objects')} written past the API server")
    parts += [f"{number:,} refused as {reason}" for reason, number in verdict.refused.items()]
    if verdict.retries:
        parts.append(f"{verdict.retries:,} tried again")
    if verdict.late:
        parts.append(f"{verdict.late:,} late by up to {verdict.latest:.1f} s")
    return ", ".join(parts)


def _path(kubeconfig: str | None) -> "Path | None":
    from kwokctl.host.paths import expanded

    return expanded(kubeconfig) if kubeconfig else None


def _option(kubeconfig: str | None) -> str:
    return f" --kubeconfig {shlex.quote(kubeconfig)}" if kubeconfig else ""
