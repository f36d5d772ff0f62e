"""What kwokctl does on platforms where clusters cannot be made."""

import os
import subprocess
import sys

import pytest

from kwokctl.errors import UnavailableError
from kwokctl.host.memory import bounded
from kwokctl.host.platforms import check_platform

# Libraries and the standard library choose their modules by the platform as well; those of this
# machine are loaded before it is hidden.
_IMPORT_ALL = """
import asyncio, asyncio.subprocess, ctypes, importlib, mmap, os, pkgutil, shutil, signal, socket, ssl
import subprocess, sys, tempfile
import cryptography.x509, kwokctl.etcd.shim, requests, rich.live, typer

platform, *hidden = sys.argv[1:]

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in hidden:
            raise ModuleNotFoundError(f"there is no {name}", name=name)

for name in hidden:
    sys.modules.pop(name, None)
if platform == "win32":
    for name in ("getegid", "geteuid", "getgid", "getuid", "killpg", "openpty", "setsid", "sysconf", "uname"):
        delattr(os, name)
    for name in ("ITIMER_VIRTUAL", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGVTALRM", "setitimer"):
        delattr(signal, name)
    del os.pidfd_open, socket.AF_UNIX
sys.meta_path.insert(0, Hidden())
sys.platform = platform
failed = []
for top in map(importlib.import_module, ("kwokctl", "runtimes")):
    for module in pkgutil.walk_packages(top.__path__, f"{top.__name__}.", onerror=failed.append):
        if not module.name.endswith(".__main__"):
            try:
                importlib.import_module(module.name)
            except Exception as e:
                failed.append(f"{module.name}: {e!r}")
print(*failed, sep="\\n", end="")
"""
_OF_UNIX = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "uvloop")


@pytest.mark.parametrize(
    ("platform", "hidden"), [("darwin", ("uvloop",)), ("win32", _OF_UNIX)], ids=["macOS", "Windows"]
)
def test_every_module_is_imported_without_the_modules_of_linux(
    platform: str, hidden: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, platform, *hidden],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == ""


@pytest.mark.parametrize(("platform", "name"), [("darwin", "macOS"), ("win32", "Windows")])
def test_a_cluster_is_refused_elsewhere_with_a_way_that_works(
    monkeypatch: pytest.MonkeyPatch, platform: str, name: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    with pytest.raises(UnavailableError, match=f"made on Linux, and this is {name}") as caught:
        check_platform()

    assert "make image-all" in str(caught.value.hint)


def test_expressions_are_read_where_nothing_can_bound_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with bounded(memory=1):
        read = bytes(1 << 20)

    assert len(read) == 1 << 20
