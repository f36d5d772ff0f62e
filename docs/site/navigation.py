"""The navigation of the site, from the lists of pages that the documentation has anyway.

`docs/README.md` lists the pages by what they are for, with a heading for each part and each group; the
commands have a page each in `docs/reference/cli`, and the decisions in `docs/adr`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

Entry = str | Mapping[str, "str | Sequence[Entry]"]
"""A page by its path, a title with a page, or a title with entries below it: as in mkdocs.yml."""

_LINK = re.compile(r"\[([^]]+)\]\(([\w/-]+\.md)\)")
_START = ("First page", "index.md"), ("All pages", "pages.md")
_ABOUT = ("Changes", "files/CHANGELOG.md"), ("Contributing", "files/CONTRIBUTING.md")


def tree(root: Path) -> list[Entry]:
    """Return the navigation of the documentation of a checkout."""
    docs = root / "docs"
    begin, *parts = _parts((docs / "README.md").read_text(encoding="utf-8"), "## ")
    tutorials = [(title, page) for title, page in _LINK.findall(begin[1])]
    start = [{title[0].upper() + title[1:]: page} for title, page in (*_START, *tutorials, *_ABOUT)]
    below = [{title: _grouped(text)} for title, text in parts]
    return [
        {"Start": start},
        *below,
        {"Commands": _commands(docs)},
        {"Decisions": _decisions(docs)},
    ]


def _parts(text: str, mark: str) -> list[tuple[str, str]]:
    """Return the headings of a level, each with the text below it; what is above has no heading."""
    first, *rest = re.split(rf"^{mark}", text, flags=re.MULTILINE)
    named = (part.partition("\n") for part in rest)
    return [("", first), *((title.strip(), below) for title, _, below in named)]


def _grouped(text: str) -> list[Entry]:
    """Return the pages of a part, those below a heading as a group."""
    (_, above), *groups = _parts(text, "### ")
    return [*_listed(above), *({title: [*_listed(below)]} for title, below in groups)]


def _listed(text: str) -> Iterator[Entry]:
    for title, page in _LINK.findall(text):
        if page not in {"reference/cli.md", "adr/README.md"}:
            yield {title[0].upper() + title[1:]: page}


def _commands(docs: Path) -> list[Entry]:
    pages = sorted((docs / "reference" / "cli").glob("*.md"))
    named = [{_command(page): page.relative_to(docs).as_posix()} for page in pages]
    return [{"All commands": "reference/cli.md"}, *named]


def _command(page: Path) -> str:
    """Return the words of a command without the program's name, which each title would repeat."""
    heading = page.read_text(encoding="utf-8").partition("\n")[0]
    return heading.strip("# `").removeprefix("kwokctl ")


def _decisions(docs: Path) -> list[Entry]:
    records = sorted((docs / "adr").glob("0*.md"))
    return [
        {"When to decide again": "adr/README.md"},
        *(record.relative_to(docs).as_posix() for record in records),
        "adr/template.md",
    ]
