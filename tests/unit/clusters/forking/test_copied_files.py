"""A fork has the authorities of its source, and nothing else of its credentials."""

from pathlib import Path

from kwokctl.clusters.forking.copied_files import copy_authorities

FILES = ("ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub")
OTHERS = ("admin.crt", "admin.key", "tokens.csv", "kube-apiserver.key", "front-proxy-client.key")


def test_only_authorities_and_the_key_of_tokens_are_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in (*FILES, *OTHERS):
        (source / name).write_text(name)
        (source / name).chmod(0o600)

    copy_authorities(source, target)

    assert sorted(path.name for path in target.iterdir()) == sorted(FILES)
    assert {path.stat().st_mode & 0o077 for path in (target, *target.iterdir())} == {0}
