""""""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.programs import PROGRAMS
from kwokctl.artifacts.resolve_programs import ArtifactSource, WantedProgram, resolve, store_of
from kwokctl.artifacts.store_maintenance import wanted
from kwokctl.errors import ArtifactError
from kwokctl.model import Artifact
from kwokctl.progress import Progress
from tests.support import fake_go
from tests.support.eventually import eventually
from tests.support.listener import Listener
from tests.support.release_site import ReleaseSite, release_site

_KUBE = "v1.36.3"
_ETCD = "3.6.16"
_SCHEDULER = WantedProgram(name="kube-scheduler", version=_KUBE)
_KUBECTL = WantedProgram(name="kubectl", version=_KUBE)
_ALL = wanted(_KUBE)
_GO_MOD = "module m\n\ngo 1.26.0\n\nrequire k8s.io/api v0.0.0\n"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go on PATH that can build everything."""
    folder = fake_go.install_go(tmp_path / "go")
    for program in (PROGRAMS[one.name] for one in _ALL):
        version = f"v{_ETCD}" if program.group.name == "etcd" else _KUBE
        fake_go.publish_module(folder, program.module, version, _GO_MOD)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def no_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every download host is behind a proxy that is not there."""
    with release_site() as gone:
        monkeypatch.setenv("HTTPS_PROXY", gone.address)
    monkeypatch.setenv("NO_PROXY", "")


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with release_site() as site:
        yield site


async def _resolve(
    wanted: Sequence[WantedProgram],
    cache: Path,
    listener: Progress,
    source: ArtifactSource = ArtifactSource.BUILD,
) -> dict[str, Artifact]:
    return await resolve(wanted, source=source, cache=cache, progress=listener)


def _builds(go: Path) -> list[str]:
    return [call for call in fake_go.calls(go) if call.startswith("build ")]


async def test_a_program_that_cannot_be_downloaded_is_built_and_one_line_gives_the_reason(
    cache: Path, listener: Listener, go: Path, no_way_out: None
) -> None:
    found = await _resolve(_ALL, cache, listener, ArtifactSource.AUTO)

    (note,) = listener.notes
    assert note.startswith("github.com and dl.k8s.io cannot be reached through the proxy (conn")
    assert note.endswith("refused): building from Go modules instead")
    assert list(found) == [one.name for one in _ALL]
    for one in _ALL:
        (command,) = found[one.name].command
        assert Path(command).is_absolute()
        assert Path(command).is_file()
        assert found[one.name].version == one.version


