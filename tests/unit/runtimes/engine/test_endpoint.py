import hashlib
import json
import sys
from pathlib import Path

import pytest

from kwokctl.errors import ConfigError
from runtimes.engine.endpoint import Endpoint, find_endpoint


def context(home: Path, name: str, host: str, *, certificates: bool = False) -> None:
    digest = hashlib.sha256(name.encode()).hexdigest()
    folder = home / ".docker" / "contexts"
    meta = folder / "meta" / digest / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"Name": name, "Endpoints": {"docker": {"Host": host}}}))
    if certificates:
        (folder / "tls" / digest / "docker").mkdir(parents=True)


def current(home: Path, name: str) -> None:
    (home / ".docker").mkdir(exist_ok=True)
    (home / ".docker" / "config.json").write_text(json.dumps({"currentContext": name}))


def test_by_default_the_usual_socket_is_dialled(tmp_path: Path) -> None:
    assert find_endpoint({}, tmp_path) == Endpoint(url="unix:///var/run/docker.sock")


def test_docker_host_comes_before_every_context(tmp_path: Path) -> None:
    context(tmp_path, "mine", "unix:///mine.sock")
    environ = {"DOCKER_HOST": "unix:///named.sock", "DOCKER_CONTEXT": "mine"}

    assert find_endpoint(environ, tmp_path).url == "unix:///named.sock"


def test_the_context_of_the_environment_comes_before_the_current_one(tmp_path: Path) -> None:
    context(tmp_path, "mine", "unix:///mine.sock")
    context(tmp_path, "other", "unix:///other.sock")
    current(tmp_path, "other")

    assert find_endpoint({}, tmp_path).url == "unix:///other.sock"
    assert find_endpoint({"DOCKER_CONTEXT": "mine"}, tmp_path).url == "unix:///mine.sock"
    assert find_endpoint({"DOCKER_CONTEXT": "default"}, tmp_path).url.endswith("/docker.sock")


def test_a_context_brings_its_certificates(tmp_path: Path) -> None:
    context(tmp_path, "far", "tcp://127.0.0.1:2376", certificates=True)

    found = find_endpoint({"DOCKER_CONTEXT": "far"}, tmp_path)

    assert found.certificates
    assert found.certificates.is_dir()
    assert found.verify


def test_tls_is_spoken_where_the_environment_says_so(tmp_path: Path) -> None:
    host = {"DOCKER_HOST": "tcp://127.0.0.1:2376"}

    assert find_endpoint(host, tmp_path).certificates is None
    verified = find_endpoint({**host, "DOCKER_TLS_VERIFY": "1"}, tmp_path)
    assert verified.certificates == tmp_path / ".docker"
    assert verified.verify
    named = find_endpoint({**host, "DOCKER_CERT_PATH": "/certs"}, tmp_path)
    assert named.certificates == Path("/certs")
    assert not named.verify


def test_a_context_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'lost'"):
        find_endpoint({"DOCKER_CONTEXT": "lost"}, tmp_path)


def test_a_garbled_configuration_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text("[")

    assert find_endpoint({}, tmp_path).url == "unix:///var/run/docker.sock"


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("unix:///var/run/docker.sock", True),
        ("tcp://127.0.0.1:2375", True),
        ("tcp://localhost:2375", True),
        ("tcp://192.0.2.1:2375", False),
        ("ssh://me@elsewhere", False),
    ],
)
def test_only_an_engine_of_this_machine_sees_its_files(url: str, is_here: bool) -> None:
    assert Endpoint(url=url).is_on_this_machine is is_here


@pytest.mark.parametrize(
    ("url", "platform", "shared"),
    [
        ("unix:///var/run/docker.sock", "linux", True),
        ("unix:///home/me/.docker/desktop/docker.sock", "linux", False),
        ("tcp://127.0.0.1:2375", "linux", False),
        ("unix:///var/run/docker.sock", "darwin", False),
    ],
)
def test_sockets_are_shared_only_with_containers_of_this_kernel(
    monkeypatch: pytest.MonkeyPatch, url: str, platform: str, shared: bool
) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    assert Endpoint(url=url).shares_this_kernel is shared
