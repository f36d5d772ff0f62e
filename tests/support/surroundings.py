"""What every test gets instead of the user's environment, and what it must not do."""

import ipaddress
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster

_ELSEWHERE = ("proxy", "ca_bundle")
"""Ends of environment variables that send a client to other servers, or have it trust others."""
MUST_NOT_BLOCK = ("controller", "dataplane", "embedded", "kubelet")
"""Packages whose event loop serves thousands of objects: a call that blocks delays them all."""

_MAY_BLOCK = (
    ("controller/settings.py", "read_settings"),
    ("embedded/process_metrics.py", "resident_bytes"),
)
"""What is read before the loop has work, and what the kernel makes up as it is read."""


class Surroundings:
    """It is made once, and set for each of thousands of tests."""

    def __init__(self, homes: Path, temporary: str) -> None:
        self._new = (homes / str(number) for number in count())
        self._temporary = temporary
        self._home: Path | None = None
        self._connects = {
            name: _guarded(getattr(socket.socket, name)) for name in ("connect", "connect_ex")
        }
        self._watched: BlockBuster | None = None

    def hide(self, patch: pytest.MonkeyPatch) -> None:
        """Hide each setting, cluster, kubeconfig and cache of the user."""
        for name in os.environ:
            if name.startswith("KWOK_") or name.lower().endswith(_ELSEWHERE):
                patch.delenv(name)
        home = self._empty_home()
        patch.setenv("HOME", home)
        patch.setenv("KWOK_WORKDIR", f"{home}/.kwok")
        patch.setenv("KUBECONFIG", f"{home}/.kube/config")
        patch.setenv("XDG_CACHE_HOME", f"{home}/.cache")
        patch.setenv("TMPDIR", self._temporary)
        patch.setattr(tempfile, "tempdir", self._temporary)

    def stay(self, patch: pytest.MonkeyPatch) -> None:
        """Refuse every connection that leaves this machine."""
        for name, guarded in self._connects.items():
            patch.setattr(socket.socket, name, guarded)

    @contextmanager
    def unblocked(self) -> Iterator[None]:
        """Refuse calls that block, from the packages that must not, while an event loop runs."""
        self._watched = self._watched or _watched()
        self._watched.activate()
        try:
            yield
        finally:
            self._watched.deactivate()

    def _empty_home(self) -> str:
        """Return the home of the last test if that has left nothing in it, as most do; else a new one."""
        if self._home is None or not self._home.is_dir() or any(self._home.iterdir()):
            self._home = next(self._new)
            self._home.mkdir()
        return str(self._home)


def _watched() -> BlockBuster:
    watched = BlockBuster([f"kwokctl.{package}" for package in MUST_NOT_BLOCK])
    for call in watched.functions.values():
        for file, function in _MAY_BLOCK:
            call.can_block_in(f"kwokctl/{file}", {function})
    return watched


def _guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any, /) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_local(address[0]):
            pytest.fail(f"the test dials {address[0]}, which is not this machine")
        return connect(self, address)

    return guarded


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"
