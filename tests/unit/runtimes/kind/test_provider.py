import os

import pytest

from kwokctl.errors import UnavailableError
from runtimes.kind.provider import docker, podman


def test_docker_is_found_as_its_command_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///somewhere/docker.sock")

    found = docker()

    assert found.engine.endpoint.url == "unix:///somewhere/docker.sock"
    assert found.environment == {"KIND_EXPERIMENTAL_PROVIDER": "docker"}


@pytest.mark.parametrize(
    ("user", "url"),
    [
        (0, "unix:///run/podman/podman.sock"),
        (1000, "unix:///run/user/1000/podman/podman.sock"),
    ],
)
def test_podman_is_found_where_its_service_listens(
    monkeypatch: pytest.MonkeyPatch, user: int, url: str
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/1000")
    monkeypatch.delenv("CONTAINER_HOST", raising=False)

    assert podman().engine.endpoint.url == url
    assert podman().environment == {"KIND_EXPERIMENTAL_PROVIDER": "podman", "CONTAINER_HOST": url}


def test_another_service_of_podman_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTAINER_HOST", "unix:///somewhere/podman.sock")

    assert podman().engine.endpoint.url == "unix:///somewhere/podman.sock"
    assert podman().environment["CONTAINER_HOST"] == "unix:///somewhere/podman.sock"


def test_people_call_kind_with_the_provider_that_it_would_not_take_by_itself() -> None:
    assert podman().called == "KIND_EXPERIMENTAL_PROVIDER=podman kind"
    assert docker().called == "kind"


async def test_a_podman_service_that_does_not_run_has_its_own_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CONTAINER_HOST", "unix:///nobody/podman.sock")

    with pytest.raises(UnavailableError, match="no container engine answers") as caught:
        await podman().engine.check()

    assert "podman.socket" in str(caught.value.hint)
