"""Writes the tables of `docs/reference/faults.md`, from the classes of faults and the dialects in `templates/faults`."""

from collections.abc import Iterator
from pathlib import Path

from docs.generate_options import filled
from kwokctl import assets
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.explaining.explanation import explain

PAGE = Path(__file__).parent / "reference" / "faults.md"
_CATALOGUE = FaultCatalogue()


def pages() -> dict[Path, str]:
    """Return the text of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, rows in (("dialects", _dialects()), ("classes", _classes()), ("signals", _signals())):
        text = filled(text, name, "\n".join(rows))
    return {PAGE: text}


def _dialects() -> Iterator[str]:
    yield "| dialect | agent | a fault is | looks | healthy conditions | |"
    yield "|---|---|---|---|---|---|"
    for each in _CATALOGUE.dialects():
        spec = each.spec
        healthy = ", ".join(f"`{condition.type}`" for condition in spec.conditions) or "none"
        row = (f"`{each.name}`", spec.agent, spec.bad_status, _every(spec.poll_interval), healthy)
        yield f"| {' | '.join(row)} | {_comment(f'faults/dialects/{each.name}.yaml')} |"


def _every(interval: str) -> str:
    return "at once" if interval == "0s" else f"every {interval}"


def _classes() -> Iterator[str]:
    yield "| class | layer | scope | severity | | cleared by | |"
    yield "|---|---|---|---|---|---|---|"
    for each in _CATALOGUE.classes():
        spec = each.spec
        words = (spec.layer, spec.scope, f"{spec.severity}, {spec.lifetime}", spec.summary)
        row = (f"`{each.name}`", *words, ", ".join(spec.cleared_by))
        yield f"| {' | '.join(row)} | {_comment(f'faults/{each.name}.yaml')} |"


def _signals() -> Iterator[str]:
    yield "| class | dialect | after | shows |"
    yield "|---|---|---|---|"
    dialects = [*_CATALOGUE.dialects()]
    for each in _CATALOGUE.classes():
        for signal in explain(each, dialects).signals:
            when = " to ".join(dict.fromkeys((signal.earliest, signal.latest)))
            shown = "; ".join(f"`{text}`" for text in signal.shows)
            note = f" ({signal.note})" if signal.note else ""
            yield f"| `{each.name}` | `{signal.dialect}` | {when} | {shown}{note} |"


def _comment(file: str) -> str:
    """Return what the first lines of a file say."""
    lines = assets.text(file).splitlines()
    return " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))
