"""`load`: what arrives at a cluster, in a rhythm, from files that describe it."""

from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output.progress_rows import amount
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.options import Output
from kwokctl.cli.parsing.shapes import count_option, file_option
from kwokctl.cli.parsing.values import checked, number
from kwokctl.config import checks

if TYPE_CHECKING:
    from kwokctl.load.verdict import LoadVerdict

_RUNNING = (
    "kwokctl load run -f training.yaml",
    "kwokctl load run -f training.yaml --seed 7 --speed 10",
    "kwokctl load run -f training.yaml --dry-run",
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
_Seed = Annotated[
    int,
    count_option("--seed", "What is drawn at random: with the same seed the same"),
]
_Speed = Annotated[
    float,
    typer.Option(
        "--speed",
        metavar="N",
        help="Speed of the arrivals, from 0.01 to 1000 times that of the file [default: 1]",
        parser=number("--speed", least=0.01, most=1000.0),
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
        app, "load", "Create objects in a rhythm, and change them.", panel=commands.CLUSTERS
    )
    commands.command(below, "run", examples=_RUNNING)(run)


def run(
    call: Invocation,
    *,
    files: _Files,
    seed: _Seed = 0,
    speed: _Speed = 1.0,
    kubeconfig: _Kubeconfig = None,
    output: Output = "",
) -> None:
    """Let the arrivals of loads come when they are due, until there are no more."""
    from kwokctl.host.paths import expanded
    from kwokctl.load.documents import read_loads
    from kwokctl.load.verbs import LoadRequest, run_in_cluster

    request = LoadRequest(
        loads=read_loads(files, progress=call.progress),
        seed=seed,
        speed=speed,
        kubeconfig=expanded(kubeconfig) if kubeconfig else None,
    )
    verdict = call.run(run_in_cluster, call.home, call.cluster, request)
    outcome = Outcome(
        message=f"run '{verdict.run}' has ended: {'; '.join(map(_in_words, verdict.loads))}",
        remark="\n".join(verdict.problems),
        is_partial=verdict.is_stopped,
        cluster="" if kubeconfig else call.name,
        changed=any(each.objects for each in verdict.loads),
        result=verdict,
    )
    conclude(call, outcome, output)


def _in_words(verdict: "LoadVerdict") -> str:
    parts = [
        f"{verdict.load}: {verdict.accepted:,} of {amount(verdict.arrivals, 'arrivals')} accepted"
    ]
    parts += [f"{number:,} refused as {reason}" for reason, number in verdict.refused.items()]
    if verdict.late:
        parts.append(f"{verdict.late:,} late by up to {verdict.latest:.1f} s")
    return ", ".join(parts)
