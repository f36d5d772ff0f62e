"""What every act can do: be checked, be prepared, and be done."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr.gotemplate.template import Template
from kwokctl.json_value import Json
from kwokctl.load.client.rights import Right
from kwokctl.load.client.sender import Flight, LoadSender
from kwokctl.load.documents import Load

Data = Mapping[str, Json]
"""What templates see of an arrival: `index`, `name`, `load`, `run`, `params`."""
Work = Callable[[Flight], Awaitable[None]]
"""Does the rest of an arrival: what a try before has done already is not done again."""


class Act(Protocol):
    """What the arrivals of a load do."""

    async def rights(self, data: Data) -> list[Right]:
        """Return which rights it needs, for an arrival; ConfigError, with the place, for what cannot work."""
        ...

    def prepared(self, data: Data) -> Work:
        """Return what is to be done for an arrival; ConfigError for a template that does not render."""
        ...


class ActContext:
    """What acts are made from."""

    def __init__(self, load: Load, run: str, sender: LoadSender, stream: DrawStream) -> None:
        self.load, self.run, self.sender, self.stream = load, run, sender, stream


def rendered(template: Template, data: Data) -> str:
    """Return the text of a template; ConfigError with its place if it does not render."""
    try:
        return template.render(data, {})
    except ExpressionError as e:
        raise ConfigError(str(e), hint=e.hint) from e
