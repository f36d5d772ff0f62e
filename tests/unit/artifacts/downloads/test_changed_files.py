"""Files that look whole and are not what was published."""

import pytest

from kwokctl.artifacts.downloads.download import download
from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError
from tests.support.listener import Listener
from tests.support.release_site import ReleaseSite

_PROGRAM = b"\x7fELF" + b"program" * 1000
CHANGES = ("cut_without_length", "short", "flipped", "page")


async def _download(site: ReleaseSite, store: ProgramStore, faults: list[int | str]) -> None:
    url = site.publish("/kubectl", _PROGRAM)
    site.faults["/kubectl"] = faults
    order = Order(
        name="kubectl", version="v1", key="v1", batch="b", url=url, sums=(f"{url}.sha256",)
    )
    folder = store.root.parent / "work"
    assert await download([order], store=store, folder=folder, progress=Listener()) is None


@pytest.mark.parametrize("fault", CHANGES)
async def test_what_is_changed_once_is_fetched_again(
    site: ReleaseSite, store: ProgramStore, fault: str
) -> None:
    await _download(site, store, [fault])

    entry = store.find("kubectl", "v1")
    assert entry is not None
    assert entry.path.read_bytes() == _PROGRAM
    assert entry.checksum == "published"


@pytest.mark.parametrize("fault", CHANGES)
async def test_what_is_always_changed_never_comes_into_the_store(
    site: ReleaseSite, store: ProgramStore, fault: str
) -> None:
    with pytest.raises(ArtifactError, match="does not have its published checksum") as caught:
        await _download(site, store, [fault] * 9)

    assert "its SHA-256 is" in str(caught.value.detail)
    assert store.find("kubectl", "v1") is None
