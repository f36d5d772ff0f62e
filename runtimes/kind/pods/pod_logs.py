"""Reads the log files of pods, in which each line begins with a time, a stream and a tag.

The form is that of
https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md.
"""

from collections.abc import AsyncIterator, Iterator, Sequence

from kwokctl.model import ComponentName

_WHOLE = b"F"


def of_pod(
    files: Sequence[tuple[str, bytes]], *, name: ComponentName, node: str
) -> Iterator[bytes]:
    """Yield what a component has written, the oldest first, from the log files of all pods.

    A file may be there by two names: those that begin at the same time are one.
    """
    start = f"kube-system_{name}-{node}_"
    found: dict[bytes, bytes] = {}
    for path, content in files:
        if path.partition("/")[2].startswith(start) and path.endswith(".log") and content:
            began = _began(content)
            found[began] = max(found.get(began, b""), content, key=len)
    for began in sorted(found):
        for line in found[began].splitlines():
            yield written(line)


def was_revived(files: Sequence[tuple[str, bytes]], *, name: ComponentName, node: str) -> bool:
    """Return whether the kubelet has started a component again, from the log files of all pods.

    They are numbered by the starts of their container, from 0 on.
    """
    start = f"kube-system_{name}-{node}_"
    inside = (path.partition("/")[2] for path, _ in files)
    logs = [path for path in inside if path.startswith(start) and path.endswith(".log")]
    return any(not path.endswith("/0.log") for path in logs)


def _began(content: bytes) -> bytes:
    """Return the time of the first line, whose last digits are left out where they are zeros."""
    return content.partition(b" ")[0].rstrip(b"Z")


async def text(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what was written, line by line, without what stands before each line."""
    rest = b""
    async for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield written(line)


def written(line: bytes) -> bytes:
    """Return what a pod has written, from a line of its log; a line may be split into several."""
    words = line.split(b" ", 3)
    if len(words) < 4:
        return line + b"\n"
    return words[3] + (b"\n" if words[2] == _WHOLE else b"")
