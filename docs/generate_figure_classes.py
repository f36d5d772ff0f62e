"""Writes the classes of `kwokctl/library/measuring/run_figures.py`, with which Python programs reach figures, from the catalogue."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.measure.figures.figure import Figure, Form
from kwokctl.measure.figures.figure_catalogue import FIGURES, GROUPED, NAMED_BY_NODES

MODULE = Path(__file__).parents[1] / "kwokctl/library/measuring/run_figures.py"
_CLASSES: dict[Form, str] = {
    "number": "NumberFigure",
    "distribution": "DistributionFigure",
    "series": "SeriesFigure",
    "levels": "LevelsFigure",
    "bounds": "BoundsFigure",
}
_BY_NAME: dict[Form, str] = {
    "number": "NumbersByName",
    "distribution": "DistributionsByName",
    "levels": "LevelsByName",
}
_ASKED = {
    "latency": ("DistributionsByName", "Latencies that were asked for, by their names."),
    "metrics": ("NumbersByName", "Metrics that were asked for, by their fields."),
}
_HEAD = '''"""The figures of a run, under the names that assertions use. Generated from the catalogue of figures: `make docs`."""

'''


class _Place(msgspec.Struct):
    """A name, and what stands there: a figure, places below it, or figures by names of the run."""

    name: str
    figure: Figure | None = None
    by_name: Form | None = None
    below: dict[str, "_Place"] = {}

    @property
    def title(self) -> str:
        """The name of its class."""
        words = self.name.replace(".", "_").split("_")
        return "".join(word.capitalize() for word in words) + "Figures"

    @property
    def has_class(self) -> bool:
        """Whether it has a class of its own."""
        return bool(self.below)

    @property
    def bases(self) -> str:
        """The class of what stands there, but for what is below it."""
        if self.figure is not None:
            return _CLASSES[self.figure.form]
        return _BY_NAME[self.by_name] if self.by_name else "FigurePlace"

    @property
    def kind(self) -> str:
        """The class of the attribute that leads there."""
        return self.title if self.has_class else self.bases

    @property
    def text(self) -> str:
        """Its docstring."""
        if self.figure is None:
            return f"Figures whose names begin with `{self.name}`."
        title = self.figure.title
        unit = f" ({self.figure.unit})" if self.figure.unit else ""
        return f"{title[:1].upper()}{title[1:]}{unit}."


def pages() -> dict[Path, str]:
    """Return the text of the module."""
    return {MODULE: _HEAD + "\n".join(_lines()) + "\n"}


def _lines() -> Iterator[str]:
    grouped, every = _tree(GROUPED), _tree((*FIGURES, *NAMED_BY_NODES))
    classes = [line for place in every.below.values() for line in _classes(place)]
    whole = _attributes([each for each in every.below.values() if each.name not in grouped.below])
    asked = _asked()
    part = _attributes(grouped.below.values())
    lines = [
        *classes,
        *_class("GroupFigures", "FigurePlace", "The figures of one group of pods.", part),
        *_class("RunFigures", "GroupFigures", "All figures of a run.", [*whole, *asked]),
    ]
    used = {word for line in lines for word in line.replace("(", " ").replace(")", " ").split()}
    values = sorted({*_CLASSES.values(), *_BY_NAME.values()} & used)
    yield "from kwokctl.library.measuring.figure_places import FigurePlace, Named"
    yield "from kwokctl.library.measuring.figure_values import ("
    yield from (f"    {name}," for name in values)
    yield ")"
    yield from lines


def _tree(figures: Sequence[Figure]) -> _Place:
    """Return the figures by the parts of their names; a part in capitals stands for names that a run brings."""
    root = _Place("")
    for figure in figures:
        *path, last = figure.name.split(".")
        place = root
        for word in path:
            place = _below(place, word)
        if last.isupper():
            place.by_name = figure.form
        else:
            _below(place, last).figure = figure
    return root


def _below(place: _Place, word: str) -> _Place:
    name = f"{place.name}.{word}" if place.name else word
    return place.below.setdefault(word, _Place(name))


def _classes(place: _Place) -> Iterator[str]:
    """Yield the classes of a place, those below it first."""
    for each in place.below.values():
        yield from _classes(each)
    if place.has_class:
        yield from _class(place.title, place.bases, place.text, _attributes(place.below.values()))


def _class(name: str, bases: str, text: str, attributes: Sequence[str]) -> Iterator[str]:
    yield from ("", "", f"class {name}({bases}):", f'    """{text}"""', "", *attributes)


def _attributes(places: Iterable[_Place]) -> list[str]:
    return [
        line
        for place in places
        for line in (
            f"    {place.name.rpartition('.')[2]} = Named({place.kind})",
            f'    """{place.text}"""',
        )
    ]


def _asked() -> Iterator[str]:
    for name, (kind, text) in _ASKED.items():
        yield f"    {name} = Named({kind})"
        yield f'    """{text}"""'
