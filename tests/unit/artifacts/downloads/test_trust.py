"""Files of which nothing says what they must be: what came first is what must come again."""

from hashlib import sha256
from pathlib import Path

import pytest

from kwokctl.artifacts.downloads import trust
from kwokctl.artifacts.downloads.download import download
from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError
from tests.support.listener import Listener
from tests.support.release_site import ReleaseSite

_PROGRAM = b"\x7fELF" + b"program" * 1000
SUM = sha256(_PROGRAM).hexdigest()
CHANGES = ("cut_without_length", "short", "flipped", "page")


@pytest.fixture
def records(store: ProgramStore) -> Path:
    return store.root.parent / "first-downloads"


async def _download(
    site: ReleaseSite, store: ProgramStore, key: str, *faults: str, official: bool = True
) -> Listener:
    """Download a program as another version of the store, from the one address."""
    site.files["/metrics-server"] = _PROGRAM
    site.faults["/metrics-server"] = list(faults)
    url = f"{site.address}/metrics-server"
    order = Order(
        name="metrics-server", version=key, key=key, batch="b", url=url, official=official
    )
    folder, listener = store.root.parent / "work", Listener()
    assert await download([order], store=store, folder=folder, progress=listener) is None
    return listener


@pytest.mark.parametrize("official", [True, False])
async def test_the_first_download_is_noted_with_a_warning_that_names_the_file(
    site: ReleaseSite, store: ProgramStore, records: Path, official: bool
) -> None:
    listener = await _download(site, store, "v1", official=official)

    (file,) = records.iterdir()
    (warning,) = listener.warnings
    assert f"{site.address}/metrics-server" in warning
    assert str(file) in warning
    assert SUM in file.read_text()


async def test_what_comes_again_is_compared_without_a_warning(
    site: ReleaseSite, store: ProgramStore, records: Path
) -> None:
    await _download(site, store, "v1")
    listener = await _download(site, store, "v2")

    entries = [store.find("metrics-server", version) for version in ("v1", "v2")]
    assert [entry and entry.checksum for entry in entries] == ["none", "recorded"]
    assert listener.warnings == []


@pytest.mark.parametrize("fault", CHANGES)
async def test_what_is_changed_once_since_the_first_download_is_fetched_again(
    site: ReleaseSite, store: ProgramStore, fault: str
) -> None:
    await _download(site, store, "v1")
    await _download(site, store, "v2", fault)

    entry = store.find("metrics-server", "v2")
    assert entry is not None
    assert entry.path.read_bytes() == _PROGRAM


@pytest.mark.parametrize("fault", CHANGES)
async def test_what_stays_changed_is_refused_with_the_file_that_remembers_it(
    site: ReleaseSite, store: ProgramStore, records: Path, fault: str
) -> None:
    await _download(site, store, "v1")
    with pytest.raises(ArtifactError, match="does not have its recorded checksum") as caught:
        await _download(site, store, "v2", *[fault] * 9)

    (file,) = records.iterdir()
    assert str(file) in str(caught.value.hint)
    assert store.find("metrics-server", "v2") is None


async def test_what_is_no_program_is_not_noted(
    site: ReleaseSite, store: ProgramStore, records: Path
) -> None:
    with pytest.raises(ArtifactError, match="is not a program"):
        await _download(site, store, "v1", "page")

    assert not records.exists()


def test_addresses_that_differ_in_a_secret_are_remembered_apart_and_without_it(
    tmp_path: Path,
) -> None:
    trust.remember(tmp_path, "https://me:word@example.com/x?key=1", SUM)

    (file,) = tmp_path.iterdir()
    assert "word" not in file.read_text() + file.name
    assert "key" not in file.read_text()
    assert trust.sum_before(tmp_path, "https://me:word@example.com/x?key=1") == SUM
    assert trust.sum_before(tmp_path, "https://example.com/x?key=2") == ""
