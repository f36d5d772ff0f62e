"""The interface of all acts: they are checked, prepared, and carried out."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr.gotemplate.template import Template
from kwokctl.json_value import Json
from kwokctl.load.client.load_rights import Right
from kwokctl.load.client.sender import Flight, LoadSender
from kwokctl.load.description.template_draws import TemplateDraws
from kwokctl.load.load_documents import Load

Data = Mapping[str, Json]
"""The data of an arrival for templates: `index`, `name`, `load`, `run`, `params`."""
Work = Callable[[Flight], Awaitable[None]]
"""Does the rest of an arrival: what a try before has done already is not done again."""

_NO_VALUE = "<no value>"
"""The text that Go's templates write for a name without a value."""


class Act(Protocol):
    """The act of the arrivals of a load."""

    async def rights(self, data: Data) -> list[Right]:
        """Return which rights it needs, for an arrival; ConfigError, with the place, for what cannot work."""
        ...

    def prepared(self, data: Data) -> Work:
        """Return what is to be done for an arrival; ConfigError for a template that does not render."""
        ...


class ActContext:
    """The parts from which an act is made."""

    def __init__(self, load: Load, run: str, sender: LoadSender, stream: DrawStream) -> None:
        self.load, self.run, self.sender, self.stream = load, run, sender, stream
        self._draws = TemplateDraws(stream)

    def fault(self, place: str, problem: str, *, hint: str | None = None) -> ConfigError:
        """Make the error about a place of the document."""
        return self.load.document.fault(place, problem, hint=hint)

    def text(self, template: Template, data: Data, place: str) -> str:
        """Return what the template at a place gives; ConfigError if it does not render."""
        try:
            text = template.render(data, self._draws.at(data["index"], place))
        except ExpressionError as e:
            raise self.fault(place, f"does not render: {e}", hint=e.hint) from e
        self.check_values(text, place)
        return text

    def check_values(self, written: object, place: str) -> None:
        """Raise ConfigError for a template that uses a name without a value, such as a misspelt parameter."""
        if _NO_VALUE in str(written):
            params = ", ".join(self.load.spec.params) or "none"
            hint = f"there are .index, .name, .load, .run, and of .params: {params}"
            raise self.fault(place, f"does not render: it writes '{_NO_VALUE}'", hint=hint)
