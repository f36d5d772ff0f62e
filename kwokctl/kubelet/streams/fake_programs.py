"""Programs that containers have without a document: what they print is computed, and nothing is run.

They read no input. What they print is small and known at once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from kwokctl.kubelet.streams.stream_targets import ContainerTarget


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a program that has ended."""

    output: str = ""
    errors: str = ""
    exit_code: int = 0


FakeProgram = Callable[[ContainerTarget, Sequence[str]], Awaitable[Printed]]
"""Returns what a program prints in a container, by its arguments."""
FakePrograms = Mapping[str, FakeProgram]
"""The programs, by their names."""


def program_of(programs: FakePrograms, command: Sequence[str]) -> FakeProgram | None:
    """Return the program of a command, by its name alone: it is in every folder."""
    return programs.get(command[0].rpartition("/")[2])
