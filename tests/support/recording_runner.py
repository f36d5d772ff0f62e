"""A runner that runs no verb: it writes down which one was called with what."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class RecordingRunner:
    """Replaces what runs the verbs of the command line."""

    answers: dict[str, Any] = field(default_factory=dict)
    """What a verb returns, by its name; an exception is raised."""
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def __call__(self, verb: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Record the call and return the configured answer."""
        self.calls.append((verb.__name__, args, kwargs))
        answer = self.answers.get(verb.__name__)
        if isinstance(answer, BaseException):
            raise answer
        result: T = answer  # type: ignore[assignment]  # the test knows what the verb returns
        return result
