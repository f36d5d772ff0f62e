"""The distribution as users get it, built once for all lanes, and the ways in which they install it."""

import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.kept import kept
from tests.support.outside import run

COMPILING_NOTHING = {"PIP_NO_COMPILE": "no"}
"""What has pip leave modules as they are: compiling all takes half of an installation, and those that are used are compiled then.

It is what pip takes for its flag `--no-compile`, and the value for "no" sets that.
"""
_ROOT = Path(__file__).parents[2]
_PROJECT = _ROOT / "pyproject.toml"


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
def wheel(request: pytest.FixtureRequest) -> Path:
    """Return the wheel; the sdist from which it was built, as everybody else would, is beside it."""

    def build(folder: Path) -> None:
        request.getfixturevalue("package_index")
        # The build of the wheel shows that what `pyproject.toml` requires for it suffices: once is enough.
        run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, _ROOT)
        (sdist,) = folder.glob("*.tar.gz")
        pip = (sys.executable, "-m", "pip")
        run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, sdist)

    (built,) = kept("dist", [*_machine(), *_sources()], build).glob("*.whl")
    return built


@pytest.fixture(scope="session")
def requirements(request: pytest.FixtureRequest, wheel: Path) -> Mapping[str, str]:
    """Fetch and build once what is installed several times; return the settings with which pip finds it.

    pipx is one of it, with the pip that it installs for itself, and so is what builds an editable kwokctl.
    """
    project = _PROJECT.read_bytes()
    others = (
        "pipx",
        "pip",
        "editables",
        *tomllib.loads(project.decode())["build-system"]["requires"],
    )

    def fetch(folder: Path) -> None:
        request.getfixturevalue("package_index")
        pip = (sys.executable, "-m", "pip")
        run(*pip, "wheel", "--quiet", "--wheel-dir", folder, wheel, *others)
        (folder / wheel.name).unlink()

    folder = kept("requirements", [*_machine(), project, *map(str.encode, others)], fetch)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), **COMPILING_NOTHING}


@pytest.fixture(scope="session")
def by_pip(wheel: Path, requirements: Mapping[str, str]) -> Path:
    """Return where the commands are in an environment that holds the wheel and what it depends on, nothing else."""
    made_from = [wheel.read_bytes(), str(requirements).encode()]
    folder = kept("by-pip", made_from, lambda at: environment_with(at, wheel, requirements))
    return folder / "bin"


@pytest.fixture(scope="session")
def by_pipx(wheel: Path, requirements: Mapping[str, str]) -> Path:
    """Install the wheel with a pipx of its own, and return where the commands are."""

    def install(folder: Path) -> None:
        pipx = environment_with(folder / "pipx", "pipx", requirements) / "pipx"
        homes = {
            "PIPX_HOME": str(folder / "home"),
            "PIPX_BIN_DIR": str(folder / "bin"),
            "PIPX_MAN_DIR": str(folder / "man"),
        }
        run(pipx, "install", wheel, settings={**requirements, **homes})

    return kept("by-pipx", [wheel.read_bytes(), str(requirements).encode()], install) / "bin"


@pytest.fixture(scope="session")
def twine(request: pytest.FixtureRequest) -> Path:
    """Return the program that looks at distributions as an index does."""

    # Metadata 2.4, which names the license file, is known from 6.1 on.
    wanted = "twine>=6.1"

    def install(folder: Path) -> None:
        request.getfixturevalue("package_index")
        environment_with(folder, wanted, COMPILING_NOTHING)

    return kept("twine", [*_machine(), wanted.encode()], install) / "bin" / "twine"


def _machine() -> list[bytes]:
    """Return what decides, beside our files, what is made: the Python, and for a week what the index has."""
    week = datetime.now(UTC).strftime("%G-W%V")
    return [each.encode() for each in (sys.version, sys.base_prefix, week)]


def _sources() -> Iterator[bytes]:
    """Yield the name and the content of each file from which the sdist is built."""
    project = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    top = [each for each in _ROOT.iterdir() if each.is_file()]
    below = (each for name in included for each in (_ROOT / name).rglob("*") if each.is_file())
    for file in sorted({*top, *below}):
        if "__pycache__" not in file.parts:
            yield bytes(file.relative_to(_ROOT))
            yield file.read_bytes()


def environment_with(folder: Path, package: str | Path, settings: Mapping[str, str]) -> Path:
    """Make an environment that holds a package, and return where its commands are."""
    # Our pip does it: an own one takes longer to install than most packages.
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", package, settings=settings)
    return folder / "bin"


def unpack_sdist(folder: Path, wheel: Path) -> None:
    """Unpack into a folder what is in the sdist from which a wheel was built."""
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        for member in archive:
            # All is in one folder.
            inner = member.replace(name=member.name.partition("/")[2])
            archive.extract(inner, folder, filter="data")
