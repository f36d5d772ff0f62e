"""Builds the documentation as a site in `build/site`, which can be opened from disk: `make docs`.

The pages of the repository are copied to `build/site-source`, with links as they are in the site. So the
program that makes HTML of them, mkdocs, gets plain Markdown and a navigation. A page that is missing in the
navigation, and a link that leads nowhere, are errors.
"""

import os
import shutil
import subprocess  # noqa: TID251 - mkdocs writes to the terminal of the caller
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from docs.site import navigation, places, samples
from kwokctl import __version__
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build"
_COPIED = {".css", ".js", ".json", ".png", ".sh", ".svg", ".yaml"}
"""Files beside pages that are published as they are."""
_READ_BY_PROGRAMS = ("docs/conformance.yaml", "docs/explanation/performance.json")
_ALWAYS = {"CHANGELOG.md", "CONTRIBUTING.md"}


def build(folder: Path) -> Path | None:
    """Build the site in the folder `site` of a folder, and return that; None if mkdocs has complained."""
    source = folder / "site-source"
    shutil.rmtree(source, ignore_errors=True)
    prepare(source)
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", "mkdocs.yml")
    # mkdocs-material's advice about its successor would be printed with each build; ADR 134 deals with it.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([sys.executable, *words], cwd=source, env=environment, check=False)
    return None if done.returncode else folder / "site"


def prepare(target: Path) -> None:
    """Write what mkdocs reads: pages, the files beside them, and the configuration."""
    pages = target / "pages"
    for path, text in _pages().items():
        _write(pages / path, text)
    for file in sorted((ROOT / places.FOLDER).rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if file.suffix in _COPIED and path not in _READ_BY_PROGRAMS and file.name != "mkdocs.yml":
            there = pages / places.in_site(path)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, there)
    samples.write_reports(ROOT, pages)
    _write(target / "mkdocs.yml", _configuration())


def _pages() -> dict[str, str]:
    """Return the text of each page by its path in the site."""
    own = {file.relative_to(ROOT).as_posix() for file in (ROOT / places.FOLDER).rglob("*.md")}
    linked = places.linked_files(ROOT) | _ALWAYS
    markdown = {path for path in linked if path.endswith(".md")} | own | {"README.md"}
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in markdown}
    moved = {path: places.as_in_site(text, path) for path, text in texts.items()}
    introduction = f"{samples.FOLDER}/README.md"
    moved[introduction] = samples.with_reports(moved[introduction])
    return {
        **{places.in_site(path): text for path, text in moved.items()},
        **{places.in_site(path): places.shown(ROOT, path) for path in linked - markdown},
    }


def _configuration() -> str:
    """Return the configuration of mkdocs, with what other files say: the navigation and the versions."""
    written = (Path(__file__).parent / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    found = {
        "copyright": f"kwokctl {__version__}; it creates clusters of Kubernetes {DEFAULT_KUBE_VERSION} "
        f"with etcd {etcd_version(DEFAULT_KUBE_VERSION)} unless you choose others.",
        "nav": navigation.tree(ROOT),
    }
    return f"{written}{yaml.safe_dump(found, sort_keys=False, allow_unicode=True)}"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """Build the site, and say where it is."""
    site = build(FOLDER)
    if site:
        sys.stderr.write(f"the site is in {site.relative_to(ROOT)}; open {site / 'index.html'}\n")
    return int(site is None)


if __name__ == "__main__":
    sys.exit(main())
