"""Where files of the repository are in the site, and links between them.

A page has two paths: the one in the repository, such as `docs/how-to/install.md`, and the one among the
pages of the site, such as `how-to/install.md`.
"""

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from docs.links import LINK, outside_of_code, prose
from docs.site import samples

FOLDER = "docs"
_FIRST = "README.md"
_RENAMED = {_FIRST: "index.md", "docs/README.md": "pages.md"}
"""The first page of the repository is that of the site; the list of all pages stands beside it."""
_ROW = re.compile(r"^ *\|.*$", re.MULTILINE)
_WORD = re.compile(r"`[^`\n]+`")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".ini": "ini", ".json": "json"}


def in_site(path: str) -> str:
    """Return the path in the site of a file or folder of the repository."""
    if page := _RENAMED.get(path) or samples.report_of(path):
        return page
    if path.startswith(f"{FOLDER}/"):
        return path.removeprefix(f"{FOLDER}/")
    return f"files/{path}" if path.endswith(".md") else f"files/{path}.md"


def as_in_site(text: str, path: str) -> str:
    """Return the text of a page of the repository as mkdocs reads it: it reads two things in another way.

    Links lead to the same pages as they are in the site. A `|` in code in a table has no backslash.
    """
    here, there = posixpath.dirname(path), posixpath.dirname(in_site(path))

    def moved(match: re.Match[str]) -> str:
        link, anchor = match["path"], match["anchor"] or ""
        if not link or is_outside(link):
            return match[0]
        target = in_site(posixpath.normpath(posixpath.join(here, link)))
        return f"]({posixpath.relpath(target, there or '.')}{anchor})"

    def bare(row: re.Match[str]) -> str:
        return _WORD.sub(lambda word: word[0].replace(r"\|", "|"), row[0])

    return outside_of_code(text, lambda part: _ROW.sub(bare, LINK.sub(moved, part)))


def is_outside(link: str) -> bool:
    """Say whether a link leads to another site, or to a program for mail."""
    return "://" in link or link.startswith("mailto:")


def linked_files(root: Path) -> set[str]:
    """Return the files and folders outside of `docs/` to which pages link, by their paths."""
    pages = [*root.glob("*.md"), *(root / FOLDER).rglob("*.md")]
    return {path for page in pages for path in _linked(root, page)} - {_FIRST}


def _linked(root: Path, page: Path) -> Iterator[str]:
    for link in LINK.finditer(prose(page)):
        path = Path(os.path.normpath(page.parent / link["path"]))
        is_of_pages = path.is_relative_to(root / FOLDER) or not path.is_relative_to(root)
        if link["path"] and not is_outside(link["path"]) and not is_of_pages and path.exists():
            yield path.relative_to(root).as_posix()


def shown(root: Path, path: str) -> str:
    """Return the text of the page that shows a file, or each file of a folder."""
    whole = root / path
    if whole.is_file():
        return f"# `{path}`\n\n{_block(whole)}"
    below = (each for each in sorted(whole.rglob("*")) if each.is_file())
    files = [each for each in below if "__pycache__" not in each.parts]
    sections = (f"## `{each.relative_to(whole)}`\n\n{_block(each)}" for each in files)
    return "\n".join([f"# `{path}`\n", *sections])


def _block(file: Path) -> str:
    text = file.read_text(encoding="utf-8").rstrip()
    return f"````{_LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"
