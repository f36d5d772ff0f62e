"""`etcd get`, `put` and `delete`: objects in etcd, past the API server; `kectl` is the same."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli import dry_run
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.option_values import checked, namespace_name, one_of, whole_number
from kwokctl.cli.verbs.direct_etcd import etcd_snapshot, login
from kwokctl.cli.verbs.direct_etcd.forms import FORMS, ObjectPrinter
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kwokctl.clusters.direct_etcd.access import ObjectAccess
    from kwokctl.clusters.direct_etcd.finding import WantedObjects
    from kwokctl.etcd.kv.kv import KeyChange, KeyValue

_CHUNK = 500
_Resource = Annotated[
    str,
    typer.Argument(
        metavar="RESOURCE",
        help="Kind by any of its names: no, pods, deployments.apps [default: all]",
    ),
]
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of one object")]
_Namespace = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        help="Namespace [default: default; without RESOURCE all]",
        parser=checked("--namespace", namespace_name),
    ),
]
_Everywhere = Annotated[
    bool, typer.Option("--all-namespace", "--all-namespaces", "-A", help="All namespaces")
]
_Form = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT",
        help="Print key, yaml, json, raw or none [default: key]",
        parser=one_of("--output", *FORMS),
    ),
]
_TEXT = "Read and change objects in etcd directly, past the API server."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(app, "etcd", _TEXT, panel=commands.TOOLS)
    _register_words(below)
    commands.raw_command(app, "kectl", panel=commands.TOOLS)(kectl)


def _register_words(below: typer.Typer) -> None:
    reading = ("kwokctl etcd get node node-000000 -o yaml", "kwokctl etcd get pods -A")
    writing = ("kwokctl etcd get no node-000000 -o yaml | kwokctl etcd put --path -",)
    deleting = (
        "kwokctl etcd delete pods web-0",
        "kwokctl etcd delete leases -n kube-node-lease --all",
    )
    adds = login.parameters()
    commands.command(below, "get", examples=reading, adds=adds)(get)
    commands.command(below, "put", examples=writing, adds=adds)(put)
    commands.command(below, "delete", examples=deleting, adds=adds)(delete)
    etcd_snapshot.register(below)


def get(
    call: Invocation,
    resource: _Resource = "",
    named: _Name = "",
    *,
    namespace: _Namespace = "",
    everywhere: _Everywhere = False,
    output: _Form = "key",
    chunk_size: Annotated[
        int,
        typer.Option(
            "--chunk-size",
            metavar="N",
            help=f"Keys per request [default: {_CHUNK}]",
            parser=whole_number("--chunk-size", least=1),
        ),
    ] = _CHUNK,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Then print changes, until Ctrl-C")
    ] = False,
    watch_only: Annotated[
        bool, typer.Option("--watch-only", help="Print only changes, until Ctrl-C")
    ] = False,
    **words: object,
) -> None:
    """Print the keys of objects as they are in etcd, or the objects themselves.

    raw prints a value as it is, after its key. Protocol buffers are decoded for yaml and json.
    """
    from kwokctl.clusters.direct_etcd.access import with_objects
    from kwokctl.clusters.direct_etcd.finding import read_objects

    wanted = _wanted(resource, named, namespace, everywhere=everywhere)
    printer = ObjectPrinter(output)
    if watch or watch_only:
        call.run(
            with_objects,
            login.opened(call, words),
            _following(call, printer, wanted, chunk_size, only_changes=watch_only),
        )
        return
    work = partial(
        read_objects, wanted=wanted, take=printer.write, chunk=chunk_size, keys_only=output == "key"
    )
    number = call.run(with_objects, login.opened(call, words), work)
    _conclude(call, "get", number, output, printer)


def put(
    call: Invocation,
    resource: _Resource = "",
    named: _Name = "",
    *,
    path: Annotated[
        str,
        typer.Option("--path", metavar="FILE", help="YAML or JSON documents; '-': standard input"),
    ],
    namespace: _Namespace = "",
    everywhere: _Everywhere = False,
    output: _Form = "key",
    **words: object,
) -> None:
    """Write objects into etcd as the API server stores them; rejects objects that the API server could not decode.

    Only those of RESOURCE and NAME are written, if these are given. Existing objects are replaced.
    """
    from kwokctl.clusters.direct_etcd.access import with_objects
    from kwokctl.clusters.direct_etcd.given_objects import given_objects
    from kwokctl.clusters.direct_etcd.writing import put_objects

    door = login.opened(call, words)
    wanted = _wanted(resource, named, namespace, everywhere=everywhere)
    given = given_objects(path)
    work = partial(put_objects, given=given, wanted=wanted, now=_now(), is_dry_run=call.is_dry_run)
    _written(call, "put", call.run(with_objects, door, work), output)


def delete(
    call: Invocation,
    resource: _Resource = "",
    named: _Name = "",
    *,
    namespace: _Namespace = "",
    everywhere: _Everywhere = False,
    every: Annotated[
        bool, typer.Option("--all", help="Delete all objects that match, when no NAME is given")
    ] = False,
    output: _Form = "key",
    **words: object,
) -> None:
    """Delete objects from etcd: finalizers and grace periods are ignored, dependents stay."""
    if every == bool(named):
        raise UsageError(
            f"'{call.itself} {call.command}' needs either a NAME or '--all'",
            hint=f"see what there is with: {call.itself} etcd get {resource}".rstrip(),
        )
    if not resource and not call.acts_as_original:
        raise UsageError(
            f"'{call.itself} {call.command} --all' without a RESOURCE would delete everything in etcd",
            hint=f"name the kind: {call.itself} etcd delete pods --all",
        )
    from kwokctl.clusters.direct_etcd.access import with_objects
    from kwokctl.clusters.direct_etcd.finding import delete_objects

    wanted = _wanted(resource, named, namespace, everywhere=everywhere)
    work = partial(delete_objects, wanted=wanted, chunk=_CHUNK, is_dry_run=call.is_dry_run)
    _written(call, "delete", call.run(with_objects, login.opened(call, words), work), output)


def kectl(call: Invocation, words: list[str]) -> None:
    """Same as 'etcd', with the command line of the original's kectl."""
    below = commands.root(_TEXT)
    _register_words(below)
    from typer.main import get_command

    tree = get_command(below)
    with tree.make_context("kectl", common_last(words), obj=call) as ctx:
        tree.invoke(ctx)


