"""axe-core, which finds what people with disabilities could not use: fetched by npm, pinned, and kept in the cache folder."""

import hashlib
import os
import pwd
import shutil
import subprocess
import tarfile
import tempfile
from base64 import b64encode
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.support.browsers import unavailable

VERSION = "4.14.1"
INTEGRITY = "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
"""That of npm's package."""
_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
"""The user's own home folder: what was fetched is kept between runs."""
_PATIENCE = 120.0
_SCRIPT = "package/axe.min.js"
_RUN = "() => axe.run(document, {resultTypes: ['violations']})"


def script() -> str:
    """Return the text of axe-core; skips the test where it is not there and cannot be fetched."""
    folder = _HOME / ".cache" / "kwokctl" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"axe-core-{VERSION}.tgz"
    with (folder / f"{archive.name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not archive.exists():
            _fetch(archive)
    if (found := _integrity(archive)) != INTEGRITY:
        archive.unlink()
        raise AssertionError(f"axe-core {VERSION} from npm is not what it was: {found}")
    with tarfile.open(archive) as files:
        member = files.extractfile(_SCRIPT)
        assert member is not None
        return member.read().decode()


def serious(page: Page, axe: str) -> list[str]:
    """Return what axe finds that is serious or worse, with its places."""
    # The page's own policy forbids scripts that are added to its document: this one comes through the debugger.
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate(_RUN)
    return [
        f"{each['id']}: {each['help']} at {node['target']}: {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in {"serious", "critical"}
        for node in each["nodes"][:5]
    ]


def _fetch(archive: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        unavailable("axe-core is fetched by npm, which is not installed")
    environment = {**os.environ, "HOME": str(_HOME)}
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        done = subprocess.run(
            [npm, "pack", f"axe-core@{VERSION}", "--ignore-scripts", "--pack-destination", folder],
            cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE,
        )  # fmt: skip
        if done.returncode:
            unavailable(f"axe-core cannot be fetched: {done.stderr.strip()[-300:]}")
        Path(folder, archive.name).replace(archive)


def _integrity(file: Path) -> str:
    return f"sha512-{b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()}"
