"""`fault score`: how remediators reacted to faults, from the record of a run."""

from pathlib import Path
from typing import Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, duration, one_of
from kwokctl.cli.parsing.shared_options import format_option
from kwokctl.cli.verbs.measuring import options as given
from kwokctl.config import checks
from kwokctl.errors import NotFoundError

_EXAMPLES = (
    "kwokctl fault score",
    "kwokctl fault score -f run.jsonl.gz --by class --by dialect",
    "kwokctl fault score --by schedule --budget 20% -o wide",
    "kwokctl fault score --since 10m -o json",
)
_FORMATS = ("table", "wide", "json", "yaml")
_KEYS = ("class", "dialect", "node", "severity", "schedule")


def register(below: typer.Typer) -> None:
    """Add the command."""
    commands.command(below, "score", examples=_EXAMPLES)(score)


def score(
    call: Invocation,
    *,
    file: Annotated[
        str,
        typer.Option(
            "--filename",
            "-f",
            metavar="FILE",
            help="The record of a run, or a recording of 'snapshot record' [default: that under way, else the newest of the cluster]",
            parser=checked("--filename", checks.file),
        ),
    ] = "",
    since: Annotated[
        float | None,
        typer.Option(
            "--since",
            metavar="DURATION",
            help="Only incidents that began in this last part of the record, such as 10m [default: all]",
            parser=duration("--since"),
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            metavar="DURATION",
            help="An act on a node is about a fault that began at most this long before [default: 10m]",
            parser=duration("--within"),
        ),
    ] = None,
    budget: given.Budget = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="KEY",
            help=f"Also for each group of incidents: {', '.join(_KEYS)}; may be repeated",
            parser=one_of("--by", *_KEYS),
        ),
    ] = None,
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """Judge how the cluster and its remediators reacted to the faults of a run.

    Each figure is measured (a client has seen it), simulated (it was drawn) or inferred. wide adds a line for each incident, with the times
    after its beginning; json and yaml give {record, seconds, figures, groups, incidents, remarks}.
    """
    from kwokctl.measure.histories.history_files import history_of
    from kwokctl.measure.record.run_clock import SECOND
    from kwokctl.measure.reports.score import ScoreRequest, score_of
    from kwokctl.measure.reports.score_text import score_text
    from kwokctl.measure.scoring.score_words import WITHIN, NodeBudget, ScoreWords

    record = _record(call, file)
    history = history_of(record)
    words = ScoreWords(
        within=WITHIN if within is None else round(within * SECOND),
        budget=NodeBudget.read(budget) if budget else None,
        since=0 if since is None else history.end - round(since * SECOND),
    )
    request = ScoreRequest(record=str(record), words=words, by=tuple(dict.fromkeys(by or ())))
    report = score_of(history, request)
    if output in ("json", "yaml"):
        import msgspec

        results.emit_data(msgspec.to_builtins(report), output)
        return
    results.emit(score_text(report, is_wide=output == "wide"))


def _record(call: Invocation, file: str) -> Path:
    """Return the record that a user means; NotFoundError, with how to make one, if there is none."""
    from kwokctl.host.paths import expanded
    from kwokctl.measure.record.record_names import newest_record
    from kwokctl.measure.running.background import record_under_way

    if file:
        return expanded(file)
    found = record_under_way(call.home, call.cluster)
    found = found or newest_record(call.home.workdir.measurements, call.name)
    if found is None:
        raise NotFoundError(
            f"there is no record of the cluster '{call.name}'",
            hint=f"make one while faults are open: {call.itself} measure start",
        )
    return found
