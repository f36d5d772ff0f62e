"""The distribution as users get it, built once a run, and the ways in which they install it."""

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.outside import run

COMPILING_NOTHING = {"PIP_NO_COMPILE": "no"}
"""What has pip leave modules as they are: compiling all takes half of an installation, and those that are used are compiled then.

It is what pip takes for its flag `--no-compile`, and the value for "no" sets that.
"""
_ROOT = Path(__file__).parents[2]


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
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), **COMPILING_NOTHING}


def environment_with(folder: Path, package: str | Path, settings: Mapping[str, str]) -> Path:
    """Make an environment that holds a package, and return where its commands are."""
    # Our pip does it: an own one takes longer to install than most packages.
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", package, settings=settings)
    return folder / "bin"


def installed_by_pipx(folder: Path, wheel: Path, settings: Mapping[str, str]) -> Path:
    """Install the wheel with a pipx of its own, and return where the commands are."""
    pipx = environment_with(folder / "pipx", "pipx", settings) / "pipx"
    homes = {
        "PIPX_HOME": str(folder / "home"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
    }
    run(pipx, "install", wheel, settings={**settings, **homes})
    return folder / "bin"


def unpacked_sdist(folder: Path, wheel: Path) -> Path:
    """Unpack the sdist from which a wheel was built, and return the folder of its files."""
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    return top
