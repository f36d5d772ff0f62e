"""Options that several commands of `fault` have, and the checks of their words."""

from typing import Annotated

import typer

from kwokctl.cli.parsing.option_values import checked
from kwokctl.config.checks import InvalidText
from kwokctl.errors import ExpressionError, UsageError
from kwokctl.kube.names import LABEL_RULE, is_label, is_subdomain


def dialect_name(word: str) -> InvalidText | None:
    """Accept what can be the name of a dialect."""
    return None if is_label(word) else InvalidText("not the name of a dialect", LABEL_RULE)


Dialects = Annotated[
    list[str] | None,
    typer.Option(
        "--dialect",
        metavar="DIALECT",
        help="Stack that shows it, such as aks or eks; may be repeated [default: npd and device-plugin]",
        parser=checked("--dialect", dialect_name),
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Names of Faults [default: all]"),
]


def object_name(word: str) -> InvalidText | None:
    """Accept the name of a node, or of a unit of the fleet."""
    if is_subdomain(word):
        return None
    return InvalidText("not a name of the cluster", "use small letters, digits, '-' and '.'")


def fault_name(word: str) -> InvalidText | None:
    """Accept the name of a Fault."""
    return None if is_label(word) else InvalidText("not a name for a Fault", LABEL_RULE)


def class_name(word: str) -> InvalidText | None:
    """Accept what can be the name of a class of faults."""
    hint = "list the classes with: kwokctl fault list"
    return None if is_label(word) else InvalidText("not the name of a class of faults", hint)


def setting(word: str) -> InvalidText | None:
    """Accept a name and a value, with `=` between them."""
    name, equals, _ = word.partition("=")
    if name.strip() and equals:
        return None
    return InvalidText("not a name and a value", "for example: --set gpu=3")


def expression(word: str) -> InvalidText | None:
    """Accept an expression over nodes."""
    from kwokctl.faults.targets.node_expressions import compile_where

    try:
        compile_where(word)
    except ExpressionError as e:
        return InvalidText(f"not an expression: {e}", e.hint or "")
    return None


def lasting(word: str) -> InvalidText | None:
    """Accept a duration as a Fault has it."""
    from kwokctl.faults.classes.class_parameters import is_duration

    return None if is_duration(word) else InvalidText("not a duration", "for example: 90s or 1h30m")


def time_of_day(word: str) -> InvalidText | None:
    """Accept a time as RFC 3339 writes it."""
    from kwokctl.expr.duration import parse_time

    try:
        parse_time(word)
    except ExpressionError:
        return InvalidText("not a time", "for example: 2027-01-02T15:04:05Z")
    return None


def selector(word: str) -> InvalidText | None:
    """Accept a selector of labels."""
    from kwokctl.embedded.selection import requirements

    try:
        requirements(word)
    except UsageError as e:
        return InvalidText(f"not a selector: {e}", e.hint or "for example: app=web")
    return None
