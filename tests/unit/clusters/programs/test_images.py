"""Which form of a component is taken: what is given, what is here, what a registry has, a program."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.clusters.programs.images import artifacts, published_files, published_images
from kwokctl.clusters.programs.node_image import usual_node
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ArtifactError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KUBE_SCHEDULER, Artifact
from kwokctl.progress import Silent, Step
from kwokctl.replacing import replace
from tests.support.fake_images import FakeImages
from tests.support.fake_runtime import BringingRuntime, FakeEngineRuntime, FakeRuntime
from tests.support.options import cluster_options

NAMES = (ETCD, KUBE_SCHEDULER)
ETCD_IMAGE = "registry.k8s.io/etcd:3.6.16-0"
SCHEDULER_IMAGE = f"registry.k8s.io/kube-scheduler:{DEFAULT_KUBE_VERSION}"
BOTH = {ETCD_IMAGE, SCHEDULER_IMAGE}
VERSIONS = {ETCD: "3.6.16", KUBE_SCHEDULER: DEFAULT_KUBE_VERSION}


@dataclass
class RecordedSteps(Silent):
    """Keeps the lines that a user reads, and the steps."""

    lines: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.lines.append(text)

    warn = note

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        self.steps.append(title)
        with super().step(title) as step:
            yield step


@pytest.fixture
def progress() -> RecordedSteps:
    return RecordedSteps()


@pytest.fixture
def home(tmp_path: Path, progress: RecordedSteps) -> Home:
    """A home whose store has both programs."""
    home = Home(workdir=WorkDir(tmp_path / "w"), cache=tmp_path / "cache", progress=progress)
    store = store_of(home.cache, here())
    store.root.mkdir(parents=True)
    for name, version in VERSIONS.items():
        program = store.root / f"coming-{name}"
        program.write_bytes(b"#!/bin/sh\n")
        store.publish(program, name=name, version=version, source="build", origin="a test")
    return home


async def taken(
    home: Home, images: FakeImages, settled: Mapping[Any, Artifact] | None = None, **options: Any
) -> dict[str, str]:
    """Return what each component comes as: an image, or `program`."""
    found = await artifacts(
        home, FakeEngineRuntime(images=images), cluster_options(**options), NAMES, settled
    )
    return {name: artifact.image or "program" for name, artifact in found.items()}


PULLED = {ETCD: ETCD_IMAGE, KUBE_SCHEDULER: SCHEDULER_IMAGE}
PROGRAMS = dict.fromkeys(NAMES, "program")


async def test_published_images_are_pulled(home: Home, progress: RecordedSteps) -> None:
    images = FakeImages(registry=BOTH)

    assert await taken(home, images) == PULLED
    assert progress.steps == ["Pulling etcd, kube-scheduler from registry.k8s.io"]
    assert progress.lines == []


async def test_what_is_here_is_not_pulled(home: Home) -> None:
    images = FakeImages(here=BOTH)

    assert await taken(home, images) == PULLED
    assert images.pulled == []


async def test_without_a_registry_local_programs_are_used_and_one_line_reports_it(
    home: Home, progress: RecordedSteps
) -> None:
    assert await taken(home, FakeImages()) == PROGRAMS
    (line,) = progress.lines
    assert line == f"'{ETCD_IMAGE}' cannot be pulled (and 1 other); made from programs instead"


async def test_only_what_the_registry_lacks_is_made_from_its_program(home: Home) -> None:
    images = FakeImages(registry={SCHEDULER_IMAGE})

    assert await taken(home, images) == {ETCD: "program", KUBE_SCHEDULER: SCHEDULER_IMAGE}


async def test_an_image_made_of_local_programs_is_used_before_a_registry_is_queried(
    home: Home,
) -> None:
    images = FakeImages(registry=BOTH)
    for name, version in VERSIONS.items():
        path = store_of(home.cache, here()).root / name / version / name
        await images.make(Artifact(name=name, version=version, command=(str(path),)))

    assert await taken(home, images) == PROGRAMS
    assert images.pulled == []


async def test_images_that_were_made_elsewhere_serve_without_a_store(
    home: Home, tmp_path: Path
) -> None:
    made = {"made/etcd:3.6.16-0a", f"made/kube-scheduler:{DEFAULT_KUBE_VERSION}-0b"}
    bare = replace(home, cache=tmp_path / "empty")

    found = await taken(bare, FakeImages(here=made), artifact_source="offline")

    assert set(found.values()) == made


@pytest.mark.parametrize("source", ["build", "offline"])
async def test_a_registry_is_queried_only_if_that_is_allowed(home: Home, source: str) -> None:
    images = FakeImages(registry=BOTH)

    assert await taken(home, images, artifact_source=source) == PROGRAMS
    assert images.pulled == []


async def test_with_download_nothing_takes_the_place_of_the_registry(home: Home) -> None:
    with pytest.raises(ArtifactError, match="cannot be pulled"):
        await taken(home, FakeImages(), artifact_source="download")


@pytest.mark.parametrize(
    "options", [{"etcd_image": "mine/etcd:v9"}, {"etcd_image_prefix": "mine.example"}]
)
async def test_nothing_takes_the_place_of_what_was_named(
    home: Home, options: dict[str, Any]
) -> None:
    with pytest.raises(ArtifactError, match=r"'mine.*etcd.*' cannot be pulled"):
        await taken(home, FakeImages(registry=BOTH), **options)


async def test_an_image_that_must_be_local_and_is_missing_is_an_error(home: Home) -> None:
    with pytest.raises(ArtifactError, match="does not have the image 'mine/etcd:v9'"):
        await taken(home, FakeImages(), etcd_image="mine/etcd:v9", artifact_source="offline")


async def test_a_program_that_was_given_is_not_pulled(home: Home) -> None:
    images = FakeImages(registry=BOTH)

    found = await taken(home, images, etcd_binary="/bin/true")

    assert found == {ETCD: "program", KUBE_SCHEDULER: SCHEDULER_IMAGE}


async def test_a_cluster_keeps_the_form_that_it_was_made_with(home: Home) -> None:
    images = FakeImages(here={"old/etcd:v1"}, registry=BOTH)
    settled = {
        ETCD: Artifact(name=ETCD, version="3.6.16", image="old/etcd:v1"),
        KUBE_SCHEDULER: Artifact(name=KUBE_SCHEDULER, version="v1", command=("/bin/true",)),
    }

    assert await taken(home, images, settled) == {ETCD: "old/etcd:v1", KUBE_SCHEDULER: "program"}
    assert images.pulled == []


async def test_what_a_cluster_was_made_with_is_pulled_again_when_it_is_gone(home: Home) -> None:
    settled = {ETCD: Artifact(name=ETCD, version="3.6.16", image=ETCD_IMAGE)}

    assert await taken(home, FakeImages(registry=BOTH), settled) == PULLED


async def test_no_progress_is_shown_when_none_is_wanted(
    home: Home, progress: RecordedSteps
) -> None:
    options = cluster_options(quiet_pull=True)
    runtime = FakeEngineRuntime(images=FakeImages(registry=BOTH))

    await artifacts(home, runtime, options, NAMES)

    assert progress.steps == []


async def test_a_runtime_of_programs_says_that_it_does_not_use_an_image(
    home: Home, progress: RecordedSteps
) -> None:
    found = await artifacts(home, FakeRuntime(), cluster_options(etcd_image="mine/etcd"), NAMES)

    assert all(artifact.command for artifact in found.values())
    assert progress.lines == [
        "the runtime 'fake' runs programs: the images given for etcd are not used"
    ]


def test_what_is_published_is_listed_in_the_form_that_the_runtime_takes() -> None:
    options, names = cluster_options(), (*NAMES, "kubectl")

    in_containers = FakeEngineRuntime()
    assert published_images(in_containers, options, names) == sorted(BOTH)
    (file,) = published_files(in_containers, options, names)
    assert file.endswith("/kubectl")
    assert published_images(FakeRuntime(), options, names) == []
    assert len(published_files(FakeRuntime(), options, names)) == 3


def test_a_runtime_that_brings_components_needs_its_maker_and_the_image_of_its_nodes(
    tmp_path: Path,
) -> None:
    options, names = cluster_options(), (*NAMES, "kubectl")

    kubectl, maker = sorted(published_files(BringingRuntime(), options, names))
    assert kubectl.endswith("/kubectl")
    assert "/kind-" in maker
    (image,) = published_images(BringingRuntime(), options, names)
    assert image == usual_node(options).image
    (image,) = published_images(BringingRuntime(), options, names, is_exact=True)
    assert image.endswith(f"/node:{DEFAULT_KUBE_VERSION}")

    file = tmp_path / "node.tar"
    file.touch()
    assert (
        published_images(BringingRuntime(), cluster_options(kind_node_image=str(file)), names) == []
    )
