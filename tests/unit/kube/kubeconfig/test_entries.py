import asyncio
import base64
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import BusyError, ConfigError, ConflictError
from kwokctl.expr import yaml
from kwokctl.kube.kubeconfig import entries
from kwokctl.kube.kubeconfig.access import load_access
from kwokctl.kube.kubeconfig.lock import locked

_THEIRS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "preferences": {"colors": True},
    "x-unknown": {"when": "2026-01-01", "octal": "010", "yes": "yes", "1": [None, 1.5]},
    "clusters": [
        {
            "name": "prod",
            "cluster": {
                "server": "https://prod.example.com",
                "extensions": [{"name": "e", "extension": {"last-update": "Mon"}}],
            },
            "x-more": "kept",
        }
    ],
    "users": [{"name": "me", "user": {"exec": {"command": "aws", "args": ["a"], "env": None}}}],
    "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "me"}}],
    "current-context": "prod",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return the kubeconfig of a cluster called `a`, in its folder."""
    return _cluster(tmp_path / "clusters" / "a", "kwok-a")


def _cluster(folder: Path, context: str, server: str = "https://127.0.0.1:6443") -> Path:
    folder.mkdir(parents=True)
    path = folder / "kubeconfig.yaml"
    path.write_text(entries.by_paths(context, server, folder / "pki", "admin"))
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return where the user's kubeconfig is to be."""
    return tmp_path / "home" / ".kube" / "config"


def _write(path: Path, document: Any, *, mode: int = 0o600) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.dump(document))
    path.chmod(mode)


def _read(path: Path) -> Any:
    return yaml.load(path.read_text())


def _names(path: Path) -> dict[str, list[str]]:
    document = _read(path)
    return {
        table: [entry["name"] for entry in document.get(table) or []]
        for table in ("clusters", "users", "contexts")
    }


async def test_a_first_kubeconfig_is_made_for_its_owner_alone(source: Path, target: Path) -> None:
    await entries.merge_context(target, source, "kwok-a")
    assert _read(target) == _read(source)
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in target.parent.iterdir()] == ["config"]


async def test_a_merged_context_can_be_used(source: Path, target: Path) -> None:
    pki = source.parent / "pki"
    pki.mkdir()
    for name in ("ca.crt", "admin.crt", "admin.key"):
        (pki / name).write_bytes(name.encode())
    await entries.merge_context(target, source, "kwok-a")
    access = load_access(target)
    assert (access.server, access.ca) == ("https://127.0.0.1:6443", b"ca.crt")


async def test_merging_and_removing_loses_nothing_of_what_was_there(
    source: Path, target: Path
) -> None:
    _write(target, _THEIRS, mode=0o640)
    await entries.merge_context(target, source, "kwok-a")
    merged = _read(target)
    assert merged["current-context"] == "kwok-a"
    for table in ("clusters", "users", "contexts"):
        assert merged[table] == [*_THEIRS[table], *_read(source)[table]]
    assert merged["x-unknown"] == _THEIRS["x-unknown"]
    assert target.stat().st_mode & 0o777 == 0o640

    assert await entries.remove_context(target, "kwok-a")
    assert _read(target) == {**_THEIRS, "current-context": ""}
    assert target.stat().st_mode & 0o777 == 0o640


