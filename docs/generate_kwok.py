"""Writes the tables of `docs/reference/kwok.md` from the flags of the command `kwok`."""

from collections.abc import Iterator
from pathlib import Path

from docs.generate_options import filled
from kwokctl.controller.configuration import DEFAULTS, OPTIONS
from kwokctl.embedded.flag_parser import DescribedFlag
from kwokctl.kwok.flags import parser

PAGE = Path(__file__).parent / "reference" / "kwok.md"


def pages() -> dict[Path, str]:
    """Return the text of the page."""
    return {PAGE: _page()}


def _page() -> str:
    text = PAGE.read_text(encoding="utf-8")
    text = filled(text, "flags", "\n".join(_flags()))
    return filled(text, "keys", "\n".join(_keys()))


def _flags() -> Iterator[str]:
    yield "| flag | key | meaning |"
    yield "|---|---|---|"
    for flag in sorted(parser().described(), key=lambda each: each.name):
        key = f"`{flag.key}`" if flag.key in DEFAULTS else ""
        yield f"| {_spelt(flag)} | {key} | {flag.text.replace('|', chr(92) + '|')} |"


def _spelt(flag: DescribedFlag) -> str:
    words = f" {flag.metavar}" if flag.metavar else ""
    return ", ".join(f"`{name}`" for name in (*flag.names[:-1], f"{flag.name}{words}")).replace(
        "|", r"\|"
    )


def _keys() -> Iterator[str]:
    flags = {flag.key for flag in parser().described()}
    yield "| key | default | of the original |"
    yield "|---|---|---|"
    for name, option in OPTIONS.items():
        if name not in flags:
            original = "" if option.original is None else f"`{_written(option.original)}`"
            yield f"| `{name}` | `{_written(option.default)}` | {original} |"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
