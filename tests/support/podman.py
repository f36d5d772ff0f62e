"""A Podman of the tests' own: its service, and all that it keeps, in one folder."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.debian import PODMAN
from tests.support.engines import LEAN_RUNTIME, Daemon, may_raise_limits, require, socket_in
from tests.support.installed import processes_with, until

_PROCESSES = 16384
_STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{at}/data"
runroot = "{at}/run"
"""
_SETTINGS = """\
[engine]
runtime = "{runtime}"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = "{at}/tmp"
static_dir = "{at}/data/libpod"
volume_path = "{at}/data/volumes"
[engine.runtimes]
lean = ["{lean}"]
[network]
network_backend = "netavark"
network_config_dir = "{at}/networks"
default_subnet_pools = [{{ base = "10.214.0.0/16", size = 24 }}]
[containers]
default_ulimits = [{limits}]
"""


@contextmanager
def started() -> Iterator[Daemon]:
    """Yield a service of Podman's; with it ends all that it has started."""
    require(PODMAN)
    at = Path(tempfile.mkdtemp(prefix="kwokctl-podman-"))
    service = Daemon(
        at, ["podman", "system", "service", "--time=0", socket_in(at)], _environment(at)
    )
    try:
        service.start()
        yield service
    finally:
        _remove_containers(service)
        service.stop()
        _end_processes(at)
        _unmount(at)
        shutil.rmtree(at, ignore_errors=True)


def _environment(at: Path) -> dict[str, str]:
    """Write Podman's settings, and return what points to them, and to no other service."""
    can = may_raise_limits()
    storage, settings = at / "storage.conf", at / "containers.conf"
    storage.write_text(_STORAGE.format(at=at))
    settings.write_text(
        _SETTINGS.format(
            at=at,
            runtime="runc" if can else "lean",
            lean=LEAN_RUNTIME,
            limits="" if can else _limits(),
        )
    )
    return {"CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(settings)}


def _limits() -> str:
    """Return limits that are no higher than ours: Podman would choose others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return f'"nofile={soft}:{hard}", "nproc={_PROCESSES}:{_PROCESSES}"'


def _remove_containers(service: Daemon) -> None:
    # Not by way of the service, which may have ended.
    subprocess.run(
        ["podman", "rm", "--all", "--force", "--time=0"],
        env={k: v for k, v in service.environment.items() if k != "CONTAINER_HOST"},
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip


def _end_processes(at: Path) -> None:
    """End what looks after containers that are gone: it would wait for minutes."""

    def are_gone() -> bool:
        left = processes_with(str(at))
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    until("Podman's helpers end", are_gone)


def _unmount(at: Path) -> None:
    places = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    for place in reversed([place for place in places if place.startswith(f"{at}/")]):
        subprocess.run(["umount", place], capture_output=True, timeout=180, check=False)
