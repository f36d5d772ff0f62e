"""Connects a program on this host with the streams of a client until it ends."""

import asyncio
from collections.abc import Awaitable, Callable

from kwokctl.host.children.child import Child, ChildOptions, running
from kwokctl.host.children.pipes import ReadEnd, WriteEnd
from kwokctl.kubelet.streams.remote.sizes import sizes
from kwokctl.kubelet.streams.remote.statuses import CommandEnd
from kwokctl.kubelet.streams.remote.streams import RemoteStreams, StreamName
from kwokctl.tasks import beside

Send = Callable[[bytes], Awaitable[None]]


async def run_command(options: ChildOptions, streams: RemoteStreams) -> CommandEnd:
    """Run a program to its end; cancelled, when the client goes, it takes the program down with it."""
    try:
        async with (
            running(options) as child,
            # In this order: input that was sent after a size finds the terminal at that size.
            beside(_resize(child, streams), _feed(child.stdin, streams)),
        ):
            return CommandEnd(await _until_read(child, streams))
    except OSError as e:
        if isinstance(e, ConnectionError):
            raise
        return CommandEnd(None, _why(options, e))


async def _until_read(child: Child, streams: RemoteStreams) -> int:
    """Return the exit status when the program has ended and the client has all that it wrote."""

    async def stdout(data: bytes) -> None:
        await streams.write(StreamName.STDOUT, data)

    async def stderr(data: bytes) -> None:
        await streams.write(StreamName.STDERR, data)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_hand_on(child.stdout, stdout))
        if child.stderr is not None:
            tasks.create_task(_hand_on(child.stderr, stderr))
        return await child.wait()


async def _hand_on(end: ReadEnd, send: Send) -> None:
    while data := await end.read():
        await send(data)


async def _feed(stdin: WriteEnd | None, streams: RemoteStreams) -> None:
    """Give the program what the client sends; at the end it finds the end, too."""
    if stdin is None:
        return
    while data := await streams.read(StreamName.STDIN):
        if not await stdin.write(data):
            # The client may go on sending, and has more to say on other streams.
            streams.drop(StreamName.STDIN)
            return
    stdin.close()


async def _resize(child: Child, streams: RemoteStreams) -> None:
    async for size in sizes(lambda: streams.read(StreamName.RESIZE)):
        child.resize(size.width, size.height)
    streams.drop(StreamName.RESIZE)


def _why(options: ChildOptions, error: OSError) -> str:
    match error:
        case FileNotFoundError() if error.filename == options.folder:
            return f"the working directory '{options.folder}' does not exist"
        case FileNotFoundError():
            return f"there is no program '{options.argv[0]}'"
        case PermissionError() if options.user is not None or options.group is not None:
            return f"'{options.argv[0]}' may not be run as user {options.user}"
    return f"'{options.argv[0]}' cannot be run: {error.strerror}"
