import asyncio
import os
from pathlib import Path

from kwokctl.host.noted_locks import lock_owner, locked, sign, turn
from tests.support import virtual_time
from tests.support.eventually import eventually


async def test_a_free_lock_is_held_at_once_and_names_its_holder(tmp_path: Path) -> None:
    heard: list[str] = []

    async with turn(tmp_path / "locks" / "a", doing="building", waiting=heard.append):
        assert lock_owner(tmp_path / "locks" / "a") == f"process {os.getpid()} is building"

    assert heard == []
    assert lock_owner(tmp_path / "locks" / "a") == ""


async def test_a_waiting_command_learns_what_the_owner_does(tmp_path: Path) -> None:
    path = tmp_path / "a"
    heard: list[str] = []
    order: list[str] = []

    async def second() -> None:
        async with turn(path, doing="more", waiting=heard.append):
            order.append("second")

    async with asyncio.TaskGroup() as tasks:
        async with turn(path, doing="downloading", waiting=heard.append) as lock:
            waiting = tasks.create_task(second())
            await eventually(lambda: heard)
            sign(lock, "building")
            await eventually(lambda: len(heard) == 2)
            order.append("first")
        await waiting

    me = f"process {os.getpid()} is"
    assert heard == [f"{me} downloading", f"{me} building"]
    assert order == ["first", "second"]


def test_a_waiting_command_learns_nothing_of_an_owner_that_is_just_releasing(
    tmp_path: Path,
) -> None:
    virtual_time.run(_while_a_note_is_missing(tmp_path))


async def _while_a_note_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    heard: list[str] = []

    async def second() -> None:
        async with turn(path, doing="more", waiting=heard.append):
            pass

    async with (
        asyncio.TaskGroup() as tasks,
        turn(path, doing="downloading", waiting=heard.append) as lock,
    ):
        tasks.create_task(second())
        await asyncio.sleep(60)
        os.truncate(lock, 0)
        await asyncio.sleep(60)
        sign(lock, "building")
        await asyncio.sleep(60)

    me = f"process {os.getpid()} is"
    assert heard == [f"{me} downloading", f"{me} building"]


async def test_an_inherited_lock_is_held_until_the_child_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "a"
    reading, writing = os.pipe()
    async with turn(path, doing="building", waiting=lambda _: None) as lock:
        child = await asyncio.create_subprocess_exec(
            "cat", stdin=reading, pass_fds=[lock], stdout=asyncio.subprocess.DEVNULL
        )
    os.close(reading)
    heard: list[str] = []

    async def second() -> None:
        async with turn(path, doing="more", waiting=heard.append):
            pass

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(second())
        await eventually(lambda: heard)
        os.close(writing)
    await child.wait()

    with locked(path, what="it"):
        pass
