"""The interface through which faults change the program of a container."""

from typing import Protocol

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram


class ProgramSpoiler(Protocol):
    """The faults of one container."""

    due: float
    """The time at which the next one begins to show, as a POSIX time stamp."""

    def program(self, program: ContainerProgram, started: float) -> ContainerProgram:
        """Return what its program does in the run that started at a time."""
        ...

    def is_wrong(self, started: float) -> str:
        """Return which fault has made the result of a run wrong; empty if none has."""
        ...
