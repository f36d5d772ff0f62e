"""Programs of the user that get their input from us."""

import pytest

from kwokctl.errors import CommandError, UnavailableError
from kwokctl.host.process import run_with_input


async def test_it_gets_its_input() -> None:
    await run_with_input(["sh", "-c", 'test "$(cat)" = whole'], b"whole", patience=30)


async def test_one_that_reads_nothing_may_succeed() -> None:
    await run_with_input(["true"], b"x" * 1_000_000, patience=30)


async def test_one_that_does_not_end_is_killed() -> None:
    with pytest.raises(CommandError, match=r"has not ended after 0\.2 s"):
        await run_with_input(["sleep", "60"], b"", patience=0.2)


async def test_one_that_is_not_there_is_said() -> None:
    with pytest.raises(UnavailableError, match="cannot be run: No such file"):
        await run_with_input(["/no/such/program"], b"", patience=30)
