"""A page as one file: what strangers have named stays text, and nothing but the page's own script runs."""

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser

import msgspec
import pytest

from kwokctl.measure.pages.join import PageParts, html, policy, read_parts, safe_json
from kwokctl.measure.pages.page_data import PageData, PageSection, PageVerdict, TextItem

PARTS = PageParts(
    markup="<!doctype html><head><!-- css --></head><body><!-- data --><!-- js --></body>",
    css="p { color: red }",
    js='"use strict"; start();',
)
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "</ScRiPt >",
    "<!-- js -->",
    "<!-- css -->",
    "<!--<script>",
    "]]>",
    "'\"`&amp;\\",
    "\u2028\u2029",
    "${x} \\1 \\g<0>",
)


class Elements(HTMLParser):
    """The elements of a page, and the texts of its scripts and its style."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, str] = {}
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        self._within = "data" if ("id", "page-data") in attrs else tag

    def handle_data(self, data: str) -> None:
        self.texts[self._within] = self.texts.get(self._within, "") + data


def page(*texts: str) -> PageData:
    item = TextItem(id="names", title="Names", lines=texts)
    return PageData(
        kind="run",
        title=texts[0],
        verdict=PageVerdict(text="PASSED"),
        sections=[PageSection(id="all", title="All", items=[item])],
    )


def elements(written: str) -> Elements:
    found = Elements()
    found.feed(written)
    found.close()
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_makes_no_element_and_is_read_back_as_it_was(text: str) -> None:
    found = elements(html(page(text), PARTS))

    assert found.names == ["head", "meta", "style", "body", "script", "script"]
    read = msgspec.json.decode(found.texts["data"], type=PageData)
    assert (read.title, read.sections[0].items[0]) == (
        text,
        TextItem(id="names", title="Names", lines=[text]),
    )
    assert not re.search("[<>&\u2028\u2029]", found.texts["data"])


@pytest.mark.parametrize("code", [0x202E, 0x2066, 0x200F, 0x061C, 0x200B, 0xFEFF, 0x00AD, 0x85])
def test_characters_that_hide_or_reorder_text_are_shown(code: int) -> None:
    written = html(page(f"a{chr(code)}b"), PARTS)

    assert chr(code) not in written
    assert f"a⟨U+{code:04X}⟩b" in written


def test_names_in_other_scripts_stay_as_they_are() -> None:
    assert '"قطر — 東京 — é 🚀"' in safe_json(page("قطر — 東京 — é 🚀"))


def test_the_policy_allows_the_style_and_the_script_of_the_page_and_no_network() -> None:
    found = elements(html(page("x"), PARTS))

    def allowed(text: str) -> str:
        return b64encode(hashlib.sha256(text.encode()).digest()).decode()

    content = dict(found.attributes)["content"]
    assert content == (
        f"default-src 'none'; style-src 'sha256-{allowed(found.texts['style'])}'; "
        f"script-src 'sha256-{allowed(found.texts['script'])}'; base-uri 'none'; form-action 'none'"
    )


def test_a_server_sends_the_policy_itself_and_allows_itself() -> None:
    written = html(page("x"), PARTS, has_policy=False)

    assert "Content-Security-Policy" not in written
    assert "; connect-src 'self';" in policy(PARTS, connects=True)
    assert "connect-src" not in policy(PARTS)


def test_the_front_end_has_no_code_in_attributes_and_loads_nothing() -> None:
    parts = read_parts()
    found = elements(html(page("x"), parts))

    handlers = [name for name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert handlers == []
    assert {"link", "img", "iframe", "base", "form"} & {*found.names} == set()
    assert "src" not in dict(found.attributes)
    for banned in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
    ):
        assert banned not in parts.js
    assert not re.search(r"url\(|@import", parts.css)


def test_a_live_page_has_one_more_script() -> None:
    assert read_parts().js == read_parts(live=False).js
