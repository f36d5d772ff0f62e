"""Writes `docs/reference/conformance.md` from `docs/conformance.yaml`.

`python docs/generate_conformance.py` writes the file; with `--check` it only compares it, and exits with 1 if
it is old.
"""  # noqa: INP001 - a program, not a package

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.generate_options import filled
from tests.support.conformance.expected import expected

PAGE = Path(__file__).parent / "reference" / "conformance.md"


def page() -> str:
    """Return the text of the page."""
    text = PAGE.read_text(encoding="utf-8")
    text = filled(text, "groups", "\n".join(_groups()))
    return filled(text, "unable", "\n".join(_unable()))


def _groups() -> Iterator[str]:
    yield "| group | specs |"
    yield "|---|---|"
    for group in expected().groups:
        words = f"`{group.focus}`" + (f" without `{group.skip}`" if group.skip else "")
        yield f"| `{group.name}` | {words.replace('|', '&#124;')} |"


def _unable() -> Iterator[str]:
    for each in sorted(expected().unable, key=lambda unable: -len(unable.specs)):
        yield f"### {each.reason.removesuffix('.')}"
        yield ""
        for spec in sorted(each.specs):
            yield f"* {spec.replace('<', '&lt;')}"
        yield ""


def main() -> int:
    """Write the page, or compare it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        return int(PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
