"""Writes `docs/reference/cli.md` and a page for each command, from the commands themselves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kwokctl.cli import app
from kwokctl.cli.parsing import commands, grammar
from kwokctl.components.catalog import usual_options
from kwokctl.config.declaring import Spelling
from kwokctl.config.options import spellings

INDEX = Path(__file__).parent / "reference" / "cli.md"
FOLDER = INDEX.with_suffix("")
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
_WRITTEN = "<!-- Written by docs/generate_cli.py; `make docs` writes it again. -->"
_HEAD = f"""\
# Commands

{_WRITTEN}
"""
_RULES = """\
## Syntax

The syntax is that of the original kwokctl: `--flag=value` and `--flag value` are the same; a boolean flag
accepts `=true` and `=false`; a duration is written `90s`, `15m` or `1h30m`, and a number without a unit means
seconds. You can write the options of [every command](#options-of-every-command) before or after the
command; for `kubectl`, `etcdctl` and `etcdutl` only before it, because kwokctl passes everything after that
name to the tool.

kwokctl takes the value of an option from its flag; else from its environment variable; else from the
`KwokctlConfiguration` documents in the files of `--config`, of which the last one wins; else from `kwok.yaml` in the
work folder; else it uses the default ([environment variables and option keys](environment.md)).

| exit code | meaning |
|---|---|
| 0 | success, also if there was nothing to do |
| 1 | failure; standard error says why, and what to do |
| 2 | invalid arguments, or something that kwokctl does not support |
| 128 + N | signal N ended the command, such as 130 after Ctrl-C; kwokctl has removed what it had made so far |

[Errors](errors.md) has all exit codes. Results go to standard output, everything else to standard error. With `-o json` or `-o yaml` a
command that changes something prints [one document](results.md). With `-o json` an
[error](errors.md) is one line, the last of standard error:
`{"error": {"id", "message", "hint", "output"}}`. The `id` does not change from release to release.
"""


def pages() -> dict[Path, str]:
    """Return the text of each page."""
    tree = app.build()
    found = list(_commands(tree, "kwokctl"))
    below = {_file(path): "\n".join(_page(command, path)) for command, path in found}
    index = "\n".join([_HEAD, *_listed(found), _RULES, *_everywhere(tree), *_not_supported()])
    return {INDEX: index, **below}


def _file(path: str) -> Path:
    words = path.split()[1:]
    return FOLDER / f"{'-'.join(words)}.md"


def _commands(command: Any, path: str) -> Iterator[tuple[Any, str]]:
    """Yield the commands that do something, each with all words of its name."""
    for name, below in command.commands.items():
        if below.hidden:
            continue
        here = f"{path} {name}"
        if hasattr(below, "commands"):
            yield from _commands(below, here)
        else:
            yield below, here


def _listed(found: Sequence[tuple[Any, str]]) -> Iterator[str]:
    yield "| command | what it does |"
    yield "|---|---|"
    for command, path in sorted(found, key=lambda each: each[1]):
        file = _file(path)
        summary, *_ = _paragraphs(command)
        yield f"| [`{path}`]({file.parent.name}/{file.name}) | {_cell(summary)} |"
    yield ""


def _everywhere(tree: Any) -> Iterator[str]:
    yield "## Options of every command\n"
    own = [p for p in tree.params if grammar.panel_of(p) == commands.EVERYWHERE]
    yield from _table(own)


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(each.split()) for each in (command.help or "").strip().split("\n\n")]


def _page(command: Any, path: str) -> Iterator[str]:
    own = [p for p in command.params if grammar.panel_of(p) != commands.EVERYWHERE]
    yield f"# `{path}`\n"
    yield f"{_WRITTEN}\n"
    for paragraph in _paragraphs(command):
        yield f"{paragraph}\n"
    yield f"```\n{' '.join([path, *_usage(command, own)])}\n```\n"
    if lines := grammar.examples(command):
        yield "Examples:\n"
        yield "\n".join(["```sh", *lines, "```\n"])
    panels: dict[str, list[Any]] = {}
    for param in own:
        if grammar.help_record(param):
            panels.setdefault(grammar.panel_of(param), []).append(param)
    is_create = path == "kwokctl create cluster"
    places = (
        {spelling.field: spelling for spelling in spellings(usual_options())} if is_create else {}
    )
    for panel, params in panels.items():
        if len(panels) > 1:
            yield f"## {panel}\n"
        yield from _table(params, places if all(p.name in places for p in params) else {})
    if is_create:
        yield from _without_flag()
    yield f"See also the [options of every command](../{INDEX.name}#options-of-every-command).\n"


def _usage(command: Any, params: Sequence[Any]) -> Iterator[str]:
    if isinstance(command, grammar.RawCommand):
        yield "ARGS..."
        return
    for param in params:
        record = grammar.help_record(param)
        if record and param.param_type_name == "argument":
            yield record[0]
    yield "[OPTIONS]"


def _table(
    params: Sequence[Any], places: Mapping[str, Spelling] = MappingProxyType({})
) -> Iterator[str]:
    """Write one row a parameter; `places` tells where else an option can be given."""
    more = " environment | configuration |" if places else ""
    word = "argument" if params[0].param_type_name == "argument" else "option"
    yield f"| {word} | default |{more} meaning |"
    yield f"|---|---|{'---|---|' if places else ''}---|"
    for param in params:
        if record := grammar.help_record(param):
            names, text = record
            default = found[1] if (found := _DEFAULT.search(text)) else ""
            spelling = places.get(param.name)
            where = f" {_code(spelling.env)} | {_code(spelling.key)} |" if spelling else ""
            meaning = _cell(_DEFAULT.sub("", text))
            yield f"| {_code(names)} | {_code(default)} |{where} {meaning} |"
    yield ""


def _without_flag() -> Iterator[str]:
    """Write the options that have no flag, and so are in no help."""
    yield "## Without a flag\n"
    yield "| configuration | default | environment | meaning |"
    yield "|---|---|---|---|"
    for spelling in spellings(usual_options()):
        if not spelling.flag:
            default = _written(spelling.default)
            yield (
                f"| {_code(spelling.key)} | {_code(default)} | {_code(spelling.env)} "
                f"| {_cell(_meaning(spelling))} |"
            )
    yield ""


def _not_supported() -> Iterator[str]:
    yield "## Not supported\n"
    yield (
        "If you use something of the original that kwokctl does not support, kwokctl names it in an error or a "
        "warning: [compatibility](compatibility.md) has a row for each command, flag, key and variable.\n"
    )


def _meaning(spelling: Spelling) -> str:
    return f"{spelling.group}: {spelling.help}" if spelling.group[0].isupper() else spelling.help


def _written(default: object) -> str:
    return ",".join(default) if isinstance(default, tuple) else str(default)


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
