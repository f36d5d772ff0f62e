import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf import descriptor_pool

from kwokctl.errors import UnavailableError
from kwokctl.etcd import shim


def _etcd3() -> dict[str, ModuleType]:
    return {name: m for name, m in sys.modules.items() if name.partition(".")[0] == "etcd3"}


@pytest.fixture
def unloaded() -> Iterator[None]:
    """Let the package be loaded again, and restore afterwards what was there."""
    before = _etcd3()
    for name in before:
        del sys.modules[name]
    yield
    for name in _etcd3():
        del sys.modules[name]
    sys.modules.update(before)


def _package(folder: Path, files: dict[str, str]) -> None:
    below = folder / "etcd3" / "etcdrpc"
    below.mkdir(parents=True)
    (folder / "etcd3" / "__init__.py").write_text("import etcd3.etcdrpc as etcdrpc\n")
    for name, text in files.items():
        (below / name).write_text(text)


def test_messages_survive_a_round_trip() -> None:
    rpc = shim.load().etcdrpc
    request = rpc.RangeRequest(key=b"a", limit=5, sort_order=rpc.RangeRequest.DESCEND)
    assert rpc.RangeRequest.FromString(request.SerializeToString()) == request


def test_the_shared_descriptor_pool_stays_empty() -> None:
    shim.load()
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("etcdserverpb.RangeRequest")


@pytest.mark.usefixtures("unloaded")
def test_threads_that_load_it_at_once_all_get_the_whole() -> None:
    found: list[ModuleType] = []
    threads = [threading.Thread(target=lambda: found.append(shim.load())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(module is found[0] and hasattr(module, "client") for module in found)


@pytest.mark.usefixtures("unloaded")
def test_a_release_with_new_code_is_imported_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _package(tmp_path, {"__init__.py": "fresh = True\n", "kv_pb2.py": "# AddSerializedFile(b'')\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert shim.load().etcdrpc.fresh


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize(
    "files",
    [
        {},
        {"kv_pb2.py": "x(serialized_pb=b'')"},
        {"kv_pb2.py": "x(serialized_pb=b'')", "auth_pb2.py": "1"},
    ],
)
def test_another_release_is_refused_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    _package(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnavailableError, match="not the release") as caught:
        shim.load()
    assert "etcd3>=0.12.0,<0.13" in str(caught.value.hint)
    assert _etcd3() == {}


@pytest.mark.usefixtures("unloaded")
def test_a_missing_package_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(UnavailableError, match="'etcd3' is not installed"):
        shim.load()
