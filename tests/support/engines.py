"""A container engine for tests: the user's own, else one that is started for them and ended again."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kwokctl.errors import KwokctlError
from runtimes.engine.client import Engine
from runtimes.engine.endpoint import Endpoint, find_endpoint

PACKAGES = ("docker.io", "iptables")
_PATIENCE = 60.0
_POOL = "base=10.213.0.0/16,size=24"
"""Addresses that no other engine's networks are likely to have."""
_LEAN_RUNTIME = Path(__file__).parent / "kind_node" / "oci-runtime"
_CAP_SYS_RESOURCE = 24


class NoEngineError(Exception):
    """There is no engine, and this is why none was started."""


class Daemon:
    """An engine of the tests' own; only root can run one."""

    def __init__(self, folder: Path, *words: str) -> None:
        """Keep everything in a folder, whose path is short: sockets lie in it.

        `words` are more arguments of dockerd.
        """
        self._words = words
        self.url = f"unix://{folder}/engine.sock"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it answers; raise NoEngineError if it does not."""
        at = self._folder
        with (at / "log").open("ab") as log:
            process = subprocess.Popen(
                [
                    "dockerd", f"--host={self.url}", f"--data-root={at}/data",
                    f"--exec-root={at}/exec", f"--pidfile={at}/pid", "--bridge=none",
                    f"--default-address-pool={_POOL}", *_what_fits_here(), *self._words,
                ],
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._process = process
        deadline = time.monotonic() + _PATIENCE
        while not _answers(Endpoint(url=self.url)):
            if process.poll() is not None or time.monotonic() > deadline:
                last = (at / "log").read_text(errors="replace").splitlines()[-1:]
                raise NoEngineError(f"dockerd does not start here: {' '.join(last)}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it, and the containers with it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(_PATIENCE)

    def restart(self) -> None:
        """End it and start it again; its containers and images are kept."""
        self.stop()
        self.start()


@contextmanager
def engine() -> Iterator[str]:
    """Yield the address of an engine."""
    own = find_endpoint(os.environ, Path("~").expanduser())
    if _answers(own):
        yield own.url
        return
    with started() as daemon:
        yield daemon.url


@contextmanager
def started(*words: str) -> Iterator[Daemon]:
    """Yield an engine of the tests' own; `words` are more arguments of dockerd."""
    _obtain()
    folder = Path(tempfile.mkdtemp(prefix="kwokctl-engine-"))
    daemon = Daemon(folder, *words)
    try:
        daemon.start()
        yield daemon
    finally:
        daemon.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _what_fits_here() -> list[str]:
    """Return what dockerd needs where a capability is missing that privileged containers ask for."""
    lines = Path("/proc/self/status").read_text().splitlines()
    bounds = next(int(line.split()[1], 16) for line in lines if line.startswith("CapBnd:"))
    if bounds >> _CAP_SYS_RESOURCE & 1:
        return []
    return [f"--add-runtime=lean={_LEAN_RUNTIME}", "--default-runtime=lean"]


def _obtain() -> None:
    """Install an engine if there is none and this is ours to decide."""
    if os.getuid() != 0:
        raise NoEngineError("none answers, and only root may start one")
    if shutil.which("dockerd") and shutil.which("iptables"):
        return
    if not shutil.which("apt-get"):
        raise NoEngineError("none answers, and there is no apt-get to install one with")
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            ["apt-get", "-q", *words], env=settings, capture_output=True, timeout=600, check=False
        )
        if done.returncode:
            raise NoEngineError(f"none answers, and 'apt-get {words[0]}' fails")


def _answers(endpoint: Endpoint) -> bool:
    try:
        asyncio.run(Engine(endpoint).check())
    except KwokctlError:
        return False
    return True
