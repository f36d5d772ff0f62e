import os
from pathlib import Path

import pytest

from kwokctl.errors import ConflictError
from kwokctl.host.files import private_folder, remove_private_folder

NOBODY = 65534


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of another user, as one may lie in a folder for temporary files."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        return folder
    link = tmp_path / "link"
    link.symlink_to("/")
    return link


def test_only_its_owner_can_enter_it(tmp_path: Path) -> None:
    folder = tmp_path / "parent" / "folder"
    for _ in range(2):
        assert private_folder(folder) == folder
        assert folder.stat().st_mode & 0o777 == 0o700
        folder.chmod(0o755)

    remove_private_folder(folder)
    remove_private_folder(folder)
    assert not folder.exists()


def test_a_folder_of_another_user_is_refused_and_left_alone(foreign: Path) -> None:
    before = foreign.stat()

    with pytest.raises(ConflictError, match=foreign.name) as caught:
        private_folder(foreign)
    remove_private_folder(foreign)

    assert "KWOK_WORKDIR" in str(caught.value.hint)
    assert foreign.stat().st_mode == before.st_mode


def test_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can make a link that is another user's")
    own, link = tmp_path / "own", tmp_path / "temporary" / "link"
    own.mkdir(mode=0o755)
    link.parent.mkdir()
    link.parent.chmod(0o1777)
    link.symlink_to(own)
    os.lchown(link, NOBODY, NOBODY)

    with pytest.raises(ConflictError, match="link"):
        private_folder(link)
    remove_private_folder(link)

    assert own.stat().st_mode & 0o777 == 0o755


def test_a_link_of_the_user_can_lead_to_another_disk(tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    elsewhere.mkdir(mode=0o755)
    link.symlink_to(elsewhere)

    private_folder(link)

    assert elsewhere.stat().st_mode & 0o777 == 0o700


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(ConflictError, match="file"):
        private_folder(file)