def common_last(words: list[str]) -> list[str]:
    """Move the options in front of the command behind it, and write its other name as usual."""
    left, leading = list(words), []
    while left and left[0].startswith("-") and left[0] not in ("-h", "--help"):
        leading.append(left.pop(0))
        if "=" not in leading[-1] and leading[-1] not in login.SWITCHES:
            leading += left[:1]
            del left[:1]
    if left[:1] == ["del"]:
        left[0] = "delete"
    depth = 2 if left[:1] == [etcd_snapshot.GROUP] else 1
    return [*left[:depth], *leading, *left[depth:]]


def _following(
    call: Invocation,
    printer: ObjectPrinter,
    wanted: "WantedObjects",
    chunk: int,
    *,
    only_changes: bool,
) -> "Callable[[ObjectAccess], Awaitable[None]]":
    """Return what prints objects as they come, and what cannot be shown at once, too."""
    from kwokctl.clusters.direct_etcd.finding import follow_objects

    def warn() -> None:
        while printer.faults:
            call.console.warn(printer.faults.pop(0))

    def take(item: "KeyValue") -> None:
        printer.write(item)
        warn()

    def take_change(change: "KeyChange") -> None:
        printer.write_change(change)
        warn()

    return partial(
        follow_objects,
        wanted=wanted,
        take=take,
        take_change=take_change,
        chunk=chunk,
        only_changes=only_changes,
    )


def _wanted(resource: str, name: str, namespace: str, *, everywhere: bool) -> "WantedObjects":
    from kwokctl.clusters.direct_etcd.finding import WantedObjects

    return WantedObjects(
        resource=resource, name=name, namespace=namespace, is_everywhere=everywhere
    )


def _written(call: Invocation, verb: str, items: "list[KeyValue]", output: str) -> None:
    if call.is_dry_run:
        keys = "\n".join(item.key.decode() for item in items)
        dry_run.remark(call, f"With these keys of etcd, {verb}:\n{keys}")
        return
    printer = ObjectPrinter(output)
    for item in items:
        printer.write(item)
    _conclude(call, verb, len(items), output, printer)


def _conclude(
    call: Invocation, verb: str, number: int, output: str, printer: ObjectPrinter
) -> None:
    for fault in printer.faults:
        call.console.warn(fault)
    if output == "key":
        call.console.line(f"{verb} {number} keys")


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
