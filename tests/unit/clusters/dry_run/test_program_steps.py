"""Where programs will be is known before they are there, and the script brings them there."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.clusters.dry_run.program_steps import Foreseen, foreseen, foreseen_programs
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ArtifactError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, Artifact
from kwokctl.script.posix_shell import line_of, written
from kwokctl.script.steps import Script
from tests.support.fake_images import FakeImages
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.release_site import ReleaseSite, release_site

PROGRAM = b"\x7fELF kubectl"
PULLED = "registry.k8s.io/etcd:3.6.16-0"


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with release_site() as site:
        yield site


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache = tmp_path / "cache" / "kwokctl"
    return Home(workdir=WorkDir(tmp_path / "kwok"), cache=cache)


def text(found: Foreseen) -> str:
    return "\n".join(map(line_of, found.steps))


def run(found: Foreseen) -> subprocess.CompletedProcess[str]:
    script = written(Script(command="test", steps=found.steps))
    return subprocess.run(
        ["sh"], input=script, capture_output=True, text=True, check=False, timeout=120
    )


needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
"""Scripts download with it."""


@needs_curl
def test_the_script_downloads_a_program_and_puts_it_into_the_store(
    home: Home, site: ReleaseSite
) -> None:
    site.publish("/kubectl", PROGRAM)
    options = cluster_options(kube_binary_prefix=site.address)
    found = foreseen_programs(home, options, ["kubectl"])
    program = Path(found.artifacts["kubectl"].command[0])
    assert not home.cache.exists()

    done = run(found)
    assert done.returncode == 0, done.stderr
    assert program.read_bytes() == PROGRAM
    (entry,) = store_of(home.cache, here()).entries()
    assert entry.path == program
    assert entry.origin == f"{site.address}/kubectl"
    assert foreseen_programs(home, options, ["kubectl"]).steps == ()


@needs_curl
def test_a_download_with_another_checksum_ends_the_script(home: Home, site: ReleaseSite) -> None:
    site.publish("/kubectl", PROGRAM)
    site.files["/kubectl"] = b"\x7fELF other"
    options = cluster_options(kube_binary_prefix=site.address)

    assert run(foreseen_programs(home, options, ["kubectl"])).returncode == 1
    assert not home.cache.exists()


@needs_curl
def test_a_download_is_compared_with_the_checksum_that_its_user_gives(
    home: Home, site: ReleaseSite
) -> None:
    site.publish("/kubectl", PROGRAM)
    pin = "@sha256:" + "0" * 64
    options = cluster_options(kubectl_binary=f"{site.address}/kubectl{pin}")

    assert run(foreseen_programs(home, options, ["kubectl"])).returncode == 1
    assert not home.cache.exists()


def test_programs_of_one_archive_are_downloaded_once(home: Home) -> None:
    found = foreseen_programs(home, cluster_options(), ["etcd", "etcdctl", "kubectl"])

    assert text(found).count("fetch ") == 2
    assert text(found).count("plumbing store") == 3


def test_what_is_built_is_built_by_kwokctl(home: Home) -> None:
    options = cluster_options(artifact_source="build")

    assert "artifacts build --kube-version" in text(foreseen_programs(home, options, ["etcd"]))


def test_what_may_not_be_fetched_is_an_error(home: Home) -> None:
    with pytest.raises(ArtifactError, match="not in the store"):
        foreseen_programs(home, cluster_options(artifact_source="offline"), ["etcd"])


def test_a_program_that_was_given_is_where_it_is(home: Home) -> None:
    found = foreseen_programs(home, cluster_options(etcd_binary="/bin/true"), ["etcd"])

    assert found.artifacts["etcd"].command == ("/bin/true",)
    assert found.steps == ()


class WithImages(FakeRuntime):
    """A runtime that starts images."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.images = FakeImages(here=set(names))


async def test_an_image_of_the_engine_comes_first(home: Home) -> None:
    found = await foreseen(home, WithImages(PULLED), cluster_options(), [ETCD])

    assert found.artifacts[ETCD].image == PULLED


async def test_what_is_nowhere_is_pulled_as_an_image(home: Home) -> None:
    found = await foreseen(home, WithImages(), cluster_options(), [ETCD])

    assert found.artifacts[ETCD].image == PULLED
    assert f"docker pull {PULLED}" in text(found)


async def test_the_image_that_a_cluster_was_made_with_is_kept(home: Home) -> None:
    before = Artifact(name=ETCD, version="3", image="mine:1")
    found = await foreseen(home, WithImages("mine:1"), cluster_options(), [ETCD], {ETCD: before})

    assert found.artifacts[ETCD] == before
