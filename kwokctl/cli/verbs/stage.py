"""`stage`: look at Stages, and try them on objects, before a cluster plays them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import (
    DataOutput,
    file_option,
    format_option,
    namespace_option,
)
from kwokctl.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from kwokctl.config.config_documents import Document
    from kwokctl.config.options import ClusterOptions
    from kwokctl.json_value import Json

_Files = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Files or folders of Stages: one set")
]
_Stages = Annotated[
    list[str] | None,
    typer.Option(
        "--stage",
        metavar="SET-OR-FILE",
        help="The name of a set of Stages, or a file or folder of them; may be repeated",
    ),
]
_Objects = Annotated[
    list[str] | None,
    file_option(
        "--object", "An object to start with, in place of the built-in examples; may be repeated"
    ),
]


_EXAMPLES = {
    "sets": ("kwokctl stage sets",),
    "lint": ("kwokctl stage lint my-stages.yaml",),
    "explain": (
        "kwokctl stage explain pod/web-0",
        "kwokctl stage explain pvc/data -n storage",
        "kwokctl stage explain --object pod.yaml --stage pod-general --stage my-stages.yaml",
    ),
    "test": ("kwokctl stage test my-stages/", "kwokctl stage test my-stages/ --write"),
    "graph": ("kwokctl stage graph pod-general", "kwokctl stage graph my-stages.yaml -o mermaid"),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(app, "stage", "Check, explain and test Stages.", panel=commands.TOOLS)
    verbs: dict[str, Callable[..., None]] = {
        "sets": sets,
        "lint": lint,
        "explain": explain,
        "test": run_tests,
        "graph": graph,
    }
    for name, function in verbs.items():
        commands.command(below, name, examples=_EXAMPLES[name])(function)


def sets(_call: Invocation, *, output: DataOutput = "") -> None:
    """List the sets of Stages that 'create cluster --stage' accepts."""
    from kwokctl.components.stage_sets import shipped_sets

    found = [
        {"name": each.name, "part": each.part, "text": each.text, "stages": each.stages}
        for each in shipped_sets().values()
    ]
    if output:
        results.emit_data(found, output)
        return
    rows = [
        (str(each["name"]), str(each["part"]) or "(additional)", str(each["text"]))
        for each in found
    ]
    results.emit_table(("NAME", "REPLACES", "DESCRIPTION"), rows, ends_in_prose=True)


def lint(call: Invocation, *, files: _Files, output: DataOutput = "") -> None:
    """Find mistakes in Stages.

    Unknown fields, expressions that do not compile, Stages that match no object or are never chosen.
    Exits with 1 if there are any. Stages that are played without end, or wait for a status that nothing
    sets, and templates that fail on all examples, are warnings: with warnings alone it exits with 0.
    """
    from kwokctl.clusters.stage_tools.linting.lint import ERROR
    from kwokctl.clusters.stage_tools.linting.lint import lint as find

    _check_are_there(files)
    found = find(files)
    if output:
        results.emit_data(found, output)
    for each in () if output else found:
        mark = "" if each.severity == ERROR else f"{each.severity}: "
        results.emit(f"{each.file}:{each.line}: {mark}{each.stage}: '{each.field}' {each.problem}")
    if mistakes := [each for each in found if each.severity == ERROR]:
        raise ConfigError(f"mistakes in the Stages: {len(mistakes)}")
    warned = f"; warnings: {len(found)}" if found else ""
    call.quietly(unless=not output).progress.note(f"no mistakes found{warned}")


def explain(
    call: Invocation,
    *,
    target: Annotated[
        str,
        typer.Argument(
            metavar="KIND/NAME",
            help="An object of the cluster, of any kind, as kubectl names it: po/web-0, "
            "widgets.example.com/a",
        ),
    ] = "",
    namespace: Annotated[
        str,
        namespace_option("Its namespace [default: default]"),
    ] = "",
    object_file: Annotated[
        str,
        file_option("--object", "File of an object, in place of one of the cluster"),
    ] = "",
    stages: _Stages = None,
    stub_functions: Annotated[
        bool,
        typer.Option(
            "--stub-functions",
            help="Show <Now> and similar in place of the values of functions that depend on time, "
            "addresses or chance",
        ),
    ] = False,
    output: DataOutput = "",
) -> None:
    """Show for each Stage whether it matches an object, and what it would write.

    The Stages are those of the cluster, or the default ones for an object in a file, unless --stage
    names others. json and yaml have an entry for each Stage that matches.
    """
    import time

    from kwokctl.cli.output.stage_verdicts import verdicts_as_text
    from kwokctl.clusters.stage_tools import explain as explaining
    from kwokctl.clusters.stage_tools import functions
    from kwokctl.clusters.stage_tools.sources import object_in, stages_for

    if bool(target) == bool(object_file):
        raise UsageError("give either KIND/NAME of a cluster's object, or --object")
    documents = _documents(call, stages) if object_file or stages else []
    value = object_in(Path(object_file)) if object_file else _live(call, target, namespace)
    documents = documents or _own(call)
    wall = time.time  # noqa: TID251 - the clock itself: it is passed on from here
    calls = functions.stub_functions() if stub_functions else functions.example_functions(wall)
    if why := explaining.standstill(value):
        call.console.warn(why)
    verdicts = explaining.explain(stages_for(documents, value), value, calls, wall())
    for remark in (text for each in verdicts for text in each.remarks):
        call.console.warn(remark)
    if output:
        results.emit_data(explaining.as_tested(value, verdicts), output)
        return
    results.emit(verdicts_as_text(verdicts))


def run_tests(
    call: Invocation,
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder with NAME.input.yaml and NAME.output.yaml")
    ],
    stages: _Stages = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the results to the output files")
    ] = False,
    output: DataOutput = "",
) -> None:
    """Compare what Stages do to objects with the expected results in files.

    Each NAME.input.yaml holds an object, NAME.output.yaml what 'stage explain --stub-functions -o yaml'
    shows for it. The Stages are those of the YAML files beside it or in the folder above, unless
    --stage names others. Exits with 1 if something differs.
    """
    from kwokctl.clusters.stage_tools.cases import run_cases

    if not os.path.isdir(folder):  # noqa: PTH112 - Path raises OSError
        raise UsageError(f"'{folder}' is not a folder", hint="give the folder of the tests")
    documents = _documents(call, stages) if stages else []
    found = run_cases(Path(folder), documents, is_writing=write and not call.is_dry_run)
    if output:
        results.emit_data(found, output)
    for each in () if output else found:
        results.emit("\n".join(filter(None, (f"{each.state}: {each.name}", each.difference))))
    bad = [each.name for each in found if each.state in {"failed", "missing"}]
    if bad:
        raise ConfigError(
            f"{len(bad)} of {len(found)} tests of Stages failed",
            hint="if the results are right, write them with --write",
        )


def graph(
    call: Invocation,
    *,
    stages: Annotated[
        list[str] | None,
        typer.Argument(metavar="SET-OR-FILE...", help="Sets or files [default: the default sets]"),
    ] = None,
    objects: _Objects = None,
    output: Annotated[
        str,
        format_option("text", "mermaid", "json", "yaml", usual="text"),
    ] = "text",
) -> None:
    """Show the states and transitions of Stages, by playing them on examples."""
    from kwokctl.clusters.stage_tools import graph
    from kwokctl.clusters.stage_tools.graph import draw
    from kwokctl.clusters.stage_tools.sources import object_in
    from kwokctl.controller.stages.stage_reader import read_stages

    begins = [object_in(Path(file)) for file in objects or ()]
    graphs = draw(read_stages(_documents(call, stages)), begins)
    if output in {"json", "yaml"}:
        results.emit_data(graphs, output)
        return
    results.emit(graph.as_mermaid(graphs) if output == "mermaid" else graph.as_text(graphs))


def _check_are_there(files: list[str]) -> None:
    from kwokctl.clusters.stage_tools.sources import is_there

    missing = [each for each in files if not is_there(each)]
    if missing:
        raise UsageError(f"there is no file '{missing[0]}'", hint="give files or folders of Stages")


def _live(call: Invocation, target: str, namespace: str) -> "Json":
    from kwokctl.clusters.stage_tools.live import object_of_cluster, target_of

    wanted = target_of(target, namespace or "default")
    return call.run(object_of_cluster, call.home, call.cluster, wanted)


def _own(call: Invocation) -> "list[Document]":
    from kwokctl.clusters.stage_tools.live import (
        custom_stages_of_cluster,
        documents_of_cluster,
        has_custom_stages,
    )

    custom = None
    if has_custom_stages(call.home, call.cluster):
        custom = call.run(custom_stages_of_cluster, call.home, call.cluster)
    return documents_of_cluster(call.home, call.cluster, custom)


def _documents(call: Invocation, words: list[str] | None) -> "list[Document]":
    from kwokctl.clusters.stage_tools.sources import stage_documents_of

    return stage_documents_of(words or (), _options(call))


def _options(call: Invocation) -> "ClusterOptions":
    """Return the options of the cluster if it exists: its heartbeats have their times."""
    from kwokctl.clusters.state.saved import load
    from kwokctl.components.catalog import usual_options

    paths = call.home.paths(call.cluster)
    return load(paths, call.cluster).options if paths.saved.is_file() else usual_options()
