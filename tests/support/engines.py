"""Container engines for tests: the user's own, else one that is started for them and ended again."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from kwokctl.errors import KwokctlError
from runtimes.engine.endpoint import Endpoint, find_endpoint
from runtimes.engine.engine_client import Engine
from tests.support.debian import DOCKER, NotInstalledError, need

LEAN_RUNTIME = Path(__file__).parent / "programs" / "oci-runtime"
"""What an engine runs containers with where it lacks the capability to raise limits."""
_PATIENCE = 180.0
_ALONE = ("--default-address-pool=base=10.213.0.0/16,size=24",)
"""Addresses that no other engine's networks are likely to have."""
_POOLS = range(215, 231)
"""Those of engines that run beside each other: which one, the number of the process says."""
_CAP_SYS_RESOURCE = 24


ONE_PROCESSOR = {"GOMAXPROCS": "1"}
"""For programs in Go: the lanes keep every processor busy, and such a program looks for work on each that it
sees. It takes a cluster an eighth of its processor time, and the loading of an image a third."""


class _Networks:
    """How the networks of the engines are made that these tests start."""

    words: Sequence[str] = _ALONE


def run_beside_another() -> None:
    """Have the engines of this process leave the packet filter to those of another."""
    pool = _POOLS[os.getpid() % len(_POOLS)]
    _Networks.words = (
        f"--default-address-pool=base=10.{pool}.0.0/16,size=24", "--iptables=false", "--ip6tables=false",
    )  # fmt: skip


class NoEngineError(Exception):
    """There is no engine, and this is why none was started."""


class Daemon:
    """An engine of the tests' own; only root can run one."""

    def __init__(
        self, folder: Path, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Run a command that listens at `socket_in(folder)`."""
        self.url = socket_in(folder)
        self.environment = {**os.environ, **ONE_PROCESSOR, **(environment or {})}
        self._command = command
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it answers; raise NoEngineError if it does not."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                self._command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self._process = process
        deadline = time.monotonic() + _PATIENCE
        while not _answers(Endpoint(url=self.url)):
            if process.poll() is not None or time.monotonic() > deadline:
                last = self._log.read_text(errors="replace").splitlines()[-1:]
                raise NoEngineError(f"{self._command[0]} does not start here: {' '.join(last)}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it; dockerd's containers end with it, Podman's do not."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(_PATIENCE)

    def restart(self) -> None:
        """End it and start it again; its containers and images are kept."""
        self.stop()
        self.start()


def answering() -> str:
    """Return the address of the user's engine; empty if none answers."""
    own = find_endpoint(os.environ, Path("~").expanduser())
    return own.url if _answers(own) else ""


@contextmanager
def engine() -> Iterator[str]:
    """Yield the address of an engine."""
    if url := answering():
        yield url
        return
    with started() as daemon:
        yield daemon.url


@contextmanager
def started(*words: str) -> Iterator[Daemon]:
    """Yield a dockerd of the tests' own; `words` are more arguments of it."""
    require(DOCKER)
    at = Path(tempfile.mkdtemp(prefix="kwokctl-engine-"))
    lean = [f"--add-runtime=lean={LEAN_RUNTIME}", "--default-runtime=lean"]
    command = [
        "dockerd", f"--host={socket_in(at)}", f"--data-root={at}/data",
        f"--exec-root={at}/exec", f"--pidfile={at}/pid", "--bridge=none",
        *_Networks.words, *(() if may_raise_limits() else lean), *words,
    ]  # fmt: skip
    daemon = Daemon(at, command)
    try:
        daemon.start()
        yield daemon
    finally:
        _remove_networks(daemon.url)
        daemon.stop()
        shutil.rmtree(at, ignore_errors=True)


@contextmanager
def at_hand(starting: AbstractContextManager[Daemon]) -> Iterator[Daemon]:
    """Yield an engine; skip where it is not available."""
    with ExitStack() as stack:
        try:
            daemon = stack.enter_context(starting)
        except NoEngineError as e:
            pytest.skip(f"no container engine: {e}")
        yield daemon


@contextmanager
def named(daemon: Daemon, *variables: str) -> Iterator[Daemon]:
    """Let these variables name an engine meanwhile."""
    with pytest.MonkeyPatch.context() as environment:
        for variable in variables:
            environment.setenv(variable, daemon.url)
        yield daemon


def socket_in(folder: Path) -> str:
    """Name the socket of an engine in its folder, whose path is short."""
    return f"unix://{folder}/engine.sock"


def may_raise_limits() -> bool:
    """Return whether there is the capability that engines count on for privileged containers."""
    lines = Path("/proc/self/status").read_text().splitlines()
    bounds = next(int(line.split()[1], 16) for line in lines if line.startswith("CapBnd:"))
    return bool(bounds >> _CAP_SYS_RESOURCE & 1)


def require(programs: Mapping[str, str]) -> None:
    """Raise NoEngineError where an engine cannot be started: without its programs, or without root."""
    if os.getuid() != 0:
        raise NoEngineError("none answers, and only root may start one")
    try:
        need(programs)
    except NotInstalledError as e:
        raise NoEngineError(f"none answers: {e}") from e


def _remove_networks(url: str) -> None:
    """Remove the networks in which nothing runs: their bridges would outlive the engine."""
    subprocess.run(
        ["docker", "--host", url, "network", "prune", "--force"],
        capture_output=True, timeout=_PATIENCE, check=False,
    )  # fmt: skip


def _answers(endpoint: Endpoint) -> bool:
    try:
        asyncio.run(Engine(endpoint).check())
    except KwokctlError:
        return False
    return True
