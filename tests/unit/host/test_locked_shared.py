from pathlib import Path

import pytest

from kwokctl.errors import BusyError
from kwokctl.host.files import locked


def test_those_who_share_a_lock_do_not_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "lock"

    with locked(path, what="it", shared=True), locked(path, what="it", shared=True):
        pass


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (False, False)])
def test_who_wants_a_lock_for_himself_shares_with_nobody(
    tmp_path: Path, *, first: bool, second: bool
) -> None:
    path = tmp_path / "lock"

    with (
        locked(path, what="it", shared=first),
        pytest.raises(BusyError, match="it is in use by process"),
        locked(path, what="it", shared=second),
    ):
        pass
