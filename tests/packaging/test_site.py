"""The site of the documentation, as `make docs` builds it."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt

from docs import build_site
from docs.site import places, samples
from kwokctl import __version__
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
OWN = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
LOADING = {"embed", "iframe", "img", "link", "script", "source", "video"}
"""Elements whose addresses a browser loads by itself; an `a` waits for a click."""
COMPARED = ("h1", "h2", "h3", "h4", "p", "ul", "ol", "li", "table", "tr", "pre", "img", "strong")


class Elements(HTMLParser):
    """The elements of a page: their names, ids, and addresses."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.addresses: list[tuple[str, str]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            elif name in {"href", "src"} and value:
                self.addresses.append((tag, value))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a site that was built without a complaint."""
    built = build_site.build(tmp_path_factory.mktemp("docs"))
    assert built
    return built


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Elements]:
    return {file: Elements(file) for file in sorted(site.rglob("*.html"))}


def html_of(site: Path, source: Path) -> Path:
    page = site / source.relative_to(site.parent / "site-source/pages").with_suffix(".html")
    return page.with_name("index.html") if page.stem == "README" else page


def sources(site: Path) -> list[Path]:
    return sorted((site.parent / "site-source/pages").rglob("*.md"))


def test_each_page_of_the_documentation_is_in_the_site(site: Path) -> None:
    assert len(sources(site)) > len(OWN) > 150
    assert [page for page in sources(site) if not html_of(site, page).is_file()] == []


def test_each_page_is_in_the_navigation(site: Path) -> None:
    configuration = (site.parent / "site-source/mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": (\S+\.md)$|- (\S+\.md)$", configuration, re.MULTILINE)
    named = Counter(one or other for one, other in listed)
    names = [
        page.relative_to(site.parent / "site-source/pages").as_posix() for page in sources(site)
    ]

    # Files of the repository that pages show are reached from there.
    missing = [name for name in names if not named[name] and not name.startswith("files/")]
    assert missing == []
    assert [name for name, times in named.items() if times > 1] == []


def test_each_link_of_each_page_leads_to_a_file_and_an_element(pages: dict[Path, Elements]) -> None:
    assert [
        f"{page}: {link}" for page, found in pages.items() for link in lost(page, found, pages)
    ] == []


def lost(page: Path, found: Elements, pages: dict[Path, Elements]) -> Iterator[str]:
    for _, address in found.addresses:
        parts = urlsplit(address)
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        # A page that is not found is shown for addresses at any depth, so its own links begin at the root.
        if parts.scheme or page.name == "404.html":
            continue
        ids = pages[target].ids if target in pages else set()
        if not target.is_file() or (
            target in pages and parts.fragment and parts.fragment not in ids
        ):
            yield address


def test_no_page_loads_anything_from_a_network(site: Path, pages: dict[Path, Elements]) -> None:
    loaded = [
        f"{page.name}: {tag} {address}"
        for page, found in pages.items()
        for tag, address in found.addresses
        if tag in LOADING
        and (urlsplit(address).scheme in {"http", "https"} or address.startswith("//"))
    ]
    styles = {file: file.read_text(encoding="utf-8") for file in site.rglob("*.css")}
    from_styles = [
        f"{file.name}: {address}"
        for file, text in styles.items()
        for address in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]*)", text)
    ]

    assert len(styles) > 1
    assert loaded + from_styles == []


def test_each_page_says_in_the_same_parts_what_it_says_elsewhere(site: Path) -> None:
    """mkdocs has a dialect of its own: a list after a line of text is no list there, for instance."""
    elsewhere = MarkdownIt("commonmark").enable("table")
    differing = {}
    for source in OWN:
        path = places.in_site(source.relative_to(ROOT).as_posix())
        page = html_of(site, site.parent / "site-source/pages" / path)
        article = page.read_text(encoding="utf-8").partition("<article")[2]
        found = read(article.partition(">")[2].partition("</article>")[0])
        wanted = read(elsewhere.render(source.read_text(encoding="utf-8")))
        if found != wanted:
            differing[path] = [
                each for each in zip(found, wanted, strict=False) if len({*each}) > 1
            ]

    assert differing == {}


def read(text: str) -> list[str]:
    """Return the marks of the parts of a text and the words between them, each without white space."""
    own = r'<a class="headerlink".*?</a>|<!--.*?-->'
    marked = re.sub(
        rf"<(/?(?:{'|'.join(COMPARED)}))\b[^>]*>", "\0\\1\0", re.sub(own, "", text, flags=re.DOTALL)
    )
    whole = html.unescape(re.sub(r"<[^>]*>", "", marked))
    return [word for part in whole.split("\0") if (word := re.sub(r"\s+", "", part))]


def test_the_search_finds_commands_decisions_and_sections(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_bytes())
    titles = [re.sub("<.*?>", "", each["title"]) for each in index["docs"]]

    assert {"kwokctl create cluster", "Two commands", "Glossary"} <= set(titles)
    assert any(title.startswith("134. ") for title in titles)


def test_sample_reports_are_in_the_site_and_shown_in_its_page(
    site: Path, pages: dict[Path, Elements]
) -> None:
    reports = [site / (samples.report_of(path) or "") for path in samples.SAMPLES]
    shown = [
        address for tag, address in pages[site / "samples/index.html"].addresses if tag == "iframe"
    ]

    assert shown == [report.name for report in reports]
    assert all('id="page-data"' in report.read_text(encoding="utf-8") for report in reports)


def test_each_page_names_the_versions_of_the_commands(pages: dict[Path, Elements]) -> None:
    text = f"kwokctl {__version__}; it creates clusters of Kubernetes {DEFAULT_KUBE_VERSION}"
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    without = [
        page.name for page, whole in texts.items() if "<article" in whole and text not in whole
    ]

    assert without == []
