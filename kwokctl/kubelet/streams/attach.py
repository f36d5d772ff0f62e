"""Answers attach: follows the file that a document names, from its end on."""

from collections.abc import Sequence
from contextlib import aclosing
from itertools import groupby

from kwokctl.embedded.http.messages import RawStream, RefusedError, Request
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.logs.file_changes import FileChanges
from kwokctl.kubelet.logs.file_source import file_source
from kwokctl.kubelet.logs.log_lines import LogLine
from kwokctl.kubelet.logs.log_query import LogQuery
from kwokctl.kubelet.logs.log_source import HasEnded, LogSource, end_of
from kwokctl.kubelet.streams.command_streams import (
    RemoteStreams,
    StreamName,
    StreamOptions,
    read_options,
)
from kwokctl.kubelet.streams.remote_command import CommandEnd, serve_command
from kwokctl.kubelet.streams.stream_documents import AttachEntry
from kwokctl.kubelet.streams.stream_targets import find_container

_FROM_NOW_ON = LogQuery(follow=True, tail=0)


class AttachHandler:
    """Answers `/attach/…`."""

    def __init__(
        self, fleet: PodFinder, attaches: Lookup[AttachEntry], changes: FileChanges
    ) -> None:
        """Follow the files in `attaches` for the pods of `fleet`."""
        self._fleet, self._attaches, self._changes = fleet, attaches, changes

    async def __call__(self, request: Request, raw: RawStream) -> None:
        """Take over the connection. Raises RefusedError for a container whose output is in no file."""
        target = await find_container(request, self._fleet)
        options = read_options(request)
        entry = self._attaches.find(target.pod, target.container.name)
        if entry is None:
            raise RefusedError(
                400, f"no document of kind Attach or ClusterAttach has a file for {target}"
            )
        if not entry.logs_file:
            raise RefusedError(400, f"the entry of 'attaches' for {target} has no 'logsFile'")
        source = await file_source(entry.logs_file, self._changes)
        has_ended = end_of(self._fleet, target.pod, target.container)

        async def follow(streams: RemoteStreams) -> CommandEnd:
            return await _follow(source, has_ended, options, streams)

        await serve_command(request, raw, options, follow)


async def _follow(
    source: LogSource, has_ended: HasEnded, options: StreamOptions, streams: RemoteStreams
) -> CommandEnd:
    """Hand on what is written; what the client sends is ignored."""
    streams.drop(StreamName.STDIN)
    streams.drop(StreamName.RESIZE)
    newline = b"\r\n" if options.tty else b"\n"
    async with aclosing(source.lines(_FROM_NOW_ON, has_ended)) as batches:
        async for lines in batches:
            await _write(streams, lines, newline, options)
    return CommandEnd()


async def _write(
    streams: RemoteStreams, lines: Sequence[LogLine], newline: bytes, options: StreamOptions
) -> None:
    """Write lines to the streams that they are of; a terminal has only one."""
    for is_error, group in groupby(lines, lambda line: line.stream == b"stderr"):
        name = StreamName.STDERR if is_error and not options.tty else StreamName.STDOUT
        texts = (each.content if each.is_part else each.content + newline for each in group)
        await streams.write(name, b"".join(texts))
