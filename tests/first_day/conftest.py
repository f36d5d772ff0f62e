"""The first day of a user: an empty home folder, the installed command, the real components."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.host.paths import cache_dir
from tests.support.newcomer import Newcomer, newcomer
from tests.support.store import PROGRAMS


@pytest.fixture
def user() -> Iterator[Newcomer]:
    """Give each test a user of its own."""
    with newcomer() as user:
        yield user


@pytest.fixture(scope="session")
def real_programs(programs: None) -> Mapping[str, Path]:
    """Return where the programs are in the store of who runs the tests."""
    store = store_of(cache_dir(), here())
    found = {name: store.find(name, version) for name, version in PROGRAMS.items()}
    if missing := [name for name, entry in found.items() if entry is None]:
        pytest.skip(f"not in the store: {', '.join(missing)}")
    return {name: entry.path for name, entry in found.items() if entry}
