"""A rewind before a run waits for another command that uses the cluster."""

import pytest

from kwokctl.errors import BusyError
from kwokctl.measure.repeating.start_state import when_released


class Rewind:
    """Finds the cluster in use a number of times."""

    def __init__(self, used: int) -> None:
        self.used = used

    async def __call__(self) -> str:
        self.used -= 1
        if self.used >= 0:
            raise BusyError("the cluster 'kwok' is in use by process 7", hint="wait")
        return "rewound"


async def test_a_rewind_waits_for_another_command_and_notes_it_once() -> None:
    notes: list[str] = []

    assert await when_released(Rewind(3), notes.append) == "rewound"

    assert notes == ["the cluster 'kwok' is in use by process 7; the rewind waits for that"]


async def test_a_rewind_that_is_free_notes_nothing() -> None:
    notes: list[str] = []

    assert await when_released(Rewind(0), notes.append) == "rewound"

    assert notes == []


async def test_a_rewind_does_not_wait_for_ever() -> None:
    with pytest.raises(BusyError, match="process 7"):
        await when_released(Rewind(3), print, within=0)
