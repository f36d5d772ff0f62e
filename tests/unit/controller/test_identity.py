from pathlib import Path

from kwokctl.controller.identity import Identity


def test_without_a_file_every_process_is_somebody_else() -> None:
    assert Identity(None).name != Identity(None).name


def test_with_a_file_the_identity_outlives_the_process(tmp_path: Path) -> None:
    first = Identity(tmp_path / "folder" / "identity")
    name = first.name
    first.close()

    second = Identity(tmp_path / "folder" / "identity")
    second.close()

    assert second.name == name


def test_two_processes_never_share_an_identity(tmp_path: Path) -> None:
    first = Identity(tmp_path / "identity")
    second = Identity(tmp_path / "identity")
    first.close()
    second.close()

    assert first.name != second.name
