import csv
import stat
from pathlib import Path

from kwokctl.host.tokens import ensure_tokens
from kwokctl.model import Identity

ADMIN = Identity(name="admin", common_name="kwok-admin", organizations=("system:masters", "b"))
OTHER = Identity(name="kcm", common_name="system:kube-controller-manager")


def test_each_identity_has_its_own_line_and_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"

    tokens = ensure_tokens(path, [ADMIN, OTHER])

    assert list(csv.reader(path.read_text().splitlines())) == [
        [tokens["admin"], "kwok-admin", "admin", "system:masters,b"],
        [tokens["kcm"], "system:kube-controller-manager", "kcm", ""],
    ]
    assert len(set(tokens.values())) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_tokens_stay_when_the_file_is_requested_again(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    tokens = ensure_tokens(path, [ADMIN])

    again = ensure_tokens(path, [ADMIN, OTHER])

    assert again["admin"] == tokens["admin"]


def test_a_garbled_file_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text("no tokens here\n")

    tokens = ensure_tokens(path, [ADMIN])

    assert tokens["admin"] in path.read_text()
