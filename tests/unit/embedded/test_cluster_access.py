from pathlib import Path

import pytest

from kwokctl.embedded.cluster_access import cluster_access
from kwokctl.errors import UsageError
from kwokctl.kube.kubeconfig import entries


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's home folder, outside of any pod."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return tmp_path


def kubeconfig(path: Path, server: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(entries.by_token("c", server, path.parent / "ca.crt", "t"))
    (path.parent / "ca.crt").write_text("authority")
    return path


def test_the_kubeconfig_that_is_named_wins_over_the_users_own(home: Path) -> None:
    kubeconfig(home / ".kube" / "config", "https://own:1")
    named = kubeconfig(home / "named" / "config", "https://named:1")

    assert cluster_access(named, "").server == "https://named:1"
    assert cluster_access(None, "").server == "https://own:1"


def test_a_url_wins_over_the_server_of_a_kubeconfig(home: Path) -> None:
    named = kubeconfig(home / "config", "https://named:1")

    access = cluster_access(named, "https://other:2/")

    assert (access.server, access.token) == ("https://other:2", "t")


def test_a_url_is_enough() -> None:
    assert cluster_access(None, "http://127.0.0.1:8080").server == "http://127.0.0.1:8080"


def test_without_any_of_them_there_is_an_error_with_a_hint() -> None:
    with pytest.raises(UsageError, match="no cluster") as caught:
        cluster_access(None, "")

    assert "--kubeconfig" in str(caught.value.hint)
