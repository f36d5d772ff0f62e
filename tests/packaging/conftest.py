"""The distribution as users get it: built once, from the sdist to the wheel."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.outside import run

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def _quick_installations() -> Iterator[None]:
    """Let pip compile nothing: a few commands are run in each environment, and each file is as good."""
    with pytest.MonkeyPatch.context() as environment:
        # What it takes for its flag `--no-compile`; it is the value for "no" that sets it.
        environment.setenv("PIP_NO_COMPILE", "no")
        yield


@pytest.fixture(scope="session")
def package_index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Need a package index that pip, as it is set up here, can reach."""
    target = tmp_path_factory.mktemp("index")
    pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(target))
    done = subprocess.run(
        [*pip, "hatchling"], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"no package index can be reached: {last}")


@pytest.fixture(scope="session")
def wheel(package_index: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist, and from it, as everybody else would, the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, _ROOT)
    (built,) = folder.glob("*.whl")
    return built
