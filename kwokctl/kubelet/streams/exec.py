"""Answers exec: runs a command for a container, if a document says how; else a fake program may answer.

The document sets environment, folder and user. The program is connected with the streams of the client until
it ends. The sizes of its terminal come as JSON objects, one after the other.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec

from kwokctl.embedded.http.messages import RawStream, RefusedError, Request
from kwokctl.host.children.child import Child, ChildOptions, running
from kwokctl.host.children.pipes import ReadEnd, WriteEnd
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.streams.command_streams import (
    RemoteStreams,
    StreamName,
    StreamOptions,
    read_options,
)
from kwokctl.kubelet.streams.fake_programs import FakePrograms, Printed, program_of
from kwokctl.kubelet.streams.remote_command import CommandEnd, RemoteCommand, serve_command
from kwokctl.kubelet.streams.stream_documents import ExecEntry, LocalExec, RunAs
from kwokctl.kubelet.streams.stream_targets import ContainerTarget, find_container, pod_environment
from kwokctl.tasks import beside

if TYPE_CHECKING:
    from pwd import struct_passwd


def child_options(
    local: LocalExec, target: ContainerTarget, options: StreamOptions, inherited: Mapping[str, str]
) -> ChildOptions:
    """Return what is run; `inherited` is the environment to which the document's adds."""
    run_as = local.security_context or RunAs()
    account = _account(run_as.run_as_user)
    user, group = _ids(run_as, account)
    return ChildOptions(
        argv=options.command,
        env={
            **inherited,
            **pod_environment(target.pod),
            "CONTAINER_NAME": target.container.name,
            **({"HOME": account.pw_dir} if account is not None else {}),
            # As with real kubelets, which know as little of the client's terminal.
            **({"TERM": "xterm"} if options.tty else {}),
            **{each.name: each.value for each in local.envs},
        },
        folder=local.work_dir or None,
        user=user,
        group=group,
        has_input=options.stdin,
        has_terminal=options.tty,
    )


def _account(user: int | None) -> "struct_passwd | None":
    import pwd  # not on Windows

    try:
        return pwd.getpwuid(user) if user is not None else None
    except KeyError:
        return None


def _ids(run_as: RunAs, account: "struct_passwd | None") -> tuple[int | None, int | None]:
    """Return the user and the group to change to, None where that is not needed.

    A user without a group has the one of its account, or else one of the same number: never ours.
    """
    user, group = run_as.run_as_user, run_as.run_as_group
    if user is not None and group is None:
        group = account.pw_gid if account is not None else user
    # Who is not root may not even become itself with no other groups.
    if user in {None, os.geteuid()} and group in {None, os.getegid()}:
        return None, None
    return user, group


_LONGEST_SIZE = 1024
_Cells = Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]


class TerminalSize(msgspec.Struct, frozen=True, rename="pascal"):
    """Columns and rows."""

    width: _Cells
    height: _Cells


async def sizes(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[TerminalSize]:
    """Yield every size until the end, or until something else comes."""
    rest = b""
    while (data := await read()) and len(rest) < _LONGEST_SIZE:
        *objects, rest = (rest + data).split(b"}")
        for each in objects:
            try:
                yield msgspec.json.decode(each + b"}", type=TerminalSize)
            except msgspec.DecodeError:
                return


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


async def show(printed: Printed, streams: RemoteStreams, *, is_terminal: bool) -> CommandEnd:
    """Send what a fake program has printed; what the client sends is ignored."""
    streams.drop(StreamName.STDIN)
    streams.drop(StreamName.RESIZE)
    errors = StreamName.STDOUT if is_terminal else StreamName.STDERR
    for name, text in ((StreamName.STDOUT, printed.output), (errors, printed.errors)):
        lines = text.replace("\n", "\r\n") if is_terminal else text
        if lines:
            await streams.write(name, lines.encode())
    return CommandEnd(printed.exit_code)


class ExecHandler:
    """Answers `/exec/…`."""

    def __init__(
        self,
        fleet: PodFinder,
        execs: Lookup[ExecEntry],
        environment: Mapping[str, str],
        programs: FakePrograms,
    ) -> None:
        """Run what `execs` allow for the pods of `fleet`, with our own `environment` and theirs.

        Where they say nothing of a container, it has the fake `programs`.
        """
        self._fleet, self._execs, self._environment = fleet, execs, environment
        self._programs = programs

    async def __call__(self, request: Request, raw: RawStream) -> None:
        """Take the connection over. Raises RefusedError for what may not be run."""
        target = await find_container(request, self._fleet)
        options = read_options(request)
        if not options.command:
            raise RefusedError(400, "there is no command to run")
        await serve_command(request, raw, options, await self._command(target, options))

    async def _command(self, target: ContainerTarget, options: StreamOptions) -> RemoteCommand:
        """Return what is to be done for the client; RefusedError if nothing may be."""
        entry = self._execs.find(target.pod, target.container.name)
        if entry is None:
            return await self._fake(target, options)
        if entry.local is None:
            needed = "has no 'local', which may be empty and lets commands run"
            raise RefusedError(400, f"the entry of 'execs' for {target} {needed}")
        child = child_options(entry.local, target, options, self._environment)
        return lambda streams: run_command(child, streams)

    async def _fake(self, target: ContainerTarget, options: StreamOptions) -> RemoteCommand:
        program = program_of(self._programs, options.command)
        if program is None:
            raise RefusedError(
                400, f"no document of kind Exec or ClusterExec allows commands in {target}"
            )
        printed = await program(target, options.command[1:])
        return lambda streams: show(printed, streams, is_terminal=options.tty)
