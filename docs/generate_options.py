"""Writes the tables of the options of clusters, from the catalogue of options.

In a page that is written by hand, what lies between `<!-- begin NAME -->` and
`<!-- end NAME -->` is replaced.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from kwokctl.clusters.json_schema import schema
from kwokctl.components.catalog import usual_options
from kwokctl.config.declaring import Spelling
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED
from kwokctl.load.description.schema import SHAPED

REFERENCE = Path(__file__).parent / "reference"
ENVIRONMENT = REFERENCE / "environment.md"
SCHEMA = REFERENCE / "configuration.schema.json"
_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")


def pages() -> Mapping[Path, str]:
    """Return the text of each page."""
    text = ENVIRONMENT.read_text(encoding="utf-8")
    text = filled(text, "options", "\n".join(_options()))
    return {
        ENVIRONMENT: filled(text, "not-served", "\n".join(_not_served())),
        SCHEMA: json.dumps(schema([SHAPED]), indent=2) + "\n",
    }


def filled(text: str, name: str, table: str) -> str:
    """Return a page with another table between the marks of that name."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, mark, rest = text.partition(begin)
    _, closing, after = rest.partition(end)
    if not mark or not closing:
        raise ValueError(f"a page has no '{begin}' and '{end}'")
    return f"{before}{begin}\n{table}\n{end}{after}"


def _options() -> Iterator[str]:
    yield "| key | variable | default | of the original |"
    yield "|---|---|---|---|"
    for spelling in spellings(usual_options()):
        if spelling.key:
            yield (
                f"| {_code(spelling.key)} | {_code(spelling.env)} | {default_of(spelling)} "
                f"| {'' if spelling.original is None else _value(spelling.original)} |"
            )


def _not_served() -> Iterator[str]:
    yield "| key | flag | variable | what happens | because |"
    yield "|---|---|---|---|---|"
    for option in NOT_SERVED:
        names = " | ".join(map(_code, (option.key, option.flag, option.env)))
        yield f"| {names} | {option.outcome} | {option.reason} |"


def default_of(spelling: Spelling) -> str:
    """Write the default of an option, as its help says it where it is not one value."""
    if found := _DEFAULT.search(spelling.help):
        return found[1].replace("|", "\\|")
    return _value(spelling.default)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return _code(str(value).lower())
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return _code(text)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
