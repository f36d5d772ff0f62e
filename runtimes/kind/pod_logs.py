"""Reads the log files of pods, in which each line begins with a time, a stream and a tag.

The form is that of
https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md.
"""

from collections.abc import AsyncIterator, Sequence

from kwokctl.model import ComponentName

_WHOLE = b"F"


def of_pod(
    files: Sequence[tuple[str, bytes]], *, name: ComponentName, node: str
) -> list[tuple[str, bytes]]:
    """Choose a component's log files from those of all pods, the oldest first."""
    start = f"pods/kube-system_{name}-{node}_"
    found = [(path, content) for path, content in files if path.startswith(start)]
    return sorted((one for one in found if one[0].endswith(".log")), key=lambda one: _age(one[0]))


def _age(path: str) -> tuple[str, int]:
    folder, _, file = path.rpartition("/")
    number = file.removesuffix(".log")
    return folder, int(number) if number.isdigit() else 0


async def text(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield what was written, line by line, without what stands before each line."""
    rest = b""
    async for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield written(line)


def written(line: bytes) -> bytes:
    """Return what a pod has written, from a line of its log; a line may be parted into several."""
    words = line.split(b" ", 3)
    if len(words) < 4:
        return line + b"\n"
    return words[3] + (b"\n" if words[2] == _WHOLE else b"")
