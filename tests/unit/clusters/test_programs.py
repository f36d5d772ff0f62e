from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kwokctl.clusters.home import Home
from kwokctl.clusters.programs import programs_on
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.host.paths import WorkDir
from kwokctl.model import ETCD, KWOK_CONTROLLER
from tests.support.fake_runtime import BringingRuntime

NAMES = [ETCD, KWOK_CONTROLLER]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(workdir=WorkDir(tmp_path), cache=tmp_path / "cache")


def given(folder: Path, **options: Any) -> ClusterOptions:
    """Give a kind of one's own, and let nothing be fetched."""
    program = folder / "kind"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    usual = ClusterOptions(kind_binary=str(program), artifact_source="offline")
    return replace(usual, **options)


async def test_what_a_runtime_brings_is_not_fetched(home: Home, tmp_path: Path) -> None:
    found = await programs_on(home, BringingRuntime(), given(tmp_path), NAMES)

    assert found[ETCD].command == ()
    assert found[KWOK_CONTROLLER].command
    assert found["kind"].command == (str(tmp_path / "kind"),)
    assert found["kind"].image == "docker.io/kindest/node:v1.36.3"


async def test_the_users_own_kind_is_found_on_the_path(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = replace(given(tmp_path), kind_binary="")
    monkeypatch.setenv("PATH", str(tmp_path))

    found = await programs_on(home, BringingRuntime(), options, NAMES)

    assert found["kind"].command == (str(tmp_path / "kind"),)


@pytest.mark.parametrize(
    ("options", "image"),
    [
        ({"kind_node_image": "mine:v1"}, "mine:v1"),
        ({"kind_node_image_prefix": "mirror.example/k"}, "mirror.example/k/node:v1.36.3"),
    ],
)
async def test_the_image_of_the_node_is_given_or_follows_the_version(
    home: Home, tmp_path: Path, options: dict[str, str], image: str
) -> None:
    found = await programs_on(home, BringingRuntime(), given(tmp_path, **options), NAMES)

    assert found["kind"].image == image


async def test_a_program_that_would_not_be_used_is_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'--etcd-binary' is not for this runtime"):
        await programs_on(home, BringingRuntime(), given(tmp_path, etcd_binary="/e"), NAMES)
