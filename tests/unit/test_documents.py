"""Documents that say what the code says too must say the same."""

import html
import re
import runpy
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import links
from kwokctl import errors
from kwokctl.artifacts import node_images, versions
from kwokctl.components import kubernetes_releases
from kwokctl.components.catalog import usual_options
from kwokctl.config.options import spellings
from kwokctl.config.version_checks import OLDEST_MINOR

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_a_link_that_leads_nowhere_is_named_with_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    headings = "# A `page`: [one](page.md)\n\n```\n# no heading, and [no link](x.md)\n```\n\n"
    found = ["#a-page-one", "page.md#twice", "#twice-1", "page.md", "https://example.org/x.md"]
    lost = ["#no-heading", "#twice-2", "page.md#once", "other.md", "lines.txt#l2"]
    (tmp_path / "lines.txt").touch()
    lines = "".join(f"[a `word`]({link})\n" for link in found + lost)
    page.write_text(f"{headings}## Twice\n\n## Twice\n{lines}", encoding="utf-8")

    first = 10 + len(found)
    assert list(links.lost(page)) == [f"{first + n}: {link}" for n, link in enumerate(lost)]


def test_the_architecture_names_the_floors_in_the_order_of_the_contracts() -> None:
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    floors = next(c["layers"] for c in contracts if c["type"] == "layers")

    written = re.findall(r"^\*\*(.+?)\*\*", text("docs/explanation/architecture.md"), re.MULTILINE)

    assert written == floors


def test_every_variable_and_key_of_an_option_is_documented() -> None:
    page = text("docs/reference/environment.md")
    words = [word for s in spellings(usual_options()) for word in (s.env, s.key) if word]

    assert [word for word in words if f"`{word}`" not in page] == []


def test_every_error_id_is_documented_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", text("docs/reference/errors.md"), re.MULTILINE)

    assert sorted(rows) == sorted({error.id for _, error in tree(errors.KwokctlError)})


