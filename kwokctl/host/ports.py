"""Chooses TCP ports of this host, and holds them until programs listen on them.

Another program may take a port between its choice and its use. Here a socket is bound to it, but
does not listen, until the program itself listens. Linux lets the program bind beside such a socket
when both have SO_REUSEADDR, as Go's listeners do, and refuses programs that bind without it, as we
do when we look for a free port (socket(7)). So the port is never free in between.
"""

import socket
import time
from collections.abc import Collection
from contextlib import suppress
from errno import EADDRINUSE
from pathlib import Path
from types import TracebackType
from typing import Self

from kwokctl.errors import ConflictError, UnavailableError, UsageError

LOOPBACK = "127.0.0.1"
ANY, _ANY_V6 = "0.0.0.0", "::"  # noqa: S104 - listened on only if the user asks for it
"""The addresses of a program that listens on all addresses of a family."""
_EVERYWHERE = {ANY: LOOPBACK, _ANY_V6: "::1"}
HIGHEST = 32766
LOWEST = 10000
_LISTEN = "0A"
_LOOKS, _LOOK_EVERY = 4, 0.05
"""The number of looks at a port that a process may be giving up, and the seconds between them."""
_KILL = 1 << (9 - 1)
"""The signal that cannot be caught; other systems have no name for it."""
_ENDED = ("Z", "X")
_FLAGS, _EXITING = 5, 0x4
"""The position of a process' flags after its state, and the flag of processes that end (PF_EXITING)."""
_PROC_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def dialled(address: str) -> str:
    """Return where a program that listens on an address of this host is dialled from here."""
    return _EVERYWHERE.get(address, address)


def covers(address: str, other: str) -> bool:
    """Return whether a listener on one address of this host is also reached at another address.

    The wildcard address of IPv6 does not include IPv4.
    """
    is_everywhere = _EVERYWHERE.get(address) == LOOPBACK and ":" not in other
    return is_everywhere or dialled(address) == other


def joined(address: str, port: int) -> str:
    """Return `host:port`, with an IPv6 address in brackets."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def check_local(address: str) -> None:
    """Raise UsageError unless programs can listen on an address here."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
    except OSError as e:
        raise UsageError(
            f"'{address}' is not an address of this machine on which programs can listen",
            hint="give one that it has, or 0.0.0.0 for all",
            detail=e.strerror,
        ) from e


