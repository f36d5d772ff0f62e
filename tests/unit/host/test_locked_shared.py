from pathlib import Path

import pytest

from kwokctl.errors import BusyError
from kwokctl.host.noted_locks import is_locked, locked


def test_shared_holders_of_a_lock_do_not_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    with locked(path, what="it", shared=True), locked(path, what="it", shared=True):
        pass


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_an_exclusive_lock_is_shared_with_no_other_holder(
    tmp_path: Path, *, first: bool, second: bool
) -> None:
    path = tmp_path / "lock"

    with (
        locked(path, what="it", shared=first),
        pytest.raises(BusyError, match="it is in use by process"),
        locked(path, what="it", shared=second),
    ):
        pass


@pytest.mark.parametrize("shared", [True, False])
def test_whether_a_lock_is_held_is_seen_without_changing_it(
    tmp_path: Path, *, shared: bool
) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()

    with locked(path, what="it", shared=shared):
        assert is_locked(path)
    assert not is_locked(path)
