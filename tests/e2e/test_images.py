"""Where the images of a cluster in containers come from."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION
from kwokctl.host.paths import cache_dir
from tests.support.installed import Installed
from tests.support.registry import Registry, registry

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.docker,
    pytest.mark.story,
    pytest.mark.timeout(600, func_only=True),
]

CREATE = ("create", "cluster", "--runtime", "docker")
NOBODY = "127.0.0.1:1"
"""Where no registry answers."""


@pytest.fixture(scope="module")
def main(engine: str, installed: Installed) -> Iterator[Installed]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", engine)
        yield installed.called("images")


@pytest.fixture(scope="module")
def programs_by_name() -> dict[str, Path]:
    entries = store_of(cache_dir(), here()).entries()
    found = {e.name: e.path for e in entries if e.version in {DEFAULT_KUBE_VERSION, "3.6.16"}}
    return {name: path for name, path in found.items() if name == "etcd" or name in KUBERNETES}


KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def docker(*words: str) -> list[str]:
    done = subprocess.run(
        ["docker", *words], capture_output=True, text=True, timeout=180, check=True
    )
    return done.stdout.split()


def mirrors(host: str) -> dict[str, str]:
    return {"KWOK_KUBE_IMAGE_PREFIX": f"{host}/kube", "KWOK_ETCD_IMAGE_PREFIX": host}


def leftovers(name: str) -> list[str]:
    return docker("ps", "--all", "--quiet", "--filter", f"label=io.kwokctl.cluster={name}") + [
        network for network in docker("network", "ls", "--format", "{{.Name}}") if name in network
    ]


def test_images_are_pulled_from_the_registry_that_is_named_and_kept(
    main: Installed, programs_by_name: dict[str, Path]
) -> None:
    with registry() as mirror:
        _publish_all(mirror, programs_by_name)
        done = main.run(*CREATE, "--wait=180s", timeout=300, **mirrors(mirror.host))
        assert done.code == 0, done.err
        assert f"Pulling etcd, {', '.join(KUBERNETES)} from {mirror.host}" in done.err
        images = docker(
            "ps", "--format", "{{.Image}}", "--filter", "label=io.kwokctl.cluster=images"
        )

    assert sorted(images) == sorted(
        [f"{mirror.host}/etcd:3.6.16-0"]
        + [f"{mirror.host}/kube/{name}:{DEFAULT_KUBE_VERSION}" for name in KUBERNETES]
    )


def _publish_all(mirror: Registry, programs_by_name: dict[str, Path]) -> None:
    for name, program in programs_by_name.items():
        if name == "etcd":
            mirror.publish("etcd", "3.6.16-0", program)
        else:
            mirror.publish(f"kube/{name}", DEFAULT_KUBE_VERSION, program)


def test_a_cluster_starts_again_without_its_registry(main: Installed) -> None:
    main.ok("stop", "cluster")
    main.ok("start", "cluster", "--wait", "180s")

    assert {one["status"] for one in main.components().values()} == {"Ready"}
    main.ok("delete", "cluster")


@pytest.mark.parametrize(
    ("words", "settings"),
    [((), mirrors(NOBODY)), (("--etcd-image", f"{NOBODY}/etcd:v9"), {})],
    ids=["registry", "image"],
)
def test_an_image_that_was_named_and_is_not_available_is_an_error_and_nothing_is_left(
    main: Installed, words: tuple[str, ...], settings: dict[str, str]
) -> None:
    said = main.refused(*CREATE, *words, timeout=120, **settings)

    assert f"cannot be pulled from '{NOBODY}': connection refused" in said
    assert "KWOK_KUBE_IMAGE_PREFIX" in said
    assert "images" not in main.ok("get", "clusters").split()
    assert leftovers("kwok-images") == []


def test_create_reports_an_image_for_another_architecture_that_cannot_run(
    main: Installed, programs_by_name: dict[str, Path]
) -> None:
    with registry() as mirror:
        foreign = main.folder / "kube-scheduler"
        foreign.write_bytes(_of_another_machine(programs_by_name["kube-scheduler"]))
        image = mirror.publish("foreign", "v1", foreign, architecture=_other())
        said = main.refused(
            *CREATE, "--artifact-source=build", "--wait=180s", f"--kube-scheduler-image={image}"
        )
        foreign.unlink()

    assert f"its image is for {_other()}" in said
    assert leftovers("kwok-images") == []


def _other() -> str:
    return "arm64" if here().arch == "amd64" else "amd64"


def _of_another_machine(program: Path) -> bytes:
    """Return the program with the mark of another processor (e_machine of its ELF header)."""
    content = bytearray(program.read_bytes()[:4096])
    content[18:20] = (183 if _other() == "arm64" else 62).to_bytes(2, "little")
    return bytes(content)


def test_images_are_carried_to_a_machine_without_network_in_a_file(main: Installed) -> None:
    file = main.folder / "images.tar"
    made = main.ok("artifacts", "images", "--build", "--save", str(file)).split()
    assert len(made) == 4
    docker("rmi", "--force", *made)

    assert sorted(main.ok("artifacts", "images", "--load", str(file)).split()) == sorted(made)

    file.unlink()
    # Without a store there is nothing to make them from.
    listed = main.run(
        "artifacts",
        "images",
        KWOK_ARTIFACT_SOURCE="offline",
        XDG_CACHE_HOME=str(main.folder / "none"),
    )
    assert sorted(listed.out.split()) == sorted(made), listed.err


def test_a_node_image_is_pulled_by_its_digest_and_carried_in_a_file(main: Installed) -> None:
    version, file = main.folder / "version", main.folder / "node.tar"
    version.write_text(f"{DEFAULT_KUBE_VERSION}\n")
    words = ("artifacts", "images", "--runtime", "kind")
    with registry() as mirror:
        tagged = mirror.publish("node", DEFAULT_KUBE_VERSION, version, folder="kind")
        pinned = f"{tagged}@{mirror.digest('node', DEFAULT_KUBE_VERSION)}"
        done = main.run(*words, "--pull", "--save", str(file), KWOK_KIND_NODE_IMAGE=pinned)
        assert done.code == 0, done.err
    docker("rmi", "--force", tagged, pinned)

    assert main.ok(*words, "--load", str(file)).split() == [tagged]

    found = main.run(*words, KWOK_KIND_NODE_IMAGE=tagged, KWOK_ARTIFACT_SOURCE="offline")
    assert found.out.split() == [tagged], found.err
    version.unlink()
    file.unlink()


def test_images_that_a_cluster_would_pull_can_be_listed_in_advance(main: Installed) -> None:
    listed = main.ok("get", "artifacts", "--runtime", "docker").split()

    assert f"registry.k8s.io/kube-apiserver:{DEFAULT_KUBE_VERSION}" in listed
    assert any("kubectl" in one for one in listed)
    assert not any("://" in one and "kube-apiserver" in one for one in listed)
    assert json.dumps(listed)
