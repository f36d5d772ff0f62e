import re
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from kwokctl import __version__
from tests.support.outside import run

pytestmark = [
    pytest.mark.packaging,
    pytest.mark.network,
    pytest.mark.timeout(600),
]

RENDER = """
import time
from kwokctl import assets
from kwokctl.clusters.scaling.objects.render import Renderer
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.clusters.state.resource_templates import find_template, load_templates
template = find_template(load_templates(()), "node")
node = Renderer(template, ScaleRequest(kind="node"), time.time).stamp(7)
print(node["metadata"]["name"], assets.root())
"""


def names_in(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_brings_two_names_and_the_data(wheel: Path) -> None:
    names = names_in(wheel)

    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"kwokctl", "runtimes"}
    assert "kwokctl/templates/objects/node.yaml" in names
    assert "kwokctl/py.typed" in names


def test_the_wheel_holds_every_file_of_the_checkout_and_no_more(wheel: Path) -> None:
    root = Path(__file__).parents[2]
    source = {
        str(path.relative_to(root))
        for folder in ("kwokctl", "runtimes")
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    data = {
        f"kwokctl/{path.relative_to(root)}"
        for path in (root / "templates").rglob("*")
        if path.is_file()
    }

    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == source | data


def test_the_sdist_brings_tests_and_documents_but_no_caches(wheel: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = ["/".join(name.split("/")[1:]) for name in archive.getnames()]

    assert {"Makefile", "tests/conftest.py", "docs/tutorial.md", "LICENSE"} <= set(names)
    assert not [name for name in names if re.search(r"_cache/|__pycache__|\.venv/", name)]


def test_an_index_would_take_both_and_show_the_readme(wheel: Path, twine: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")

    said = run(twine, "check", "--strict", wheel, sdist)

    assert said.count("PASSED") == 2, said


def test_the_installed_command_shows_its_version_from_any_folder(by_pip: Path) -> None:
    line = run(by_pip / "kwokctl", "--version", cwd=Path("/"))

    assert line.startswith(f"kwokctl version v{__version__} ")


def test_the_installed_package_finds_and_renders_its_templates(by_pip: Path) -> None:
    name, root = run(by_pip / "python", "-c", RENDER, cwd=Path("/")).split()

    assert name == "node-000007"
    assert Path(root).is_relative_to(by_pip.parent)


def test_a_folder_called_runtimes_in_the_working_directory_shadows_nothing(
    by_pip: Path, tmp_path: Path
) -> None:
    (tmp_path / "runtimes").mkdir()
    (tmp_path / "runtimes" / "__init__.py").write_text("raise SystemExit('shadowed')\n")

    line = run(by_pip / "python", "-m", "kwokctl", "--version", cwd=tmp_path)

    assert line.startswith("kwokctl version")
    # Reads the runtimes: their names are part of the help.
    run(
        by_pip / "python",
        "-m",
        "kwokctl",
        "get",
        "clusters",
        cwd=tmp_path,
        settings={"HOME": str(tmp_path)},
    )


def test_pipx_installs_the_wheel(by_pipx: Path) -> None:
    assert run(by_pipx / "kwokctl", "--version", cwd=Path("/")).startswith("kwokctl version")
    assert "create" in run(by_pipx / "kwokctl", "--help", cwd=Path("/"))
