"""The HTML of a run in a notebook: nothing of the page, and no name, gets out of its place."""

from html import unescape
from html.parser import HTMLParser

import pytest

from kwokctl.library.measuring.notebook import notebook_html
from kwokctl.measure.pages.join import PageParts, html
from kwokctl.measure.pages.page_data import HeadlineFigure, PageData, PageVerdict

PARTS = PageParts(
    markup='<html><!-- css --><body class="x"><!-- data --><!-- js --></body></html>',
    css="body { color: red }",
    js="document.title = 'x' + \"y\"",
)
NAMES = ("<script>alert(1)</script>", "</script>", "'\"><b>", "\u202egnp.exe", "a & b")


class Elements(HTMLParser):
    """The elements outside of the frame, with their attributes, and the text between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.frame: dict[str, str | None] = {}
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        if tag == "iframe":
            self.frame = dict(attrs)
        else:
            assert attrs == []

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


def page(name: str) -> PageData:
    return PageData(
        kind="run",
        title=name,
        subtitle=f"of {name}",
        verdict=PageVerdict(text="PASSED", notes=(name,)),
        headline=[HeadlineFigure(name=name, value="5.00", unit="s")],
        conditions=[],
        sections=[],
        bands=[],
    )


@pytest.mark.parametrize("name", NAMES)
def test_names_are_texts_and_the_page_is_in_a_frame_without_the_rights_of_the_notebook(
    name: str,
) -> None:
    found = Elements(notebook_html(page(name), PARTS))

    assert found.tags == ["div", "p", "b", "br", "table", "tbody", "tr", "th", "td", "iframe"]
    assert found.frame["srcdoc"] == html(page(name), PARTS)
    assert found.frame["sandbox"] == "allow-scripts allow-downloads"
    seen = name.replace("\u202e", "⟨U+202E⟩")
    assert found.text == f"PASSED: of {seen}{seen}{seen}5.00 s"
    assert found.frame["title"] == seen
    assert "\u202e" not in unescape(notebook_html(page(name), PARTS))
