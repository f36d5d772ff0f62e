"""The snapshot of a fork is nobody else's, and is not left by a run that was killed."""

import subprocess
import sys
from pathlib import Path

from kwokctl.clusters.forking.content import snapshot_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from kwokctl.clusters.forking.content import snapshot_folder
with snapshot_folder(Path(sys.argv[1])) as folder:
    (folder / "source.db").write_text("secret")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_is_its_owner_s_alone_and_goes_with_its_use(tmp_path: Path) -> None:
    with snapshot_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_has_left_is_removed_and_what_another_uses_stays(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()

    with snapshot_folder(tmp_path) as first, snapshot_folder(tmp_path) as second:
        assert {*tmp_path.iterdir()} == {first, second}
        assert left not in {first, second}
