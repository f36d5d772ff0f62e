"""The commands of a page's `sh` blocks and tables, as a reader of the page runs them."""

import re
from collections.abc import Mapping
from pathlib import Path

_SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (.+?) \| `(.+)` \|$", re.MULTILINE)


class ShellPage:
    """A how-to page, with other numbers: a test takes fewer objects than a reader."""

    def __init__(self, page: Path, numbers: Mapping[str, str]) -> None:
        """Read it; `numbers` are replaced where they stand as whole words."""
        text = page.read_text(encoding="utf-8")
        for number, other in numbers.items():
            text = re.sub(rf"(?<![\w.]){re.escape(number)}(?![\w.])", other, text)
        self._sections = dict(_SECTION.findall(text))

    def blocks(self, section: str, language: str = "sh") -> list[str]:
        """Return the blocks of a section in order."""
        found = _BLOCK.findall(self._sections[section])
        return [text for kind, text in found if kind == language]

    def rows(self, section: str) -> dict[str, str]:
        """Return the commands of a section's table by the first words of their rows."""
        return dict(_ROW.findall(self._sections[section]))
