"""The distribution as users get it: built once, from the sdist to the wheel."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
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
    # The build of the wheel shows that what `pyproject.toml` requires for it suffices: once is enough.
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, _ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def requirements(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Fetch and build once what is installed several times; return the settings with which pip finds it.

    pipx is one of it, with the pip that it installs for itself.
    """
    folder = tmp_path_factory.mktemp("requirements")
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", "--quiet", "--wheel-dir", folder, wheel, "pipx", "pip")
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}
