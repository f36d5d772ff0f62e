"""Writes the shapes and the vocabularies of `docs/reference/fleets.md`, from the files of shapes and the code."""

from collections.abc import Iterator
from pathlib import Path

from docs.generate_options import filled
from kwokctl.clusters.state.resource_templates import shape_files
from kwokctl.clusters.state.shapes import shapes
from kwokctl.fleet.topology import VOCABULARIES

PAGE = Path(__file__).parent / "reference" / "fleets.md"


def pages() -> dict[Path, str]:
    """Return the text of the page."""
    text = filled(PAGE.read_text(encoding="utf-8"), "shapes", "\n".join(_shapes()))
    return {PAGE: filled(text, "vocabularies", "\n".join(_vocabularies()))}


def _shapes() -> Iterator[str]:
    yield "| shape | CPU | memory | devices | machine |"
    yield "|---|---|---|---|---|"
    for each in shapes(()):
        devices = ", ".join(f"{number} `{name}`" for name, number in each.devices.items())
        machine = _comment(shape_files()[each.name])
        yield f"| `{each.name}` | {each.cpu} | {each.memory} | {devices} | {machine} |"


def _comment(file: Path) -> str:
    """Return what the first lines of a file say of the machine."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))


def _vocabularies() -> Iterator[str]:
    yield "| vocabulary | label | unit |"
    yield "|---|---|---|"
    for name, labels in VOCABULARIES.items():
        for label, level in labels.items():
            yield f"| `{name}` | `{label}` | {level} |"
