"""Downloads from a server that breaks once in each way, and from one that never does anything else."""

from hashlib import sha256
from pathlib import Path
from threading import Event

import pytest

from kwokctl.artifacts.downloads.http_failures import Trouble
from kwokctl.artifacts.downloads.transfer import Transfer
from tests.support.release_faults import FAULTS
from tests.support.release_site import ReleaseSite

_CONTENT = bytes(range(256)) * 1024
_LARGEST = 2 * len(_CONTENT)
FINAL = {"circle", "endless"}
"""What does not get better by trying again."""
UNSEEN = {"cut_without_length", "short", "flipped", "page"}
"""What looks like a whole file: only its checksum shows that it is none."""


class _Nothing:
    def begin(self, total: int | None, done: int) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def say(self, what: str) -> None:
        pass


@pytest.fixture
def transfer() -> Transfer:
    return Transfer(
        _Nothing(), Event(), pauses=(0.0, 0.0, 0.0), timeout=(5.0, 0.3), largest=_LARGEST
    )


@pytest.mark.parametrize("fault", [name for name in FAULTS if name not in FINAL | UNSEEN])
def test_a_server_that_breaks_once_gives_the_file_in_the_end(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path, fault: str
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = [fault]

    assert transfer.file(url, tmp_path / "part") is None

    assert sha256((tmp_path / "part").read_bytes()).digest() == sha256(_CONTENT).digest()


@pytest.mark.parametrize("fault", [name for name in FAULTS if name not in UNSEEN | {"squeezed"}])
def test_a_server_that_always_breaks_is_given_up_with_a_reason(
    site: ReleaseSite, transfer: Transfer, tmp_path: Path, fault: str
) -> None:
    url = site.publish("/kubectl", _CONTENT)
    site.faults["/kubectl"] = [fault] * 100

    trouble = transfer.file(url, tmp_path / "part")

    assert isinstance(trouble, Trouble)
    assert trouble.host == "127.0.0.1"
    part = tmp_path / "part"
    assert not part.exists() or part.stat().st_size <= _LARGEST