def test_the_tree_of_errors_is_the_one_that_its_module_draws() -> None:
    drawn = re.findall(r"^ {4}([ │├└─]*)(\w+Error) ", errors.__doc__ or "", re.MULTILINE)

    assert {(len(indent) // 4, name) for indent, name in drawn} == {
        (depth, error.__name__) for depth, error in tree(errors.KwokctlError)
    }


@pytest.mark.parametrize("package", ["kwokctl", "runtimes"])
def test_errors_get_their_ids_in_one_module(package: str) -> None:
    files = {str(p.relative_to(ROOT)): p.read_text("utf-8") for p in (ROOT / package).rglob("*.py")}
    given = [
        name
        for name, source in files.items()
        if re.search(r"^class \w*Error\(.*\):\n(?:.*\n)*?    id: ", source, re.MULTILINE)
    ]

    assert given == [f"{package}/errors.py"] * (package == "kwokctl")


def tree(
    error: type[errors.KwokctlError], depth: int = 0
) -> Iterator[tuple[int, type[errors.KwokctlError]]]:
    """Yield the errors of the module with their depths in the tree, an error before those below it."""
    yield depth, error
    for each in error.__subclasses__():
        if each.__module__ == errors.__name__:
            yield from tree(each, depth + 1)


@pytest.mark.parametrize(
    "record", sorted(ROOT.glob("docs/adr/0*.md")), ids=lambda path: path.stem[:4]
)
def test_a_decision_record_begins_with_an_example_and_fits_on_a_page(record: Path) -> None:
    lines = record.read_text(encoding="utf-8").splitlines()
    headings = [line for line in lines if line.startswith("## ")]

    assert headings == ["## Example", "## Context", "## Decision", "## Consequences"]
    assert lines[0].startswith(f"# {int(record.name[:4])}. ")
    assert len(lines) <= 60


def test_the_makefile_s_targets_are_listed_by_the_first_of_them() -> None:
    targets = re.findall(r"^([a-z0-9]+):.*## ", text("Makefile"), re.MULTILINE)

    wanted = [
        "dev",
        "fmt",
        "check",
        "unit",
        "test",
        "contract",
        "e2e",
        "bench",
        "golden",
        "docs",
        "build",
        "smoke",
        "clean",
    ]
    assert set(wanted) <= set(targets)


def test_the_list_of_the_makefile_s_targets_fits_a_terminal() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    lines = done.stdout.splitlines()
    assert len(lines) > 15
    assert [line for line in lines if len(line) > 80] == []


def rows(section: str) -> list[tuple[str, ...]]:
    """Return the rows of the tables in a section of the page on versions."""
    page = text("docs/reference/versions.md")
    body = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ") for line in body.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line.split("|")) for line in lines[1:]]


def minors(words: str) -> range:
    """Read `1.31 to 1.33`, or `1.34 and later`, which ends at a release that is still to come."""
    found = [int(minor) for minor in re.findall(r"\b1\.(\d+)", words)]
    last = found[-1] if " to " in words else found[0] + 20
    return range(found[0], last + 1)


def test_the_page_on_versions_names_the_etcd_of_each_kubernetes() -> None:
    written = {
        minor: etcd for words, etcd in rows("Kubernetes and etcd") for minor in minors(words)
    }

    assert min(written) == OLDEST_MINOR
    assert written == {minor: versions.etcd_version(f"v1.{minor}.0") for minor in written}
    assert f"Kubernetes `{versions.DEFAULT_KUBE_VERSION}`" in text("docs/reference/versions.md")
    assert re.search(rf"from\s+1\.{OLDEST_MINOR} on", text("docs/reference/versions.md"))


def test_the_page_on_versions_names_what_came_with_a_release_of_kubernetes() -> None:
    first = {
        since.minor for flags in kubernetes_releases._FLAGS.values() for since in flags.values()
    }
    first |= {since.minor for since in kubernetes_releases._READYZ.values()}

    named = rows("What follows the release of Kubernetes")

    assert {minors(words).start for words, _ in named} == first


def test_the_page_on_versions_names_the_node_images_of_kind() -> None:
    written = {kind: [f"v{kube}" for kube in kubes.split(", ")] for kind, kubes in rows("kind")}

    assert written == {kind: list(images) for kind, images in node_images._PUBLISHED.items()}
    assert f"kind `{versions.DEFAULT_KIND_VERSION}`" in text("docs/reference/versions.md")


def test_the_page_on_versions_names_the_pythons_of_the_package() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    [supported] = [cells[1] for cells in rows("Python and the machine") if cells[0] == "Python"]

    assert supported.split(", ") == declared
    assert project["requires-python"] == f">={declared[0]}"


def test_the_index_of_the_documentation_lists_every_page() -> None:
    index = text("docs/README.md")
    folders = ("explanation", "how-to", "reference")
    pages = [page for folder in folders for page in ROOT.glob(f"docs/{folder}/*.md")]

    names = [f"{page.parent.name}/{page.name}" for page in pages]
    assert [name for name in sorted(names) if f"]({name})" not in index] == []


def test_the_map_of_the_code_names_files_and_packages_that_exist() -> None:
    page = text("docs/explanation/code-map.md")
    paths = re.findall(r"`([\w-]+/[\w/-]*(?:\.\w+|/))`", page)
    missing = [
        path for path in paths if not any((ROOT / top / path).exists() for top in ("", "kwokctl"))
    ]

    assert len(paths) >= 300
    assert missing == []


@pytest.mark.parametrize(
    ("file", "page"),
    [
        ("terminal.svg", "README.md"),
        ("terminal-faults.svg", "docs/how-to/test-the-resilience-of-a-fleet.md"),
    ],
)
def test_a_picture_of_a_terminal_shows_the_commands_that_its_script_records(
    file: str, page: str
) -> None:
    script = runpy.run_path(str(ROOT / "docs/record_terminal.py"), run_name="recorder")
    recording = script["RECORDINGS"][file]
    shown = html.unescape(text(f"docs/{file}")).replace("\xa0", " ")

    assert [command for command in recording.commands if command not in shown] == []
    assert f"<title>{recording.title}</title>" in shown
    assert f"/{file})" in text(page)
