"""What processes listen at, as the kernel lists it (proc(5)), in whichever network they are."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

_ACCEPTS = 0x10000
"""The flag of a unix socket that accepts connections (__SO_ACCEPTCON)."""
_DATAGRAMS = "0002"
_UNASKED = re.compile(r"@[0-9a-f]{5}")
"""A name that the kernel chose (unix(7)): of datagrams such a socket only sends, since no sender knows it.
etcd 3.5 has one for systemd's journal (go-systemd, `journal_unix.go`)."""
_LISTEN = "0A"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Listener:
    """One end that others can dial."""

    pid: int
    at: str
    """`HOST:PORT`, the path of a unix socket, or `@NAME` for an abstract one."""
    is_unix: bool = False

    @property
    def is_abstract(self) -> bool:
        """Whether it has no file, and with it no permissions."""
        return self.is_unix and not self.at.startswith("/")


def listeners_of(pids: Iterable[int]) -> list[Listener]:
    """List the listeners of processes that may end meanwhile."""
    found: list[Listener] = []
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            found += _of(pid, Path(f"/proc/{pid}"))
    return sorted(found)


def listeners_at(ports: Iterable[int], folder: Path) -> list[Listener]:
    """List the listeners on ports of this machine whose processes run in a folder, or name or have open a file of it."""
    processes = [each for each in Path("/proc").glob("[0-9]*") if str(folder) in _names(each)]
    ends = tuple(f":{port}" for port in ports)
    found = listeners_of(int(each.name) for each in processes)
    return [each for each in found if each.at.endswith(ends)]


def _names(process: Path) -> str:
    """Return the command of a process, its folder and what it has open; nothing once it has ended, or of one that is not ours."""
    try:
        words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        files = [str(each.readlink()) for each in (process / "fd").iterdir()]
        return "\n".join([words, str((process / "cwd").readlink()), *files])
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def _of(pid: int, process: Path) -> Iterator[Listener]:
    own = set(_sockets(process))
    folder = (process / "cwd").readlink()
    for inode, path in _unix(process / "net/unix"):
        if inode in own:
            named = str(folder / path) if path and not path.startswith("@") else path or "@"
            yield Listener(pid=pid, at=named, is_unix=True)
    for table in ("net/tcp", "net/tcp6"):
        for inode, at in _tcp(process / table):
            if inode in own:
                yield Listener(pid=pid, at=at)


def _sockets(process: Path) -> Iterator[str]:
    for descriptor in (process / "fd").iterdir():
        with suppress(FileNotFoundError):
            if found := re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink())):
                yield found[1]


def _unix(table: Path) -> Iterator[tuple[str, str]]:
    """Yield inode and path of what accepts connections, or has a name to send datagrams to."""
    for line in table.read_text().splitlines()[1:]:
        _, _, _, flags, kind, _, inode, *path = line.split(maxsplit=7)
        name = path[0] if path else ""
        if int(flags, 16) & _ACCEPTS or (
            kind == _DATAGRAMS and name and not _UNASKED.fullmatch(name)
        ):
            yield inode, name


def _tcp(table: Path) -> Iterator[tuple[str, str]]:
    if not table.exists():
        return
    for line in table.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == _LISTEN:
            yield fields[9], _address(fields[1])


def _address(text: str) -> str:
    """Read an address as the kernel writes it: 32-bit words in the order of this machine's bytes."""
    host, _, port = text.partition(":")
    words = [bytes.fromhex(host[i : i + 8])[::-1] for i in range(0, len(host), 8)]
    packed = b"".join(words)
    address = IPv4Address(packed) if len(packed) == 4 else IPv6Address(packed)
    return f"[{address}]:{int(port, 16)}" if address.version == 6 else f"{address}:{int(port, 16)}"
