"""Names the links of pages that lead nowhere: `python docs/links.py`, which `make check` runs.

It follows links to other pages, to their headings, and to files of the repository. It asks no network:
links to other sites are not looked at.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/**/*.md", "charts/**/*.md")
LINK = re.compile(r"\]\(\s*(?P<path>[^)\s#]*)(?P<anchor>#[^)\s]*)?[^)]*\)")
_FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text whose code blocks stay and whose prose is changed, code in a line included.

    A link whose text is code is prose; a link inside of code is not one.
    """
    parts, end = [], 0
    for block in _FENCED.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def prose(document: Path) -> str:
    """Return a document without its code blocks."""
    return _FENCED.sub("", document.read_text(encoding="utf-8"))


@cache
def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, which repeated ones share out by a number.

    The rules: https://docs.github.com/en/get-started/writing-on-github (section links).
    """
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#+ +(.+?) *$", prose(document), re.MULTILINE):
        words = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def leads_somewhere(document: Path, path: str, anchor: str) -> bool:
    """Say whether a link inside the repository has its file and its heading."""
    target = document.parent / path if path else document
    if not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in anchors(target.resolve()))


def lost(document: Path) -> Iterator[str]:
    """Yield the links of a document that lead nowhere, each with its line."""
    text = document.read_text(encoding="utf-8")
    blank = _FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)
    for link in LINK.finditer(blank):
        path, anchor = link["path"], link["anchor"] or ""
        if "://" in path or path.startswith("mailto:"):
            continue
        if not leads_somewhere(document, path, anchor.removeprefix("#")):
            yield f"{blank.count(chr(10), 0, link.start()) + 1}: {path}{anchor}"


def main() -> int:
    """Name the links that lead nowhere; 1 if there is one."""
    found = [
        f"{page.relative_to(ROOT)}:{link} leads nowhere\n"
        for pages in PAGES
        for page in sorted(ROOT.glob(pages))
        for link in lost(page)
    ]
    sys.stderr.writelines(found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
