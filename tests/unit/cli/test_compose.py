import asyncio
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.cli import compose
from kwokctl.cli.output.plain import Plain
from kwokctl.progress import Silent
from tests.support.streams import Awaited


@pytest.fixture(autouse=True)
def _hangup_is_not_ignored() -> Iterator[None]:
    """Have the disposition of a terminal, also where the tests themselves are run by `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def test_home_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KWOK_WORKDIR", str(tmp_path / "work"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = compose.home(Silent())
    assert home.workdir.root == tmp_path / "work"
    assert home.cache.is_relative_to(tmp_path / "cache")


def test_a_verb_is_run_with_its_arguments_to_its_result() -> None:
    async def double(number: int, *, plus: int) -> int:
        return number * 2 + plus

    assert compose.run_verb(Plain(io.StringIO()), double, 4, plus=1) == 9


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_cancels_so_that_what_was_made_is_undone(number: signal.Signals) -> None:
    done: list[str] = []
    stream = Awaited("cleaning up")

    async def create() -> None:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(stream.seen.wait, 20)
            done.append("undone")

    with pytest.raises(KeyboardInterrupt) as caught:
        compose.run_verb(Plain(stream), create)
    assert caught.value.args == (number,)
    assert done == ["undone"]
    assert stream.getvalue() == "cleaning up; a second signal ends at once\n"


_STUBBORN = """
import asyncio, io, os, signal, sys
from kwokctl.cli.compose import run_verb
from kwokctl.cli.output.plain import Plain

async def never_ends():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()

run_verb(Plain(sys.stderr), never_ends)
"""


def test_the_second_signal_ends_the_process_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", _STUBBORN], check=False, timeout=60)
    assert done.returncode == 130


def test_a_closed_terminal_which_sends_two_signals_lets_undoing_end() -> None:
    done: list[str] = []

    async def create() -> None:
        try:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.Event().wait()
        finally:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0)
            done.append("undone")

    with pytest.raises(KeyboardInterrupt):
        compose.run_verb(Plain(io.StringIO()), create)
    assert done == ["undone"]


def test_a_hangup_that_is_ignored_stays_so() -> None:
    async def outlives_the_terminal() -> str:
        os.kill(os.getpid(), signal.SIGHUP)
        await asyncio.sleep(0)
        return "done"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert compose.run_verb(Plain(io.StringIO()), outlives_the_terminal) == "done"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_handlers_of_signals_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def nothing() -> None: ...

    compose.run_verb(Plain(io.StringIO()), nothing)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_cancellation_without_a_signal_is_a_bug() -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        compose.run_verb(Plain(io.StringIO()), give_up)
