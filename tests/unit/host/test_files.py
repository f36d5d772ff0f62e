from pathlib import Path

import pytest

from kwokctl.host.files import naming, write_atomic
from kwokctl.host.noted_locks import lock_owner, locked, turn
from tests.support.full_disk import full_disk


async def test_a_lock_is_held_on_a_full_disk_without_saying_by_whom(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    with full_disk(), locked(path, what="it"):
        assert lock_owner(path) == ""
    with full_disk():
        async with turn(path, doing="stopping", waiting=lambda _: None):
            assert lock_owner(path) == ""

    with locked(path, what="it"):
        assert lock_owner(path)


def test_a_file_that_the_disk_has_no_room_for_is_named_and_the_old_one_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kwok.yaml"
    path.write_text("old")

    with full_disk(), pytest.raises(OSError, match="too large") as caught:
        write_atomic(path, "new")

    assert caught.value.filename == str(path)
    assert [f.name for f in tmp_path.iterdir()] == ["kwok.yaml"]
    assert path.read_text() == "old"


def test_an_error_that_is_not_of_the_disk_is_not_blamed_on_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError) as caught, naming(tmp_path / "part"):
        raise ConnectionResetError(104, "reset")

    assert caught.value.filename is None


async def test_no_other_user_can_open_a_lock_and_so_hold_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch(mode=0o644)

    for path in (old, new):
        with locked(path, what="it"):
            assert path.stat().st_mode & 0o777 == 0o600
        async with turn(path, doing="stopping", waiting=lambda _: None):
            assert path.stat().st_mode & 0o777 == 0o600
