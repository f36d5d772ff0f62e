"""`config`: the user's configuration, as files give it and as it takes effect."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kwokctl.cli.conclusion import Outcome, conclude
from kwokctl.cli.invocation import Invocation
from kwokctl.cli.output import results
from kwokctl.cli.parsing import commands
from kwokctl.cli.parsing.shared_options import Output
from kwokctl.config.checks import is_file
from kwokctl.errors import UsageError

if TYPE_CHECKING:
    from kwokctl.config.config_documents import Document
    from kwokctl.config.resolve import Resolved
    from kwokctl.json_value import Json

_EXAMPLES = {
    "view": ("kwokctl config view", "kwokctl config view --config mine.yaml"),
    "tidy": ("kwokctl config tidy --config mine.yaml",),
    "reset": ("kwokctl config reset",),
    "convert": ("kwokctl config convert my-stages.yaml", "kwokctl config convert *.yaml --write"),
    "schema": ("kwokctl config schema >kwokctl.schema.json",),
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    below = commands.group(
        app, "config", "Show, tidy and convert the configuration.", panel=commands.TOOLS
    )
    verbs: dict[str, Callable[..., None]] = {
        "view": view,
        "tidy": tidy,
        "reset": reset,
        "convert": convert,
        "schema": schema,
    }
    for name, function in verbs.items():
        commands.command(below, name, examples=_EXAMPLES[name])(function)


def view(call: Invocation) -> None:
    """Print the configuration that takes effect, as YAML.

    It is that of a cluster that would be created now: all options, with those of files and
    variables, and then the other documents.
    """
    from kwokctl.clusters.configuration.effective import effective
    from kwokctl.expr import yaml

    documents = call.documents()
    found = effective(_resolved(call, documents), documents)
    results.emit(yaml.dump_all(found).rstrip("\n"))


def tidy(call: Invocation, *, output: Output = "") -> None:
    """Write the options of files and variables to one file: kwok.yaml in the work folder.

    Defaults are left out, so that a later kwokctl uses its own. Comments are lost.
    """
    from kwokctl.clusters.configuration.default_file import default_file, rewrite
    from kwokctl.clusters.configuration.effective import given

    documents = call.documents()
    file = default_file(call.home.workdir)
    found = given(_resolved(call, documents), documents)
    if call.is_dry_run:
        _show_file(call, file, found, output)
        return
    is_new = rewrite(file, found)
    outcome = Outcome(
        message=f"'{file}' holds the configuration" if is_new else f"'{file}' holds it already",
        changed=is_new,
        result={"file": str(file), "documents": len(found)},
    )
    conclude(call, outcome, output)


def reset(call: Invocation, *, output: Output = "") -> None:
    """Remove kwok.yaml from the work folder; clusters keep their settings."""
    from kwokctl.clusters.configuration.default_file import default_file
    from kwokctl.clusters.configuration.default_file import reset as remove

    file = default_file(call.home.workdir)
    if call.is_dry_run:
        from kwokctl.cli import dry_run
        from kwokctl.script.steps import Command

        dry_run.show(call, [Command(("rm", "-f", str(file)))], output)
        return
    was_there = remove(call.home.workdir)
    outcome = Outcome(
        message=f"'{file}' is removed" if was_there else f"there is no '{file}'",
        changed=was_there,
        result={"file": str(file)},
    )
    conclude(call, outcome, output)


def convert(
    call: Invocation,
    *,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="Files of documents")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", "-w", help="Change the files instead of printing them")
    ] = False,
) -> None:
    """Rewrite documents in the current form, as YAML.

    In older Stages 'steps' replaces 'next', and 'jq' bare conditions; deprecated options get their
    current names. Comments are lost; a file that has nothing to convert is left alone.
    """
    from kwokctl.clusters.configuration.convert import converted
    from kwokctl.clusters.configuration.default_file import rewrite
    from kwokctl.config.config_documents import load_documents
    from kwokctl.expr import yaml

    for file in files or ():
        if not is_file(file):
            raise UsageError(f"'{file}' is not a file", hint="give files of YAML documents")
    for number, file in enumerate(files or ()):
        before = [document.body for document in load_documents([file], progress=call.progress)]
        after = [converted(body) for body in before]
        if write and call.is_dry_run:
            _show_file(call, Path(file), after, "")
        elif not write:
            results.emit(("---\n" if number else "") + yaml.dump_all(after).rstrip("\n"))
        elif after != before and rewrite(Path(file), after):
            call.console.line(f"'{file}' is converted")


def schema(_call: Invocation) -> None:
    """Print the JSON schema of configuration documents, for editors."""
    from kwokctl.clusters.json_schema import schema as describe
    from kwokctl.load.description.schema import SHAPED

    results.emit(json.dumps(describe([SHAPED]), indent=2))


def _show_file(call: Invocation, file: Path, documents: "Sequence[Json]", output: str) -> None:
    from kwokctl.cli import dry_run
    from kwokctl.expr import yaml
    from kwokctl.script.steps import FileText, Folder

    steps = (Folder(file.parent, private=False), FileText(file, yaml.dump_all(documents), 0o600))
    dry_run.show(call, steps, output)


def _resolved(call: Invocation, documents: "tuple[Document, ...]") -> "Resolved":
    """Return the options, and warn of what has no effect."""
    from kwokctl.components.catalog import usual_options
    from kwokctl.config.resolve import resolve_options

    resolved = resolve_options(usual_options(), {}, os.environ, documents)
    for warning in resolved.warnings:
        call.progress.warn(warning)
    return resolved