async def test_merging_again_replaces_in_place_and_may_move_the_server(
    source: Path, target: Path
) -> None:
    await entries.merge_context(target, source, "kwok-a")
    other = _cluster(source.parent.parent / "b", "kwok-b")
    await entries.merge_context(target, other, "kwok-b")
    source.write_text(source.read_text().replace(":6443", ":7443"))
    await entries.merge_context(target, source, "kwok-a")
    assert _names(target)["clusters"] == ["kwok-a", "kwok-b"]
    assert _read(target)["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:7443"
    assert _read(target)["current-context"] == "kwok-a"


async def test_nothing_new_is_not_written(source: Path, target: Path) -> None:
    await entries.merge_context(target, source, "kwok-a")
    before = target.stat()
    await entries.merge_context(target, source, "kwok-a")
    assert not await entries.remove_context(target, "kwok-b")
    after = target.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_a_link_stays_one(source: Path, target: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "kube"
    _write(real, _THEIRS)
    target.parent.mkdir(parents=True)
    target.symlink_to(real)
    await entries.merge_context(target, source, "kwok-a")
    assert target.is_symlink()
    assert _names(real)["contexts"] == ["prod", "kwok-a"]


async def test_empty_tables_and_empty_files_are_accepted(source: Path, target: Path) -> None:
    # As kubectl writes them when nothing is left.
    _write(target, {"apiVersion": "v1", "clusters": None, "contexts": None, "users": None})
    await entries.merge_context(target, source, "kwok-a")
    assert _names(target)["users"] == ["kwok-a"]
    target.write_text("")
    await entries.merge_context(target, source, "kwok-a")
    assert _names(target)["users"] == ["kwok-a"]


@pytest.mark.parametrize("text", ["{", "- 1", "clusters: 5", "clusters: [1]", "a: 1\n---\nb: 2\n"])
async def test_a_file_that_is_no_kubeconfig_is_left_alone(
    source: Path, target: Path, text: str
) -> None:
    target.parent.mkdir(parents=True)
    target.write_text(text)
    with pytest.raises(ConfigError) as caught:
        await entries.merge_context(target, source, "kwok-a")
    assert str(target) in str(caught.value)
    assert target.read_text() == text


async def test_another_s_context_of_our_name_is_never_replaced_or_removed(
    source: Path, target: Path
) -> None:
    theirs = _THEIRS | {
        "clusters": [{"name": "kwok-a", "cluster": {"server": "https://prod.example.com"}}],
        "contexts": [{"name": "kwok-a", "context": {"cluster": "kwok-a", "user": "me"}}],
        "current-context": "kwok-a",
    }
    _write(target, theirs)
    with pytest.raises(ConflictError, match=r"context 'kwok-a' of '.*' is of another cluster"):
        await entries.merge_context(target, source, "kwok-a")
    assert not await entries.remove_context(target, "kwok-a", home=source.parent)
    assert _read(target) == theirs


async def test_another_s_user_of_our_name_is_not_replaced(source: Path, target: Path) -> None:
    theirs = _THEIRS | {"users": [{"name": "kwok-a", "user": {"token": "secret"}}]}
    _write(target, theirs)
    with pytest.raises(ConflictError):
        await entries.merge_context(target, source, "kwok-a")
    assert _read(target) == theirs


async def test_a_cluster_elsewhere_counts_as_the_same_if_its_ca_lies_in_the_folder(
    tmp_path: Path, target: Path
) -> None:
    source = _cluster(tmp_path / "clusters" / "far", "kwok-far", "https://10.1.2.3:6443")
    await entries.merge_context(target, source, "kwok-far")
    await entries.merge_context(target, source, "kwok-far")
    assert not await entries.remove_context(target, "kwok-far")
    assert await entries.remove_context(target, "kwok-far", home=source.parent)
    assert _names(target) == {"clusters": [], "users": [], "contexts": []}


async def test_what_another_context_uses_stays(source: Path, target: Path) -> None:
    await entries.merge_context(target, source, "kwok-a")
    document = _read(target)
    alias = {"name": "alias", "context": {"cluster": "kwok-a", "user": "somebody"}}
    document["contexts"].append(alias)
    _write(target, document)
    assert await entries.remove_context(target, "kwok-a")
    assert _names(target) == {"clusters": ["kwok-a"], "users": [], "contexts": ["alias"]}


async def test_another_current_context_stays_current(source: Path, target: Path) -> None:
    _write(target, _THEIRS)
    await entries.merge_context(target, source, "kwok-a")
    _write(target, _read(target) | {"current-context": "prod"})
    await entries.remove_context(target, "kwok-a")
    assert _read(target) == _THEIRS


async def test_names_in_the_source_may_differ_from_the_context(
    tmp_path: Path, target: Path
) -> None:
    source = _cluster(tmp_path / "c", "kwok-kind")
    document = _read(source)
    document["clusters"][0]["name"] = document["users"][0]["name"] = "kind-kwok-kind"
    document["contexts"][0]["context"] = {"cluster": "kind-kwok-kind", "user": "kind-kwok-kind"}
    _write(source, document)
    await entries.merge_context(target, source, "kwok-kind")
    assert _names(target)["clusters"] == ["kind-kwok-kind"]
    await entries.remove_context(target, "kwok-kind")
    assert _names(target) == {"clusters": [], "users": [], "contexts": []}


async def test_of_several_files_the_first_that_exists_gets_what_is_new(
    source: Path, tmp_path: Path
) -> None:
    absent, first, second = (tmp_path / name for name in ("0", "1", "2"))
    _write(first, {"kind": "Config"})
    _write(second, _THEIRS)
    files = (absent, first, second)
    assert await entries.merge_context(files, source, "kwok-a") == first
    assert not absent.exists()
    assert _names(first)["contexts"] == ["kwok-a"]
    assert _read(second) == _THEIRS
    assert await entries.remove_context(files, "kwok-a")
    assert _names(first)["contexts"] == []


async def test_of_several_files_the_one_that_has_an_entry_keeps_it(
    source: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    await entries.merge_context(second, source, "kwok-a")
    _write(first, _THEIRS)
    source.write_text(source.read_text().replace(":6443", ":7443"))
    assert await entries.merge_context((first, second), source, "kwok-a") == second
    assert _names(first)["clusters"] == ["prod"]
    assert _read(first)["current-context"] == "kwok-a"
    assert _read(second)["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:7443"


async def test_of_several_absent_files_the_last_is_made(source: Path, tmp_path: Path) -> None:
    files = (tmp_path / "1", tmp_path / "2")
    assert await entries.merge_context(files, source, "kwok-a") == files[1]
    assert not files[0].exists()


async def test_removing_from_a_missing_file_is_no_error(target: Path) -> None:
    assert not await entries.remove_context(target, "kwok-a")
    assert not target.parent.exists()


async def test_a_folder_that_cannot_be_written_is_an_error_with_a_hint(
    source: Path, target: Path
) -> None:
    target.parent.parent.mkdir(parents=True)
    target.parent.write_text("a file where the folder should be")
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        await entries.merge_context(target, source, "kwok-a")
    assert "--kubeconfig" in str(caught.value.hint)


def test_many_at_once_lose_nothing(tmp_path: Path, target: Path) -> None:
    names = [f"kwok-{n}" for n in range(8)]
    sources = {name: _cluster(tmp_path / "clusters" / name, name) for name in names}
    threads = [
        threading.Thread(target=asyncio.run, args=[entries.merge_context(target, source, name)])
        for name, source in sources.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(_names(target)["contexts"]) == names
    assert [path.name for path in target.parent.iterdir()] == ["config"]


async def test_kubectl_s_lock_is_respected(target: Path) -> None:
    target.parent.mkdir(parents=True)
    lock = Path(f"{target}.lock")
    lock.touch()
    with pytest.raises(BusyError) as caught:
        async with locked(target, wait=0.0):
            pass
    assert str(lock) in str(caught.value.hint)
    assert lock.exists()


async def test_a_wait_for_the_lock_can_be_interrupted(source: Path, target: Path) -> None:
    _write(target, _THEIRS)
    before = target.read_text()
    lock = Path(f"{target}.lock")
    lock.touch()
    waiting = asyncio.create_task(entries.merge_context(target, source, "kwok-a"))
    await asyncio.sleep(0)
    assert not waiting.done()

    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert target.read_text() == before
    assert lock.exists()


async def test_the_lock_of_a_killed_kwokctl_blocks_no_other(target: Path) -> None:
    target.parent.mkdir(parents=True)
    lock = Path(f"{target}.lock")
    async with locked(target, wait=0.0):
        ours = lock.read_text()
    assert ours.endswith(f" {os.getpid()}")
    lock.write_text(ours.replace(str(os.getpid()), str(2**22 + 1)))
    async with locked(target, wait=0.0):
        assert lock.read_text() == ours
    assert list(target.parent.iterdir()) == []


def test_an_embedded_kubeconfig_needs_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "portable"
    path.write_text(entries.embedded("c", "https://h:1", ca=b"ca", cert=b"cert", key=b"key"))
    access = load_access(path)
    assert (access.ca, access.cert, access.key) == (b"ca", b"cert", b"key")
    assert (access.server, access.insecure) == ("https://h:1", False)
    assert base64.b64encode(b"key").decode() in path.read_text()


def test_without_a_ca_an_embedded_kubeconfig_trusts_any_server(tmp_path: Path) -> None:
    path = tmp_path / "portable"
    path.write_text(entries.embedded("c", "https://h:1", ca=None, cert=b"cert", key=b"key"))
    access = load_access(path)
    assert (access.ca, access.insecure) == (None, True)
