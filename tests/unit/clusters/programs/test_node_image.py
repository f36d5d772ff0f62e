"""Which image nodes are made of: what is given, what is here, what a registry has, one that is made."""

from pathlib import Path
from typing import Any

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION as KUBE
from kwokctl.clusters.programs.node_image import make_node_image, node_image, usual_node
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ArtifactError, UnavailableError
from kwokctl.host.paths import WorkDir
from tests.support.fake_images import FakeImages
from tests.support.fake_node_images import FakeNodeImages
from tests.support.listener import Listener
from tests.support.options import cluster_options

PUBLISHED = usual_node(cluster_options()).image
TAG = usual_node(cluster_options()).tag
MADE = f"made/node:{KUBE}-0"


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def home(tmp_path: Path, listener: Listener) -> Home:
    """A home whose store has what an image is made of."""
    home = Home(workdir=WorkDir(tmp_path / "w"), cache=tmp_path / "cache", progress=listener)
    store = store_of(home.cache, here())
    store.root.mkdir(parents=True)
    for name in FakeNodeImages().programs:
        program = store.root / "coming"
        program.write_bytes(b"#!/bin/sh\n")
        store.publish(program, name=name, version=KUBE, source="build", origin="a test")
    return home


async def taken(home: Home, images: FakeNodeImages, **options: Any) -> str:
    found = await node_image(home, images, cluster_options(**options), is_exact=False)
    return found.name


def images(*here: str, registry: tuple[str, ...] = (), can_make: bool = True) -> FakeNodeImages:
    engine = FakeImages(here=set(here), registry=set(registry))
    return FakeNodeImages(engine=engine, can_make=can_make)


async def test_the_published_image_is_pulled_and_its_version_reported(
    home: Home, listener: Listener
) -> None:
    assert await taken(home, images(registry=(PUBLISHED,))) == PUBLISHED
    assert "the node has Kubernetes v1.36.4" in listener.notes[0]


@pytest.mark.parametrize("name", [PUBLISHED, TAG, MADE])
@pytest.mark.parametrize("source", ["auto", "download", "build", "offline"])
async def test_what_is_here_is_taken(home: Home, name: str, source: str) -> None:
    there = images(name, registry=(PUBLISHED,))

    assert await taken(home, there, artifact_source=source) == name
    assert there.engine.pulled == []
    assert there.made_of == []


async def test_a_published_image_that_is_here_comes_before_one_that_was_made(home: Home) -> None:
    assert await taken(home, images(PUBLISHED, MADE)) == PUBLISHED


async def test_without_a_registry_an_image_is_made_and_that_is_reported(
    home: Home, listener: Listener
) -> None:
    there = images()

    assert await taken(home, there) == MADE
    assert listener.notes[-1] == f"'{PUBLISHED}' cannot be pulled: making one from programs instead"
    (programs,) = there.made_of
    assert sorted(programs) == ["kubeadm", "kubelet"]
    assert not list((home.cache / "tmp").iterdir())


async def test_where_none_can_be_made_the_error_says_what_is_missing(home: Home) -> None:
    with pytest.raises(ArtifactError, match="cannot be pulled") as caught:
        await taken(home, images(can_make=False))

    assert "only root can make it" in str(caught.value.hint)


async def test_with_download_none_is_made(home: Home) -> None:
    there = images()

    with pytest.raises(ArtifactError, match="cannot be pulled"):
        await taken(home, there, artifact_source="download")
    assert there.made_of == []


async def test_with_build_no_registry_is_queried(home: Home) -> None:
    there = images(registry=(PUBLISHED,))

    assert await taken(home, there, artifact_source="build") == MADE
    assert there.engine.pulled == []


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "neither the node image"), ("mine/node:v1.36.3", "'mine/node:v1.36.3' is not here")],
)
async def test_with_offline_nothing_is_pulled_or_made(home: Home, given: str, said: str) -> None:
    there = images(registry=(PUBLISHED, "mine/node:v1.36.3"))

    with pytest.raises(ArtifactError, match=said):
        await taken(home, there, artifact_source="offline", kind_node_image=given)
    assert there.engine.pulled == []
    assert there.made_of == []


async def test_nothing_takes_the_place_of_what_was_named(home: Home) -> None:
    there = images(PUBLISHED, MADE)

    with pytest.raises(ArtifactError, match="'mine/node:v1' cannot be pulled"):
        await taken(home, there, kind_node_image="mine/node:v1")


async def test_an_image_that_cannot_be_made_is_reported_before_programs_are_fetched(
    home: Home, tmp_path: Path
) -> None:
    bare = Home(workdir=home.workdir, cache=tmp_path / "empty")

    with pytest.raises(UnavailableError, match="only root"):
        await make_node_image(bare, images(can_make=False), cluster_options())
