"""Commands of the original that are refused by name because they are not supported yet."""

from collections.abc import Callable

from kwokctl.cli.invocation import Invocation
from kwokctl.errors import NotServedError


def refusing(name: str, instead: str) -> Callable[[Invocation, list[str]], None]:
    """Make the command that refuses all arguments and names what to use meanwhile."""

    def refuse(_call: Invocation, _words: list[str]) -> None:
        """Not supported yet."""
        raise NotServedError(f"'kwokctl {name}' is not supported yet", hint=instead)

    return refuse
