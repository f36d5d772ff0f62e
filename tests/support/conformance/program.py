"""The programs e2e.test and ginkgo, built once from the Go modules of a release and kept in the cache folder."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from fcntl import LOCK_EX, flock
from pathlib import Path

from kwokctl.artifacts.builds import gomod, toolchain

_MODULE = "k8s.io/kubernetes"
_SUITE = f"{_MODULE}/test/e2e"
_RUNNER = "github.com/onsi/ginkgo/v2/ginkgo"
_STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


class NotBuiltError(Exception):
    """A program is not there, and this is why it was not built."""


def built(version: str, cache: Path) -> Path:
    """Return the folder of the programs for a release such as v1.36.3, built unless they are there."""
    folder = cache / "tests" / f"e2e-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not (folder / "e2e.test").exists() or not (folder / "ginkgo").exists():
            _build(version, folder)
    return folder


def _build(version: str, folder: Path) -> None:
    if shutil.which("go") is None:
        raise NotBuiltError("e2e.test is built with Go, which is not on PATH")
    answer = _go(folder, "mod", "download", "-json", f"{_MODULE}@{version}")
    published = Path(json.loads(answer)["GoMod"]).read_text(encoding="utf-8")
    scratch = gomod.scratch({_MODULE: published}, version=version)
    (folder / "go.mod").write_text(scratch, encoding="utf-8")
    _go(folder, "get", "-t", f"{_SUITE}@{version}")
    # With the flags of our own builds: what the components consist of is compiled already.
    flags = ("-mod=mod", "-trimpath", "-ldflags", gomod.linker_flags(version, _STAMPED))
    _go(folder, "build", *flags, "-o", "ginkgo", _RUNNER)
    _go(folder, "test", "-c", "-vet=off", *flags, "-o", "made", _SUITE)
    (folder / "made").rename(folder / "e2e.test")


def _go(folder: Path, *words: str) -> str:
    more: Mapping[str, str] = {**toolchain.ALONE, "CGO_ENABLED": "0"}
    done = subprocess.run(
        ["go", *words], cwd=folder, env={**os.environ, **more},
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise NotBuiltError(f"'go {words[0]}' has failed; it says above why")
    return done.stdout