class HeldPorts:
    """Ports of one address that are held for programs about to be launched.

    Free ports are looked for downwards from 32766 or less, below the range from which the kernel
    takes ports for outgoing connections, so that none of those can slip in between.
    """

    def __init__(self, *, taken: Collection[int], address: str, highest: int = HIGHEST) -> None:
        """Avoid the ports in `taken`, which other clusters have been given, and those above."""
        self._highest = highest
        self._taken = set(taken)
        self._address = address
        self._held: dict[str, list[socket.socket]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release all ports that are still held."""
        self.release(*list(self._held))

    def hold(self, name: str, wanted: int = 0) -> int:
        """Hold a port for the program called `name` and return it; 0 picks a free one.

        Raises ConflictError, naming the process that uses it, for a wanted port that is taken.
        Wanted ports are held before others are picked: those avoid them.
        """
        if wanted:
            self._check_own(name, wanted)
            held = self._free(wanted) or self._unused(wanted) or self._abandoned(wanted)
            if held is None:
                raise in_use(name, wanted)
            self._taken.add(wanted)
            self._held.setdefault(name, []).append(held)
            return wanted
        for port in range(self._highest, LOWEST - 1, -1):
            if port not in self._taken and (held := self._free(port)):
                self._taken.add(port)
                self._held.setdefault(name, []).append(held)
                return port
        raise UnavailableError(f"no port between {LOWEST} and {self._highest} is free")

    def check(self, *names: str) -> None:
        """Raise ConflictError for a port of these programs on which another program listens by now.

        SO_REUSEADDR allows other programs to bind beside our socket, too.
        """
        for name in names:
            for held in self._held.get(name, ()):
                check_unused(name, self._address, held.getsockname()[1])

    def release(self, *names: str) -> None:
        """Release the ports of these programs, which listen on them by now."""
        for name in names:
            for held in self._held.pop(name, ()):
                held.close()

    def _check_own(self, name: str, port: int) -> None:
        for other, held in self._held.items():
            if port in (each.getsockname()[1] for each in held):
                raise ConflictError(
                    f"port {port} is wanted for '{other}' and for '{name}'",
                    hint="give each a different port, or 0 to have one chosen",
                )

    def _free(self, port: int) -> socket.socket | None:
        """Take a port that no socket at all is bound to, at this address or at any other."""
        everywhere = _ANY_V6 if ":" in self._address else ANY
        probe = _bound(everywhere, port, reuse=False)
        if probe is None:
            return None
        probe.close()
        held = _bound(self._address, port, reuse=False)
        if held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return held

    def _unused(self, port: int) -> socket.socket | None:
        """Take a port without a listener, though connections to it may still linger."""
        everywhere = _ANY_V6 if ":" in self._address else ANY
        probe = _bound(everywhere, port, reuse=True)
        if probe is None:
            return None
        with probe:
            return _bound(self._address, port, reuse=True)

    def _abandoned(self, port: int) -> socket.socket | None:
        """Take a port that a process has only because it ends: one with much memory does so for seconds."""
        looks = _LOOKS
        while looks > 0:
            time.sleep(_LOOK_EVERY)
            if held := self._unused(port):
                return held
            looks = _LOOKS if _listener_is_ending(port) else looks - 1
        return None


def check_unused(name: str, address: str, port: int) -> None:
    """Raise ConflictError, naming the process, if a program listens on a port of this host."""
    found = _bound(address, port, reuse=True)
    if found is None:
        raise in_use(name, port)
    found.close()


def is_taken(error: UnavailableError) -> bool:
    """Return whether a server could not start because another program listens on its port."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno == EADDRINUSE


def in_use(name: str, port: int) -> ConflictError:
    """Return the error for a port that another program uses, with a remedy."""
    owner = _listener(port)
    return ConflictError(
        f"port {port}, wanted for '{name}', is in use{f' by {owner}' if owner else ''}",
        hint="end the program that uses it, or choose another port for the cluster",
    )


def _bound(address: str, port: int, *, reuse: bool) -> socket.socket | None:
    bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(reuse))
        bound.bind((address, port))
    except OSError:
        bound.close()
        return None
    return bound


def _listener(port: int) -> str:
    """Name the process that listens on a port, as far as this user may see it."""
    with suppress(OSError):
        if process := _listening_process(port):
            name = (process / "comm").read_text(encoding="utf-8").strip()
            return f"'{name}' (process {process.name})"
    return ""


def _listening_process(port: int) -> Path | None:
    inodes = {inode for table in _PROC_TABLES for inode in _listening_inodes(table, port)}
    wanted = {f"socket:[{inode}]" for inode in inodes}
    processes = Path("/proc").glob("[0-9]*")
    return next((process for process in processes if wanted & _open_files(process)), None)


def _listener_is_ending(port: int) -> bool:
    """Return whether a process that was killed still listens on a port (proc(5))."""
    process = _listening_process(port)
    if process is None:
        return False
    try:
        # Behind the name, which may hold anything.
        state, *fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
        words = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    except OSError:
        return True  # by now it is gone
    is_killed = any(int(words[each], 16) & _KILL for each in ("SigPnd", "ShdPnd"))
    return is_killed or state in _ENDED or bool(int(fields[_FLAGS]) & _EXITING)


def _open_files(process: Path) -> set[str]:
    """List what a process has open; while it ends, only its last threads have it."""
    return _links(process / "fd") or set().union(*map(_links, process.glob("task/*/fd")))


def _links(folder: Path) -> set[str]:
    found = set()
    with suppress(OSError):
        for link in folder.iterdir():
            with suppress(OSError):
                found.add(str(link.readlink()))
    return found


def _listening_inodes(table: Path, port: int) -> list[str]:
    try:
        rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        return []
    suffix = f":{port:04X}"
    return [row[9] for row in rows if row[3] == _LISTEN and row[1].endswith(suffix)]
