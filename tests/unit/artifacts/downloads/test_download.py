from hashlib import sha256
from pathlib import Path
from urllib.parse import urljoin

import pytest

from kwokctl.artifacts.downloads.download import download
from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import filename
from kwokctl.artifacts.downloads.trust import checksum
from kwokctl.artifacts.locations import Order
from kwokctl.artifacts.programs import checksums
from kwokctl.artifacts.store import ProgramStore
from kwokctl.errors import ArtifactError
from kwokctl.replacing import replace
from tests.support.listener import Listener
from tests.support.release_site import ReleaseSite, archived, release_site

_PROGRAM = b"\x7fELF" + b"program" * 1000


def _order(name: str, url: str, *, member: str = "", official: bool = True) -> Order:
    sums = urljoin(url, checksums(name, filename(url)))
    return Order(
        name=name, version="v1", key="v1", batch="b", url=url, member=member, official=official,
        sums=(sums,),
    )  # fmt: skip


async def _download(
    orders: list[Order], store: ProgramStore, tmp_path: Path, listener: Listener
) -> Trouble | None:
    return await download(orders, store=store, folder=tmp_path / "work", progress=listener)


async def test_a_program_comes_into_the_store(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", _PROGRAM)

    assert await _download([_order("kubectl", url)], store, tmp_path, listener) is None

    entry = store.find("kubectl", "v1")
    assert entry is not None
    assert entry.path.read_bytes() == _PROGRAM
    assert (entry.source, entry.origin) == ("download", url)
    (step,) = listener.steps
    assert (step.title, step.total, step.unit) == ("Downloading kubectl v1", len(_PROGRAM), "B")
    assert step.done == len(_PROGRAM)
    assert listener.warnings == []


async def test_one_archive_is_fetched_once_for_all_its_programs(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    content = archived(etcd=_PROGRAM + b"1", etcdctl=_PROGRAM + b"2", etcdutl=_PROGRAM + b"3")
    url = site.publish("/etcd.tar.gz", content)
    site.files["/SHA256SUMS"] = f"{sha256(content).hexdigest()}  etcd.tar.gz\n".encode()
    orders = [_order(name, url, member=name) for name in ("etcd", "etcdutl")]

    assert await _download(orders, store, tmp_path, listener) is None

    assert len(site.asked("/etcd.tar.gz")) == 1
    assert [each for each in (tmp_path / "work").rglob("*") if each.is_file()] == []
    for name, end in (("etcd", b"1"), ("etcdctl", b"2"), ("etcdutl", b"3")):
        entry = store.find(name, "v1")
        assert entry is not None
        assert entry.path.read_bytes().endswith(end)


async def test_a_file_that_is_not_what_was_published_is_refused(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", _PROGRAM)
    site.files["/kubectl"] = _PROGRAM + b"more"

    with pytest.raises(ArtifactError, match="does not have its published checksum"):
        await _download([_order("kubectl", url)], store, tmp_path, listener)

    assert store.find("kubectl", "v1") is None
    assert not list((tmp_path / "work").glob("*.part"))


async def test_bad_bytes_from_before_are_fetched_again(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", _PROGRAM)
    tag = f'"{sha256(_PROGRAM).hexdigest()[:8]}"'
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "kubectl.part").write_bytes(b"bad")
    (tmp_path / "work" / "kubectl.part.tag").write_text(tag)

    assert await _download([_order("kubectl", url)], store, tmp_path, listener) is None

    assert [request.range for request in site.asked("/kubectl")] == ["bytes=3-", None]


async def test_a_release_without_a_checksum_is_not_used(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", _PROGRAM)
    site.files["/kubectl.sha256"] = b"<html>"

    trouble = await _download([_order("kubectl", url)], store, tmp_path, listener)

    assert str(trouble) == "127.0.0.1 publishes no checksum of 'kubectl'"
    assert site.asked("/kubectl") == []


async def test_an_address_of_the_users_own_without_a_checksum_is_recorded_with_a_warning(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", _PROGRAM)
    del site.files["/kubectl.sha256"]

    await _download([_order("kubectl", url, official=False)], store, tmp_path, listener)

    (warning,) = listener.warnings
    assert warning.endswith(f"give the address with @sha256:{sha256(_PROGRAM).hexdigest()}")
    entry = store.find("kubectl", "v1")
    assert entry is not None
    assert entry.checksum == "none"


async def test_what_kwokctl_knows_of_a_file_counts_before_what_is_published(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    order = _order("kubectl", site.publish("/kubectl", _PROGRAM))
    with pytest.raises(ArtifactError, match="does not have its pinned checksum"):
        await _download([replace(order, pinned="ab" * 32)], store, tmp_path, listener)
    right = replace(order, pinned=sha256(_PROGRAM).hexdigest())
    assert await _download([right], store, tmp_path, listener) is None

    entry = store.find("kubectl", "v1")
    assert entry is not None
    assert entry.checksum == "pinned"
    assert site.asked("/kubectl.sha256") == []


async def test_what_the_user_says_a_file_must_be_counts_before_what_is_published(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    order = _order("kubectl", site.publish("/kubectl", _PROGRAM), official=False)
    wrong = replace(order, sha256="ab" * 32)

    with pytest.raises(ArtifactError, match="does not have its given checksum") as refused:
        await _download([wrong], store, tmp_path, listener)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("correct what follows '@sha256:'")
    right = replace(order, sha256=sha256(_PROGRAM).hexdigest())
    assert await _download([right], store, tmp_path, listener) is None

    assert site.asked("/kubectl.sha256") == []
    entry = store.find("kubectl", "v1")
    assert entry is not None
    assert entry.checksum == "given"


async def test_a_mirror_without_checksums_is_compared_with_those_of_the_project(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    project = site.publish("/project/kubectl", _PROGRAM)
    site.files["/mirror/kubectl"] = _PROGRAM
    mirror = f"{site.address}/mirror/kubectl"
    order = _order("kubectl", mirror, official=False)
    order = replace(order, sums=(f"{mirror}.sha256", f"{project}.sha256"))

    assert await _download([order], store, tmp_path, listener) is None
    site.files["/mirror/kubectl"] = _PROGRAM + b"more"
    with pytest.raises(ArtifactError, match="does not have its published checksum"):
        await _download([order], store, tmp_path, listener)

    assert listener.warnings == []


async def test_a_missing_file_is_reported_without_a_warning(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    order = _order("kubectl", f"{site.address}/kubectl")

    trouble = await _download([order], store, tmp_path, listener)

    assert str(trouble) == "127.0.0.1 has no 'kubectl.sha256' (404)"
    assert listener.warnings == []


async def test_a_host_that_cannot_be_reached_is_tried_once(
    store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    with release_site() as gone:
        url = gone.publish("/kubectl", _PROGRAM)

    trouble = await _download([_order("kubectl", url)], store, tmp_path, listener)

    assert trouble is not None
    assert trouble.unreachable
    (step,) = listener.steps
    assert step.has_failed
    assert step.said[0].startswith("asking ")


async def test_a_page_is_no_program(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/kubectl", b"<html>")

    with pytest.raises(ArtifactError, match="is not a program"):
        await _download([_order("kubectl", url)], store, tmp_path, listener)

    assert not list((tmp_path / "work").glob("*.part"))


async def test_an_archive_without_the_member_is_refused(
    site: ReleaseSite, store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    url = site.publish("/x.tar.gz", archived(etcd=_PROGRAM))

    with pytest.raises(ArtifactError, match=r"x.tar.gz' has no 'kubectl' in it"):
        await _download([_order("kubectl", url, member="kubectl")], store, tmp_path, listener)


async def test_an_archive_on_this_machine_is_unpacked(
    store: ProgramStore, tmp_path: Path, listener: Listener
) -> None:
    archive = tmp_path / "etcd.tar.gz"
    archive.write_bytes(archived(**{"my-etcd": _PROGRAM, "etcdctl": _PROGRAM}))
    order = _order("etcd", str(archive), member="my-etcd", official=False)

    assert await _download([order], store, tmp_path, listener) is None

    assert store.find("etcd", "v1") is not None
    assert store.find("etcdctl", "v1") is not None
    assert archive.exists()


_SUM = "ab" * 32


@pytest.mark.parametrize(
    "text",
    [
        _SUM,
        f"{_SUM.upper()}\n",
        f"{'cd' * 32}  other\n{_SUM}  kubectl\n",
        f"# sums\n{_SUM} *kubectl",
    ],
)
def test_a_checksum_is_found_in_its_list(text: str) -> None:
    assert checksum(text, "kubectl") == _SUM


@pytest.mark.parametrize("text", ["", "<html>", f"{_SUM}  other", "abc  kubectl"])
def test_what_is_no_checksum_of_the_file_is_none(text: str) -> None:
    assert checksum(text, "kubectl") is None
