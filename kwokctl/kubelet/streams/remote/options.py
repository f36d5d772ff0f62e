"""The options of exec and attach, as clients send them."""

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The requested streams, and the command."""

    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool
    command: tuple[str, ...] = ()


def read_options(request: Request) -> StreamOptions:
    """Read the parameters of the kubelet, which differ from those of the API server.

    A terminal has no standard error of its own. Raises RefusedError if no stream is requested, or
    for a command that no program can be given.
    """
    tty = _is_on(request, "tty")
    options = StreamOptions(
        stdin=_is_on(request, "input"),
        stdout=_is_on(request, "output"),
        stderr=_is_on(request, "error") and not tty,
        tty=tty,
        command=request.parameters("command"),
    )
    if not (options.stdin or options.stdout or options.stderr):
        raise RefusedError(400, "at least one of stdin, stdout and stderr must be requested")
    if any("\0" in word for word in options.command):
        raise RefusedError(400, "a command cannot have a zero byte")
    return options


def _is_on(request: Request, name: str) -> bool:
    # https://pkg.go.dev/k8s.io/kubelet/pkg/cri/streaming/remotecommand takes only this value.
    return request.parameter(name) == "1"
