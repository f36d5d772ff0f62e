""""""

from pathlib import Path

import pytest

from kwokctl.etcd.bolt import DamagedFileError
from kwokctl.etcd.database_contents import has_key, last_revision, look
from tests.support.bolt_file import PAGE, database

KUBERNETES = ["/registry/namespaces/kube-system", "/registry/pods/default/a", "/registry/x"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "db"


@pytest.mark.parametrize("per_leaf", [1, 2, 100], ids=["deep", "flat", "inlined"])
def test_keys_under_a_prefix_are_found(path: Path, per_leaf: int) -> None:
    path.write_bytes(database(["foo", *KUBERNETES], per_leaf=per_leaf))

    assert look(path, "/registry") is None
    assert look(path, "/reg") == ("/registry",)
    assert last_revision(path) == 4


def test_what_was_only_deleted_is_not_there(path: Path) -> None:
    path.write_bytes(database(["foo"], deleted=["/registry/pods/default/a"]))

    assert look(path, "/registry") == ()
    assert last_revision(path) == 2


def test_a_key_is_found_by_its_whole_name(path: Path) -> None:
    path.write_bytes(database(KUBERNETES))

    assert has_key(path, "/registry/pods/default/a")
    assert not has_key(path, "/registry/pods/default")


def test_an_etcd_without_keys_has_no_revision(path: Path) -> None:
    path.write_bytes(database([]))

    assert look(path, "/registry") == ()
    assert last_revision(path) == 0


@pytest.mark.parametrize("page", range(2, 9))
@pytest.mark.parametrize("fill", [b"\0", b"\xff"], ids=["zeros", "ones"])
def test_a_damaged_page_is_never_more_than_an_error(path: Path, page: int, fill: bytes) -> None:
    whole = database(["foo", *KUBERNETES, "bar", "baz"], per_leaf=2)
    assert len(whole) == 8 * PAGE
    path.write_bytes(whole[: page * PAGE] + fill * PAGE + whole[(page + 1) * PAGE :])

    if page in (3, 8):
        # Of the free pages, and beyond the end.
        assert last_revision(path) == 6
        return
    with pytest.raises(DamagedFileError):
        look(path, "/elsewhere")


def test_a_damaged_meta_page_is_replaced_by_the_other(path: Path) -> None:
    whole = bytearray(database(KUBERNETES))
    whole[16 + 48] ^= 0xFF
    whole[PAGE : 2 * PAGE] = database(KUBERNETES)[:PAGE]
    path.write_bytes(whole)

    assert look(path, "/registry") is None
    path.write_bytes(bytes(2 * PAGE))
    with pytest.raises(DamagedFileError, match="no meta page"):
        look(path, "/registry")


def test_pages_that_refer_to_each_other_are_damage(path: Path) -> None:
    whole = bytearray(database(KUBERNETES, per_leaf=1))
    # The branch is the last page: let its first child be itself.
    branch = len(whole) // PAGE - 1
    whole[branch * PAGE + 16 + 8 : branch * PAGE + 16 + 16] = branch.to_bytes(8, "little")
    path.write_bytes(whole)

    with pytest.raises(DamagedFileError, match="cycle"):
        look(path, "/registry")
