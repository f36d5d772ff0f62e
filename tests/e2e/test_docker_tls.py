"""An engine that is reached by TCP and shows and demands certificates."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import engines
from tests.support.certificates import Certificates, certificates
from tests.support.installed import Installed, taken_port

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.docker,
    pytest.mark.timeout(600, func_only=True),
]


@dataclass(frozen=True)
class Guarded:
    """An engine behind TLS."""

    url: str
    ours: Path
    """A folder with certificates that it accepts, as the docker command wants them."""
    strangers: Path
    """One with certificates of another authority."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("tls")
    ours, theirs = certificates("engine"), certificates("somebody-else")
    server = _written(folder / "server", ours.ca, ours.server.cert, ours.server.key)
    with taken_port() as port:
        pass
    with ExitStack() as stack:
        try:
            stack.enter_context(
                engines.started(
                    f"--host=tcp://127.0.0.1:{port}", "--tlsverify",
                    f"--tlscacert={server}/ca.pem", f"--tlscert={server}/cert.pem",
                    f"--tlskey={server}/key.pem",
                )
            )  # fmt: skip
        except engines.NoEngineError as e:
            pytest.skip(f"no container engine: {e}")
        yield Guarded(
            f"tcp://127.0.0.1:{port}",
            _client(folder / "ours", ours, ours),
            _client(folder / "strangers", ours, theirs),
        )


def _client(folder: Path, trusted: Certificates, own: Certificates) -> Path:
    return _written(folder, trusted.ca, own.client.cert, own.client.key)


def _written(folder: Path, ca: bytes, cert: bytes, key: bytes) -> Path:
    folder.mkdir()
    for name, content in (("ca.pem", ca), ("cert.pem", cert), ("key.pem", key)):
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def cluster(installed: Installed, guarded: Guarded) -> Iterator[Installed]:
    cluster = installed.called("tls")
    yield cluster
    cluster.run("delete", "cluster", **_by(guarded, guarded.ours), timeout=120)


def _by(guarded: Guarded, certificates: Path) -> dict[str, str]:
    return {
        "DOCKER_HOST": guarded.url,
        "DOCKER_TLS_VERIFY": "1",
        "DOCKER_CERT_PATH": str(certificates),
    }


CREATE = ("create", "cluster", "--runtime=docker", "--artifact-source=build")


def test_a_cluster_lives_in_it_by_variables_and_by_a_context(
    cluster: Installed, guarded: Guarded, tmp_path: Path
) -> None:
    made = cluster.run(
        *CREATE,
        "--wait=180s",
        "--disable=kube-scheduler",
        timeout=300,
        **_by(guarded, guarded.ours),
    )
    assert made.code == 0, made.err

    at = guarded.ours
    endpoint = f"host={guarded.url},ca={at}/ca.pem,cert={at}/cert.pem,key={at}/key.pem"
    by_context = {"DOCKER_HOST": "", "DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "guarded"}
    subprocess.run(
        ["docker", "--config", str(tmp_path), "context", "create", "guarded", "--docker", endpoint],
        check=True, capture_output=True,
    )  # fmt: skip
    listed = cluster.run("get", "components", "-o", "table", timeout=180, **by_context)
    assert listed.out.count("Ready") == 5, listed.err

    deleted = cluster.run("delete", "cluster", timeout=120, **by_context)
    assert deleted.code == 0, deleted.err


@pytest.mark.parametrize("which", ["strangers", "none"])
def test_create_names_the_certificate_when_the_engine_rejects_the_client(
    cluster: Installed, guarded: Guarded, tmp_path: Path, which: str
) -> None:
    certificates = guarded.strangers if which == "strangers" else tmp_path
    said = cluster.refused(*CREATE, timeout=180, **_by(guarded, certificates))

    assert guarded.url in said
    assert "certificate" in said
    assert "DOCKER_CERT_PATH" in said
    assert "Traceback" not in said
