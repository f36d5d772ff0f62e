import asyncio

from kwokctl.kubelet.streams.connections.inbox import Inbox

FULL = bytes(256 * 1024)


async def _begun(work: "asyncio.Task[None]") -> bool:
    """Let a task go as far as it can, and tell whether it has ended."""
    for _ in range(5):
        await asyncio.sleep(0)
    return work.done()


async def test_what_was_put_is_read_at_once() -> None:
    inbox = Inbox()
    await inbox.put(b"one ")
    await inbox.put(b"two")

    assert await inbox.read() == b"one two"


async def test_the_end_comes_after_what_was_put() -> None:
    inbox = Inbox()
    await inbox.put(b"last")
    inbox.end()
    await inbox.put(b"too late")

    assert [await inbox.read(), await inbox.read(), await inbox.read()] == [b"last", b"", b""]


async def test_whoever_puts_waits_while_it_is_full() -> None:
    inbox = Inbox()
    await inbox.put(FULL)
    async with asyncio.TaskGroup() as tasks:
        more = tasks.create_task(inbox.put(b"more"))

        assert not await _begun(more)
        assert await inbox.read() == FULL
        assert await _begun(more)

    assert await inbox.read() == b"more"


async def test_the_end_lets_whoever_puts_go_on() -> None:
    inbox = Inbox()
    await inbox.put(FULL)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(inbox.put(b"more"))
        await asyncio.sleep(0)
        inbox.end()

    assert [await inbox.read(), await inbox.read()] == [FULL, b""]


async def test_what_nobody_reads_any_more_is_forgotten() -> None:
    inbox = Inbox()
    await inbox.put(FULL)
    inbox.drop()
    for _ in range(3):
        await inbox.put(FULL)
    inbox.end()

    assert await inbox.read() == b""
