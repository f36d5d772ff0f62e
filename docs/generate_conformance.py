"""Writes `docs/reference/conformance.md` from `docs/conformance.yaml`."""

from collections.abc import Iterator
from pathlib import Path

from docs.generate_options import filled
from tests.support.conformance.expected import expected

PAGE = Path(__file__).parent / "reference" / "conformance.md"


def pages() -> dict[Path, str]:
    """Return the text of the page."""
    return {PAGE: _page()}


def _page() -> str:
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
