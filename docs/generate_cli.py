"""Writes `docs/reference/cli.md` from the commands and the options table themselves.

`python docs/generate_cli.py` writes the file; with `--check` it only tells, by its exit code,
whether the file is what would be written.
"""  # noqa: INP001 - a program, not a package

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kwokctl.cli import app
from kwokctl.cli.parsing import commands, grammar
from kwokctl.config.not_served import NOT_SERVED
from kwokctl.config.options import ClusterOptions, Spelling, spellings

TARGET = Path(__file__).parent / "reference" / "cli.md"
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
_HEAD = """\
# Command line

<!-- Written by docs/generate_cli.py; `make docs` writes it anew. -->

Flags are read as the original kwokctl reads them: `--flag=value` and `--flag value` are the same, a
switch takes `=true` and `=false`, a duration is written `90s`, `15m` or `1h30m`, and a bare number
counts seconds. The flags of [every command](#every-command) stand in front of the command or behind
it; in front of it for `kubectl` and `etcdctl`, which get all words after their name.

An option is taken from its flag, else from its environment variable, else from the
`KwokctlConfiguration` documents of `--config` (the last one wins) and of `kwok.yaml` in the work
folder, else it has its default.

| exit code | meaning |
|---|---|
| 0 | done, or nothing was to do |
| 1 | it failed; standard error says why and what to do |
| 2 | invalid arguments, or something that is not supported yet |
| 128 + N | signal N has ended it: 130 after Ctrl-C; what was half-made is undone first |

Results go to standard output, all else to standard error. With `-o json` or `-o yaml` commands that
change something print [one document](results.md). With `-o json` an error is one line, the last of
standard error: `{"error": {"id", "message", "hint", "output"}}`; the `id` never changes.
"""


def reference() -> str:
    """Return the text of the page."""
    tree = app.build()
    return "\n".join([_HEAD, *_everywhere(tree), *_sections(tree, "kwokctl"), *_not_served()])


def _everywhere(tree: Any) -> Iterator[str]:
    yield "## Every command\n"
    own = [p for p in tree.params if grammar.panel_of(p) == commands.EVERYWHERE]
    yield from _table(own)


def _sections(command: Any, path: str) -> Iterator[str]:
    for name, below in command.commands.items():
        if below.hidden:
            continue
        here = f"{path} {name}"
        if hasattr(below, "commands"):
            yield from _sections(below, here)
        else:
            yield from _section(below, here)


def _section(command: Any, path: str) -> Iterator[str]:
    own = [p for p in command.params if grammar.panel_of(p) != commands.EVERYWHERE]
    yield f"## `{path}`\n"
    yield f"```\n{' '.join([path, *_usage(command, own)])}\n```\n"
    for paragraph in (command.help or "").strip().split("\n\n"):
        yield " ".join(paragraph.split()) + "\n"
    if lines := grammar.examples(command):
        yield "\n".join(["```sh", *lines, "```\n"])
    panels: dict[str, list[Any]] = {}
    for param in own:
        if grammar.help_record(param):
            panels.setdefault(grammar.panel_of(param), []).append(param)
    is_create = path == "kwokctl create cluster"
    places = {spelling.field: spelling for spelling in spellings()} if is_create else {}
    for panel, params in panels.items():
        if len(panels) > 1:
            yield f"**{panel}**\n"
        yield from _table(params, places if all(p.name in places for p in params) else {})
    if is_create:
        yield from _without_flag()


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
    yield "**Without a flag**\n"
    yield "| configuration | default | environment | meaning |"
    yield "|---|---|---|---|"
    defaults = {f.name: f.default for f in fields(ClusterOptions)}
    for spelling in spellings():
        if not spelling.flag:
            default = _written(defaults[spelling.field])
            yield (
                f"| {_code(spelling.key)} | {_code(default)} | {_code(spelling.env)} "
                f"| {_cell(_meaning(spelling))} |"
            )
    yield ""


def _not_served() -> Iterator[str]:
    yield "## Not served yet\n"
    yield (
        "Refused by name, never ignored: the commands `config`, `export logs`, `port-forward`, "
        "`kectl` and `snapshot export`, `--dry-run`, `snapshot --format k8s` and `--filter`, and "
        "these options of `create cluster`:\n"
    )
    yield ", ".join(_code(option.flag or option.key) for option in NOT_SERVED) + ".\n"


def _meaning(spelling: Spelling) -> str:
    return f"{spelling.group}: {spelling.help}" if spelling.group[0].isupper() else spelling.help


def _written(default: object) -> str:
    return ",".join(default) if isinstance(default, tuple) else str(default)


def _code(text: str) -> str:
    return f"`{text.replace('|', '&#124;')}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the page, or compare it."""
    text = reference()
    if "--check" in sys.argv[1:]:
        return int(not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
