"""Whom downloads trust."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from kwokctl.artifacts.downloads.http_sessions import open_session
from kwokctl.artifacts.downloads.site_check import trouble_with
from tests.support.download_sites import DownloadSites, download_sites

_FILE = "https://dl.k8s.io/file"


@pytest.fixture
def sites(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[DownloadSites]:
    """A proxy whose authority nobody knows yet."""
    with download_sites(tmp_path) as sites:
        monkeypatch.setenv("HTTPS_PROXY", sites.site.address)
        sites.site.files[_FILE] = b"content"
        yield sites


def test_an_authority_that_this_machine_trusts_is_trusted(
    monkeypatch: pytest.MonkeyPatch, sites: DownloadSites
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(sites.ca))

    with open_session() as session:
        assert session.get(_FILE, timeout=20).content == b"content"
    assert "trusted" not in trouble_with(_FILE)


@pytest.mark.parametrize("chosen", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_authorities_that_the_user_has_chosen_are_the_only_ones(
    monkeypatch: pytest.MonkeyPatch, sites: DownloadSites, chosen: str
) -> None:
    monkeypatch.setenv(chosen, str(sites.ca))
    with open_session() as session:
        assert session.get(_FILE, timeout=20).content == b"content"

    monkeypatch.setenv("SSL_CERT_FILE", str(sites.ca))
    monkeypatch.setenv(chosen, requests.utils.DEFAULT_CA_BUNDLE_PATH)
    with open_session() as session, pytest.raises(requests.exceptions.SSLError):
        session.get(_FILE, timeout=20)


def test_an_authority_that_nobody_trusts_is_not_trusted(sites: DownloadSites) -> None:
    with open_session() as session, pytest.raises(requests.exceptions.SSLError):
        session.get(_FILE, timeout=20)
    assert "its certificate is not trusted" in trouble_with(_FILE)
