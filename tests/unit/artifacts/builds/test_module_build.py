from pathlib import Path

import pytest

from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve, store_of
from kwokctl.errors import ArtifactError
from tests.support import fake_go
from tests.support.listener import Listener

_MODULE = "example.com/tiny"
_FILES = {
    "go.mod": f"module {_MODULE}\n\ngo 1.26.0\n\nreplace example.com/old => example.com/new v1.2.3\n",
    "cmd/main.go": "package main\n",
    "config/crd/b.yaml": "kind: B\n\n",
    "config/crd/a.yaml": "kind: A\n",
    "config/crd/notes.md": "no object\n",
    "rights.yaml": "kind: Role",
}
_PROGRAM, _CRDS = f"go:{_MODULE}@v0.1.0#cmd", f"go-files:{_MODULE}@v0.1.0#rights.yaml,config/crd/*"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = fake_go.install_go(tmp_path / "go")
    fake_go.publish_files(folder, _MODULE, "v0.1.0", _FILES)
    monkeypatch.setenv("PATH", str(folder))
    return folder


async def _get(
    cache: Path, listener: Listener, *, source: ArtifactSource = ArtifactSource.AUTO, **parts: str
) -> dict[str, Path]:
    wanted = [
        WantedProgram(name=name, version="v0.1.0", explicit=part) for name, part in parts.items()
    ]
    found = await resolve(wanted, source=source, cache=cache, progress=listener)
    return {name: Path(artifact.command[0]) for name, artifact in found.items()}


async def test_a_program_is_built_in_its_own_module_whose_replacements_count(
    cache: Path, listener: Listener, go: Path
) -> None:
    found = await _get(cache, listener, tiny=_PROGRAM)

    assert (go / "main").read_text() == _FILES["go.mod"]
    assert found["tiny"].read_text().endswith("echo cmd\n")
    assert fake_go.calls(go)[-1].endswith(" ./cmd")


async def test_other_versions_take_the_place_of_those_that_the_module_requires(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _get(cache, listener, tiny=f"go:{_MODULE}@v0.1.0;v1.2.3=v1.2.2#cmd")

    assert (go / "main").read_text() == _FILES["go.mod"].replace("v1.2.3", "v1.2.2")


async def test_files_of_a_module_become_one_text_in_the_given_order(
    cache: Path, listener: Listener, go: Path
) -> None:
    found = await _get(cache, listener, crds=_CRDS)

    assert found["crds"].read_text() == (
        "---\n# rights.yaml\nkind: Role\n"
        "---\n# config/crd/a.yaml\nkind: A\n"
        "---\n# config/crd/b.yaml\nkind: B\n"
    )
    assert not [call for call in fake_go.calls(go) if call.startswith("build")]


async def test_program_and_files_of_a_module_are_fetched_once_and_used_again_without_go(
    cache: Path, listener: Listener, go: Path
) -> None:
    first = await _get(cache, listener, tiny=_PROGRAM, crds=_CRDS)
    done = fake_go.calls(go)
    again = await _get(cache, listener, source=ArtifactSource.OFFLINE, tiny=_PROGRAM, crds=_CRDS)

    assert len([call for call in done if call.startswith("mod download")]) == 1
    assert again == first
    assert fake_go.calls(go) == done


async def test_the_store_knows_which_part_of_a_module_it_has(
    cache: Path, listener: Listener, go: Path
) -> None:
    await _get(cache, listener, tiny=_PROGRAM, crds=_CRDS)

    origins = {entry.name: entry.origin for entry in store_of(cache, here()).entries()}
    assert origins == {"tiny": f"{_PROGRAM} by Go 1.26.8", "crds": _CRDS}


async def test_what_is_not_in_the_store_is_named_when_nothing_may_be_fetched(
    cache: Path, listener: Listener, go: Path
) -> None:
    with pytest.raises(ArtifactError, match=r"tiny v0\.1\.0 is not in the store"):
        await _get(cache, listener, source=ArtifactSource.OFFLINE, tiny=_PROGRAM)


async def test_a_version_that_the_proxy_does_not_have_is_named(
    cache: Path, listener: Listener, go: Path
) -> None:
    with pytest.raises(
        ArtifactError, match=r"not have the Go module example\.com/tiny v0\.2\.0"
    ) as e:
        await _get(cache, listener, tiny=f"go:{_MODULE}@v0.2.0#cmd")

    assert "not found" in str(e.value.detail)


async def test_a_pattern_without_a_file_is_named(cache: Path, listener: Listener, go: Path) -> None:
    with pytest.raises(ArtifactError, match=r"has no YAML file 'config/\*\.yaml'"):
        await _get(cache, listener, crds=f"go-files:{_MODULE}@v0.1.0#config/*.yaml")


async def test_a_failed_build_shows_the_output_of_go_and_leaves_nothing(
    cache: Path, listener: Listener, go: Path
) -> None:
    (go / "broken").touch()

    with pytest.raises(ArtifactError, match="could not be built") as caught:
        await _get(cache, listener, tiny=_PROGRAM)

    assert "syntax error" in str(caught.value.detail)
    assert not list((cache / "tmp").glob("*/build"))
    assert list(store_of(cache, here()).entries()) == []
