import os
from pathlib import Path
from threading import Event

import pytest

from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import Transfer, filename, public
from tests.support.release_site import ReleaseSite, release_site

_CONTENT = os.urandom(3 << 20)
_PAUSES = (0.0, 0.0, 0.0, 0.0)


class _Ear:
    def __init__(self) -> None:
        self.begun: list[tuple[int | None, int]] = []
        self.came = 0
        self.said: list[str] = []

    def begin(self, total: int | None, done: int) -> None:
        self.begun.append((total, done))

    def advance(self, amount: int) -> None:
        self.came += amount

    def say(self, what: str) -> None:
        self.said.append(what)


@pytest.fixture
def ear() -> _Ear:
    return _Ear()


@pytest.fixture
def transfer(ear: _Ear) -> Transfer:
    return Transfer(ear, Event(), pauses=_PAUSES)


def test_a_file_comes_whole(
    site: ReleaseSite, ear: _Ear, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT
    assert ear.begun == [(len(_CONTENT), 0)]
    assert ear.came == len(_CONTENT)


def test_a_cut_file_is_gone_on_with(
    site: ReleaseSite, ear: _Ear, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = ["cut"]

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT
    first, second = site.asked("/kubectl")
    assert first.range is None
    assert second.range is not None
    assert int(second.range.removeprefix("bytes=").removesuffix("-")) > 0
    assert ear.came == len(_CONTENT)
    assert ear.said == ["127.0.0.1 closed the connection early: trying again"]


def test_a_file_that_a_killed_run_left_is_gone_on_with(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = ["cut"]
    Transfer(_Ear(), Event(), pauses=()).file(url, tmp_path / "part")

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT
    assert site.requests[-1].range is not None


def test_a_whole_file_that_a_killed_run_left_is_not_fetched_again(
    site: ReleaseSite, ear: _Ear, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    Transfer(_Ear(), Event()).file(url, tmp_path / "part")

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT
    assert ear.came == 0


def test_a_file_that_has_changed_since_is_fetched_from_the_start(
    site: ReleaseSite, ear: _Ear, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", b"old" * 1000)
    site.faults["/kubectl"] = ["cut"]
    Transfer(_Ear(), Event(), pauses=()).file(url, tmp_path / "part")
    site.publish("/kubectl", _CONTENT)

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT
    assert ear.begun == [(len(_CONTENT), 0)]


@pytest.mark.parametrize("feature", ["ranges", "tagged"])
def test_a_server_without_ranges_is_asked_for_the_whole_file(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path, feature: str
) -> None:
    setattr(site, feature, False)
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = ["cut", "cut"]

    assert transfer.file(url, tmp_path / "part") is None

    assert (tmp_path / "part").read_bytes() == _CONTENT


def test_a_request_to_a_failing_server_is_repeated(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = [500, 429, 503]

    assert transfer.file(url, tmp_path / "part") is None

    assert len(site.asked("/kubectl")) == 4


def test_a_server_that_keeps_failing_is_given_up(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = [503] * 20

    trouble = transfer.file(url, tmp_path / "part")

    assert str(trouble) == "127.0.0.1 answers 503 for 'kubectl'"
    assert len(site.asked("/kubectl")) == len(_PAUSES)


def test_as_long_as_bytes_come_it_is_not_given_up(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = ["cut"] * 5

    assert transfer.file(url, tmp_path / "part") is None
    assert (tmp_path / "part").read_bytes() == _CONTENT


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_refusal_is_final(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path, status: int
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = [status]

    trouble = transfer.file(url, tmp_path / "part")

    assert trouble is not None
    assert str(status) in trouble.cause
    assert len(site.asked("/kubectl")) == 1


def test_a_refused_connection_is_final(ear: _Ear, transfer: Transfer, tmp_path: Path) -> None:
    with release_site() as site:
        url = site.publish("/kubectl", _CONTENT)

    trouble = transfer.file(url, tmp_path / "part")

    assert str(trouble) == "127.0.0.1 cannot be reached (connection refused)"
    assert ear.said == []


def test_a_transfer_that_is_stopped_ends(site: ReleaseSite, tmp_path: Path) -> None:
    url = site.publish("/kubectl", _CONTENT)
    stop = Event()
    stop.set()

    trouble = Transfer(_Ear(), stop).file(url, tmp_path / "part")

    assert trouble is not None
    assert (tmp_path / "part").stat().st_size == 0


def test_a_proxy_in_the_environment_is_used(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", site.address)
    monkeypatch.setenv("NO_PROXY", "")
    site.publish("/kubectl", _CONTENT)

    assert transfer.file("http://files.example/kubectl", tmp_path / "part") is None

    assert site.requests[0].host == "files.example"
    assert (tmp_path / "part").read_bytes() == _CONTENT


def test_a_text_comes_as_text(site: ReleaseSite, transfer: Transfer) -> None:
    url = site.publish("/sums", b"abc  kubectl\n")

    assert transfer.text(url) == "abc  kubectl\n"


def test_a_missing_text_is_reported(site: ReleaseSite, transfer: Transfer) -> None:
    assert isinstance(transfer.text(f"{site.address}/sums"), Trouble)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://h/a/etcd.tar.gz?token=1", "etcd.tar.gz"),
        ("https://h/v1.2%2Bx", "v1.2+x"),
        ("https://h", ""),
    ],
)
def test_a_file_is_called_by_the_last_word_of_its_path(url: str, name: str) -> None:
    assert filename(url) == name


def test_secrets_in_an_address_are_not_shown() -> None:
    assert public("https://me:secret@host:8080/etcd?token=1") == "https://host:8080/etcd"
    assert public("/home/me/etcd.tar.gz") == "/home/me/etcd.tar.gz"


def test_authorities_that_are_not_there_are_no_fault_of_the_folder(
    monkeypatch: pytest.MonkeyPatch, ear: _Ear, transfer: Transfer, tmp_path: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "no-such.pem"))

    trouble = transfer.file("https://127.0.0.1:1/kubectl", tmp_path / "part")

    assert isinstance(trouble, Trouble)
    assert str(trouble).startswith("127.0.0.1 cannot be queried (")
    assert str(tmp_path / "no-such.pem") in str(trouble)
    assert ear.said == []
