"""Asks the user on the terminal before something is deleted."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwokctl.cli.output.console import Console


def is_possible() -> bool:
    """Return whether a person can be asked: the question goes to standard error, the answer is read."""
    return all(stream and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirmed(console: "Console", question: str) -> bool:
    """Ask, and wait for a line."""
    _ask(console, question)
    return _answer()


async def confirmed_within(console: "Console", question: str) -> bool:
    """Ask, and wait for a line in an event loop, which still handles signals and deadlines."""
    import asyncio

    _ask(console, question)
    loop, answered = asyncio.get_running_loop(), asyncio.Event()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, answered.set)
    try:
        await answered.wait()
    finally:
        loop.remove_reader(descriptor)
    return _answer()


def _ask(console: "Console", question: str) -> None:
    console.line(f"{question} [y/N]")


def _answer() -> bool:
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
