"""The templates of `scale` that the pages show, as a reader copies them."""

import re
from pathlib import Path
from typing import Any

from kwokctl.expr import yaml

DOCS = Path(__file__).parents[2] / "docs"
_FENCED = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
_TYPED = re.compile(r"<<'END'\n(.*?)\n> END", re.DOTALL)
KIND = "KwokctlResource"


def templates_in(page: Path) -> dict[str, str]:
    """Return the documents of a page, by the names of the templates."""
    found: dict[str, str] = {}
    for block in _FENCED.findall(page.read_text("utf-8")):
        typed = _TYPED.findall(block)
        for text in (re.sub(r"(?m)^> ?", "", each) for each in typed) if typed else (block,):
            if f"kind: {KIND}\n" in text:
                body: Any = yaml.load(text)
                found[body["metadata"]["name"]] = text
    return found


def all_templates() -> dict[str, str]:
    """Return those of all pages."""
    found: dict[str, str] = {}
    for page in sorted(DOCS.rglob("*.md")):
        found |= templates_in(page)
    return found
