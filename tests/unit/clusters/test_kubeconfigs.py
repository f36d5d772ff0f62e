""""""

from pathlib import Path

import pytest

from kwokctl.clusters.kubeconfigs import portable_kubeconfig
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import save
from kwokctl.components.catalog import identities
from kwokctl.errors import UsageError
from kwokctl.expr import yaml
from kwokctl.host.certificates.pki import ensure_pki
from kwokctl.host.paths import WorkDir
from tests.support.fake_runtime import FakeRuntime
from tests.unit.clusters.state.test_saved import NAME, SAVED


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("access")
    made = Home(workdir=WorkDir(folder / "kwok"), cache=folder / "cache")
    paths = made.paths(NAME)
    save(paths, SAVED, SAVED.plan(FakeRuntime(), paths))
    ensure_pki(paths.pki, identities(SAVED.options))
    return made


def server(home: Home, host: str, user: str = "kwok-admin", group: str = "system:masters") -> str:
    text = portable_kubeconfig(
        home, NAME, host=host, insecure_skip_tls_verify=False, user=user, groups=(group,)
    )
    found = yaml.load(text)["clusters"][0]["cluster"]["server"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "https://127.0.0.1:6443"),
        ("api.example.com:443", "https://api.example.com:443"),
        ("::1", "https://[::1]:6443"),
        ("[::1]:443", "https://[::1]:443"),
    ],
)
def test_a_host_may_have_a_port(home: Home, host: str, url: str) -> None:
    assert server(home, host) == url


@pytest.mark.parametrize(
    "host",
    ["foo:99999", "foo bar", "foo:", "foo:0", "foo:٣", "[::1", "[::1]x", "https://foo", "a/b", ""],
)
def test_what_is_no_host_is_refused(home: Home, host: str) -> None:
    with pytest.raises(UsageError, match="'--host' is"):
        server(home, host)


@pytest.mark.parametrize("name", ["", " ", "a" * 65, "a\nb"])
def test_names_that_no_certificate_holds_are_refused(home: Home, name: str) -> None:
    with pytest.raises(UsageError, match="'--user' is"):
        server(home, "foo", user=name)
    with pytest.raises(UsageError, match="'--group' is"):
        server(home, "foo", group=name)


def test_arguments_are_checked_before_the_cluster_is_looked_for(tmp_path: Path) -> None:
    nowhere = Home(workdir=WorkDir(tmp_path), cache=tmp_path)

    with pytest.raises(UsageError):
        server(nowhere, "foo bar")
