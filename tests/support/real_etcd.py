"""A real etcd of the store, alone: for tests and benchmarks of what speaks to it."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from kwokctl.errors import EtcdGoneError
from kwokctl.etcd.kv import maintenance
from kwokctl.etcd.kv.kv import Kv
from tests.support import store
from tests.support.ports import free_port

_PATIENCE = 90.0


async def program() -> str:
    """Return where etcd is. Raises ArtifactError when the store has none."""
    return await store.program("etcd", etcd_version(DEFAULT_KUBE_VERSION))


class RealEtcd:
    """One etcd with its data in a folder, whose path must be short: its sockets lie there.

    It listens at a unix socket and, with TLS if there are files for it, at a port.
    """

    def __init__(self, program: str, folder: Path, *extra: str, is_secure: bool = False) -> None:
        self.port = f"127.0.0.1:{free_port()}"
        self.target = f"unix:{folder / 'etcd.sock'}"
        url = f"{'https' if is_secure else 'http'}://{self.port}"
        self._command = [
            program,
            f"--data-dir={folder / 'data'}",
            f"--listen-client-urls=unix://{folder / 'etcd.sock'},{url}",
            f"--advertise-client-urls={url}",
            "--listen-peer-urls=unix://peer.sock",
            "--initial-advertise-peer-urls=http://localhost:2380",
            "--initial-cluster=default=http://localhost:2380",
            "--heartbeat-interval=20",
            "--election-timeout=100",
            "--unsafe-no-fsync",
            "--log-level=error",
            *extra,
        ]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        process = self._launch()
        async with asyncio.timeout(_PATIENCE), Kv(self.target) as kv:
            while process.poll() is None:
                try:
                    await maintenance.status(kv)
                except EtcdGoneError:
                    continue
                return
        raise AssertionError("etcd has exited")

    def _launch(self) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, cwd=self._folder, stdout=quiet, stderr=quiet
        )
        return self._process

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as its operator does."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Let it do nothing, as on a machine that has no time for it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @property
    def cpu_seconds(self) -> float:
        """What it has used so far."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _end(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_PATIENCE)
            self._process = None
