""""""

import sys
from pathlib import Path

import pytest

from kwokctl.errors import ArtifactError, CommandError, ComponentError
from kwokctl.model import Artifact
from runtimes.engine.endpoint import Endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.engine_images import EngineImages, named
from tests.support.fake_engine import FakeEngine


@pytest.fixture
def images(fake: FakeEngine) -> EngineImages:
    return EngineImages(Engine(Endpoint(url=fake.url)))


@pytest.fixture
def etcd(folder: Path) -> Artifact:
    program = folder / "etcd"
    program.write_bytes(Path(sys.executable).read_bytes()[:64])  # a program for this machine
    program.chmod(0o755)
    return Artifact(name="etcd", version="3.6.16+own", command=(str(program),))


async def test_an_image_is_there_or_not(fake: FakeEngine, images: EngineImages) -> None:
    fake.answers["GET /images/localhost/kwokctl/etcd:v3/json"] = (200, {"Id": "1"})

    assert await images.has("localhost/kwokctl/etcd:v3")
    assert not await images.has("localhost/kwokctl/etcd:v4")


@pytest.mark.parametrize(
    ("status", "said", "cause"),
    [
        (404, "manifest for x not found: manifest unknown: manifest unknown", "manifest unknown"),
        (500, 'Get "https://h/v2/": dial tcp: lookup h: no such host', "no such host"),
    ],
)
async def test_a_refused_image_is_reported_with_its_registry_and_a_hint(
    fake: FakeEngine, images: EngineImages, status: int, said: str, cause: str
) -> None:
    fake.answers["POST /images/create"] = (status, {"message": said})

    with pytest.raises(ArtifactError, match=f"from 'h:5000': {cause}") as caught:
        await images.pull("h:5000/etcd:v3", came=lambda _: None)

    assert "KWOK_KUBE_IMAGE_PREFIX" in str(caught.value.hint)


async def test_a_pull_that_fails_on_its_way_is_an_error(
    fake: FakeEngine, images: EngineImages
) -> None:
    fake.answers["POST /images/create"] = (200, {"error": "unexpected EOF"})

    with pytest.raises(ArtifactError, match="unexpected EOF"):
        await images.pull("h:5000/etcd:v3", came=lambda _: None)


async def test_bytes_are_counted_once(fake: FakeEngine, images: EngineImages) -> None:
    line = {"status": "Downloading", "id": "l", "progressDetail": {"current": 7, "total": 9}}
    fake.answers["POST /images/create"] = (200, line)
    heard: list[int] = []

    await images.pull("h:5000/etcd@sha256:00", came=heard.append)

    assert sum(heard) == 7


async def test_an_image_is_found_by_version_where_there_is_no_program(
    fake: FakeEngine, images: EngineImages
) -> None:
    tags = ["localhost/kwokctl/etcd:3.6.1-0a", "localhost/kwokctl/etcd:3.6.16_own-0b"]
    fake.answers["GET /images/json"] = (200, [{"RepoTags": None}, {"RepoTags": tags}])

    assert await images.made(Artifact(name="etcd", version="3.6.16+own")) == tags[1]
    assert await images.made(Artifact(name="etcd", version="3.6.17")) is None


def test_the_image_of_a_program_without_a_version_has_a_tag() -> None:
    assert named(Artifact(name="web", version=""), "0a" * 32).startswith(
        "localhost/kwokctl/web:unversioned-0a0a"
    )


async def test_an_image_is_made_once(
    fake: FakeEngine, images: EngineImages, etcd: Artifact
) -> None:
    fake.answers["POST /images/create"] = (200, {"status": "sha256:1"})
    name = await images.make(etcd)
    assert name.startswith("localhost/kwokctl/etcd:3.6.16_own-")

    fake.answers[f"GET /images/{name}/json"] = (200, {"Id": "1"})
    assert await images.make(etcd) == await images.made(etcd) == name
    assert fake.asked.count("POST /images/create") == 1


async def test_an_image_that_cannot_be_made_is_an_error(
    fake: FakeEngine, images: EngineImages, etcd: Artifact
) -> None:
    fake.answers["POST /images/create"] = (200, {"error": "no space left on device"})

    with pytest.raises(CommandError, match=r"'localhost/kwokctl/etcd:.*' cannot be made") as caught:
        await images.make(etcd)

    assert "no space left" in str(caught.value.detail)
    assert "room" in str(caught.value.hint)


async def test_a_program_that_is_gone_is_named(images: EngineImages) -> None:
    with pytest.raises(ComponentError, match="/nowhere/etcd is not there"):
        await images.make(Artifact(name="etcd", version="v3", command=("/nowhere/etcd",)))


@pytest.mark.parametrize(
    "said",
    [
        "Loaded image: a:1\nLoaded image: b:2\nLoaded image ID: sha256:3",
        "Loaded image: a:1,b:2,sha256:3",
    ],
)
async def test_a_file_of_images_is_loaded_by_docker_and_by_podman(
    fake: FakeEngine, images: EngineImages, folder: Path, said: str
) -> None:
    (folder / "images.tar").write_bytes(b"")
    fake.answers["POST /images/load"] = (200, {"stream": f"{said}\n"})

    assert await images.load(folder / "images.tar") == ["a:1", "b:2", "sha256:3"]