async def test_all_programs_of_a_release_are_built_at_once(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _resolve(_ALL, cache, listener)

    kubernetes, etcd = sorted(_builds(go), reverse=True, key=len)
    assert "-trimpath -ldflags -s -w -X k8s.io/component-base/" in kubernetes
    assert "-trimpath -ldflags -s -w -o " in etcd
    assert not list((cache / "tmp").iterdir())


async def test_a_program_in_the_store_needs_no_request(
    cache: Path, listener: Listener, go: Path
) -> None:
    first = await _resolve(_ALL, cache, listener)
    asked = len(fake_go.calls(go))

    assert await _resolve(_ALL, cache, Listener(), ArtifactSource.AUTO) == first
    assert await _resolve(_ALL, cache, Listener(), ArtifactSource.OFFLINE) == first
    assert len(fake_go.calls(go)) == asked


async def test_only_what_is_missing_is_built(cache: Path, listener: Listener, go: Path) -> None:
    await _resolve([_SCHEDULER], cache, listener)
    await _resolve([_SCHEDULER, _KUBECTL], cache, listener)

    *_, last = fake_go.calls(go)
    assert last.endswith("out/ k8s.io/kubernetes/cmd/kubectl")


async def test_offline_names_what_is_missing_and_gives_a_hint(
    cache: Path, listener: Listener
) -> None:
    with pytest.raises(
        ArtifactError, match=r"kube-scheduler, kubectl v1.36.3 are not in"
    ) as caught:
        await _resolve([_SCHEDULER, _KUBECTL], cache, listener, ArtifactSource.OFFLINE)

    assert "artifacts build" in str(caught.value.hint)
    assert not cache.exists()


async def test_download_alone_does_not_build(
    cache: Path, listener: Listener, go: Path, no_way_out: None
) -> None:
    with pytest.raises(ArtifactError, match=r"kubectl v1.36.3 cannot be downloaded: dl.k8s.io"):
        await _resolve([_KUBECTL], cache, listener, ArtifactSource.DOWNLOAD)

    assert fake_go.calls(go) == []


async def test_a_given_path_needs_no_source(
    cache: Path, listener: Listener, tmp_path: Path
) -> None:
    program = tmp_path / "my-kubectl"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    wanted = WantedProgram(name="kubectl", version=_KUBE, explicit=str(program))

    found = await _resolve([wanted], cache, listener, ArtifactSource.OFFLINE)

    assert found["kubectl"].command == (str(program),)


async def test_a_given_address_is_downloaded_whatever_the_source_is(
    cache: Path, listener: Listener, site: ReleaseSite
) -> None:
    url = site.publish("/mine", b"#!/bin/sh\n")
    wanted = WantedProgram(name="kubectl", version=_KUBE, explicit=url)

    found = await _resolve([wanted], cache, listener, ArtifactSource.BUILD)
    again = await _resolve([wanted], cache, listener, ArtifactSource.OFFLINE)

    assert found == again
    assert len(site.asked("/mine")) == 1
    assert Path(found["kubectl"].command[0]).read_bytes() == b"#!/bin/sh\n"


async def test_a_given_address_that_gives_nothing_is_never_replaced_by_a_build(
    cache: Path, listener: Listener, site: ReleaseSite, go: Path
) -> None:
    wanted = WantedProgram(name="kubectl", version=_KUBE, explicit=f"{site.address}/mine")

    with pytest.raises(ArtifactError, match="has no 'mine'"):
        await _resolve([wanted], cache, listener, ArtifactSource.AUTO)

    assert fake_go.calls(go) == []


async def test_a_prefix_serves_a_whole_group(
    cache: Path, listener: Listener, site: ReleaseSite
) -> None:
    site.publish("/k8s/kubectl", b"#!/bin/sh\n1")
    site.publish("/k8s/kube-scheduler", b"#!/bin/sh\n2")

    found = await resolve(
        [_KUBECTL, _SCHEDULER],
        source=ArtifactSource.DOWNLOAD,
        cache=cache,
        progress=listener,
        prefixes={"kubernetes": f"{site.address}/k8s", "etcd": ""},
    )

    assert Path(found["kube-scheduler"].command[0]).read_bytes() == b"#!/bin/sh\n2"


async def test_two_at_once_share_one_build(cache: Path, listener: Listener, go: Path) -> None:
    (go / "hold").touch()
    second = Listener()
    async with asyncio.TaskGroup() as tasks:
        building = tasks.create_task(_resolve([_SCHEDULER, _KUBECTL], cache, listener))
        await eventually(lambda: _builds(go))
        waiting = tasks.create_task(_resolve([_SCHEDULER], cache, second))
        await eventually(lambda: second.steps)
        (go / "hold").unlink()

    (step,) = second.steps
    assert step.title.endswith("is building kube-scheduler, kubectl v1.36.3; waiting")
    assert waiting.result()["kube-scheduler"] == building.result()["kube-scheduler"]
    assert len(_builds(go)) == 1


async def test_a_cancelled_build_leaves_nothing(cache: Path, listener: Listener, go: Path) -> None:
    (go / "hold").touch()
    async with asyncio.TaskGroup() as tasks:
        building = tasks.create_task(_resolve([_SCHEDULER], cache, listener))
        await eventually(lambda: _builds(go))
        building.cancel()

    assert not list((cache / "tmp").glob("*/build"))
    assert not list(store_of(cache, here()).entries())


async def test_a_cache_that_cannot_be_written_is_an_artifact_error(
    tmp_path: Path, listener: Listener
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ArtifactError, match="cannot be used") as caught:
        await _resolve([_KUBECTL], tmp_path / "file", listener)

    assert "XDG_CACHE_HOME" in str(caught.value.hint)


async def test_a_full_store_needs_no_client_and_no_compiler(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _resolve([_KUBECTL], cache, listener)
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from kwokctl.artifacts.resolve_programs import ArtifactSource, WantedProgram, resolve\n"
        "from kwokctl.progress import Silent\n"
        f"wanted = [WantedProgram(name='kubectl', version='{_KUBE}')]\n"
        f"path = Path({str(cache)!r})\n"
        "asyncio.run(resolve(wanted, source=ArtifactSource.AUTO, cache=path, progress=Silent()))\n"
        "print({'requests', 'urllib3', 'tarfile', 'kwokctl.artifacts.builds.build'} & set(sys.modules))\n"
    )

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()

    assert out == b"set()\n"
