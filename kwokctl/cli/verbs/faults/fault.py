"""`fault`: the classes of faults that fleets have, and what each stack shows of them."""

import json
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import one_of
from kwokctl.cli.parsing.shared_options import DataOutput, format_option
from kwokctl.cli.verbs.faults import following, inject, score, storms
from kwokctl.faults.classes.class_schema import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kwokctl.faults.classes.catalogue import FaultClass
    from kwokctl.faults.explaining.explanation import (
        ExplainedParameter,
        FaultExplanation,
        ShownChange,
        ShownSignal,
    )

_FORMATS = ("table", "name", "wide", "json", "yaml")
_LISTED = (
    "kwokctl fault list",
    "kwokctl fault list --dialect eks --layer gpu",
    "kwokctl fault list -o wide",
)
_EXPLAINED = (
    "kwokctl fault explain xid-79",
    "kwokctl fault explain xid-109 --dialect eks --dialect device-plugin",
    "kwokctl fault explain gpu-missing -o yaml > mine.yaml",
)
_Dialects = Annotated[
    list[str] | None,
    typer.Option(
        "--dialect",
        metavar="DIALECT",
        help="Only what this stack shows, such as aks or eks; may be repeated [default: all]",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app,
        "fault",
        "Break GPUs, nodes, racks, pods or the API, and undo it exactly.",
        panel=commands.CLUSTERS,
    )
    commands.command(below, "list", examples=_LISTED)(list_classes)
    commands.command(below, "explain", examples=_EXPLAINED)(explain)
    inject.register(below)
    following.register(below)
    storms.register(below)
    score.register(below)


def list_classes(
    call: Invocation,
    *,
    dialect: _Dialects = None,
    layer: Annotated[
        str,
        typer.Option(
            "--layer",
            metavar="LAYER",
            help=f"Only faults of this layer: {', '.join(get_args(Layer))} [default: all]",
            parser=one_of("--layer", "", *get_args(Layer)),
        ),
    ] = "",
    output: Annotated[str, format_option(*_FORMATS, usual="table")] = "",
) -> None:
    """List the classes of faults: those of '--config', then the built-in ones.

    wide adds causes, what clears a fault, and the dialects that show it. yaml gives the FaultClass of each,
    to be changed and given to '--config'; json a list of {name, summary, layer, scope, severity, causes, lifetime,
    clearedBy, dialects}.
    """
    from kwokctl.expr import yaml
    from kwokctl.faults.classes.catalogue import FaultCatalogue

    catalogue = FaultCatalogue(call.documents())
    wanted = [catalogue.dialect(name).name for name in dialect or ()]
    found = [
        each
        for each in catalogue.classes()
        if layer in ("", each.spec.layer) and (not wanted or each.spec.signals.keys() & wanted)
    ]
    if output == "yaml":
        results.emit(yaml.dump_all([dict(each.document) for each in found]).rstrip("\n"))
    elif output == "json":
        results.emit_data([_as_data(each) for each in found], output)
    elif output == "name":
        results.emit("\n".join(each.name for each in found))
    else:
        _emit_rows(found, is_wide=output == "wide")


def _as_data(found: "FaultClass") -> dict[str, object]:
    spec = found.spec
    return {
        "name": found.name, "summary": spec.summary, "layer": spec.layer, "scope": spec.scope,
        "severity": spec.severity, "causes": spec.causes, "lifetime": spec.lifetime,
        "clearedBy": spec.cleared_by, "dialects": list(spec.signals),
    }  # fmt: skip


def _emit_rows(found: "Sequence[FaultClass]", *, is_wide: bool) -> None:
    headings = ["NAME", "LAYER", "SCOPE", "SEVERITY", "SUMMARY"]
    rows = [
        [each.name, each.spec.layer, each.spec.scope, each.spec.severity, each.spec.summary]
        for each in found
    ]
    if is_wide:
        headings += ["LIFETIME", "CAUSES", "CLEARED BY", "DIALECTS"]
        for row, each in zip(rows, found, strict=True):
            spec = each.spec
            lists = (spec.causes, spec.cleared_by, spec.signals)
            row += [spec.lifetime, *(",".join(names) or "none" for names in lists)]
    results.emit_table(headings, rows)


def explain(
    call: Invocation,
    class_name: Annotated[str, typer.Argument(metavar="CLASS", help="The class of faults")],
    *,
    dialect: _Dialects = None,
    output: DataOutput = "",
) -> None:
    """Explain a class of faults: what each component shows and when, how Kubernetes reacts, and what clears it.

    The node of the example has 8 GPUs; parameters that a fault draws have their least value. yaml gives the FaultClass, to be
    changed and given to '--config'; json the same as the text.
    """
    from kwokctl.expr import yaml
    from kwokctl.faults.classes.catalogue import FaultCatalogue
    from kwokctl.faults.explaining import explanation

    catalogue = FaultCatalogue(call.documents())
    found = catalogue.find(class_name)
    wanted = [catalogue.dialect(each) for each in dialect or catalogue.dialect_names]
    always = [each for each in catalogue.dialects() if each.spec.always and each not in wanted]
    explained = explanation.explain(found, [*always, *wanted], catalogue.followers(found))
    if output == "yaml":
        results.emit(yaml.dump(dict(found.document)))
    elif output == "json":
        results.emit_data(explained, output)
    else:
        lines = [part for line in _lines(explained) for part in results.parted(line, hanging=4)]
        results.emit("\n".join(lines))


def _lines(found: "FaultExplanation") -> "Iterator[str]":
    """Yield the text, section by section."""
    yield f"{found.name}: {found.summary}"
    unit = f" ({found.unit})" if found.unit else ""
    yield f"layer {found.layer}, scope {found.scope}{unit}, {found.severity}; causes: {', '.join(found.causes)}"
    yield f"{_LIFETIMES[found.lifetime]}; cleared by: {', '.join(_cures(found))}"
    yield from _section("Parameters", map(_parameter, found.parameters))
    yield from _section("The fault itself", found.effects)
    yield from _section("Followed by", found.follows)
    yield from _section("Shown by", _signals(found))
    yield from _section("Kubernetes does", found.reactions)
    yield from _section("On a node with 8 GPUs", map(_change, found.changes))


def _cures(found: "FaultExplanation") -> "Iterator[str]":
    """Yield what ends a fault, with its probability where that is not certain."""
    for cure in found.cleared_by:
        odds = found.clearing_odds.get(cure)
        yield cure if odds is None else f"{cure} ({odds:.0%})"


_LIFETIMES = {
    "latched": "latched: it stays until it is cleared",
    "live": "live: it ends with its cause",
}


def _section(heading: str, lines: "Iterable[str]") -> "Iterator[str]":
    found = [f"  {line}" for line in lines]
    if found:
        yield from ("", heading, *found)


def _parameter(parameter: "ExplainedParameter") -> str:
    default = "drawn" if parameter.default is None else f"default {parameter.default!r}"
    return f"{parameter.name} ({parameter.type}, {default}): {parameter.about}"


def _signals(found: "FaultExplanation") -> "Iterator[str]":
    for each in found.signals:
        yield f"{each.dialect}, {_when(each)}"
        yield from (f"  {shown}" for shown in each.shows)
        if each.note:
            yield f"  ({each.note})"
    yield from found.remarks
    if found.blind:
        yield f"blind: {', '.join(found.blind)}"


def _when(signal: "ShownSignal") -> str:
    if signal.latest == "0s":
        return "at once"
    if signal.earliest == signal.latest:
        return f"after {signal.latest}"
    return f"after {signal.earliest} to {signal.latest}"


def _change(change: "ShownChange") -> str:
    return f"{change.field}: {_value(change.before)} -> {_value(change.shown)}"


def _value(value: object) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
