"""Joins the document of a page and the parts of the front end into one HTML file.

The page has a Content-Security-Policy with the hashes of its style and its script: nothing else runs, and
nothing is loaded.
"""

import hashlib
from base64 import b64encode

import msgspec

from kwokctl import assets
from kwokctl.measure.pages.page_data import PageData

_FOLDER = "report"
_FIRST, _LIVE = "page.html", "live.js"
_LAST = "page.js"
"""It calls the others, so it follows them."""
_CSS, _JS, _DATA = "<!-- css -->", "<!-- js -->", "<!-- data -->"


def _hidden() -> dict[int, str]:
    """Return the characters that no reader sees, and that can make a name look like another."""
    bidi = (0x061C, *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    invisible = (0x00AD, *range(0x200B, 0x200E), *range(0x2060, 0x2066), 0xFEFF)
    controls = range(0x7F, 0xA0)
    return {each: f"⟨U+{each:04X}⟩" for each in (*bidi, *invisible, *controls)}


_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"} | _hidden()


class PageParts(msgspec.Struct, frozen=True, kw_only=True):
    """The files of the front end."""

    markup: str
    """With a place for each of the others and for the document."""
    css: str
    js: str


def read_parts(*, live: bool = False) -> PageParts:
    """Return the parts of `templates/report`; a page that is `live` has `live.js`, too."""
    folder = assets.path(_FOLDER)
    names = sorted(file.name for file in folder.glob("*.js") if file.name not in (_LAST, _LIVE))
    scripts = [*names, _LAST, *([_LIVE] if live else [])]
    return PageParts(
        markup=assets.text(f"{_FOLDER}/{_FIRST}"),
        css=assets.text(f"{_FOLDER}/page.css"),
        js="\n".join(assets.text(f"{_FOLDER}/{name}") for name in scripts),
    )


def html(page: PageData, parts: PageParts, *, has_policy: bool = True) -> str:
    """Return the page as one HTML file.

    Without `has_policy` the server that sends it has to send `policy` as a header.
    """
    head = f"<style>{parts.css}</style>"
    if has_policy:
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy(parts)}">\n{head}'
    data = f'<script type="application/json" id="page-data">{safe_json(page)}</script>'
    places = {_CSS: head, _JS: f"<script>{parts.js}</script>", _DATA: data}
    return _filled(parts.markup, places)


def policy(parts: PageParts, *, connects: bool = False) -> str:
    """Return the Content-Security-Policy; a page that `connects` may ask its own server."""
    rules = ["default-src 'none'", f"style-src {_hash(parts.css)}", f"script-src {_hash(parts.js)}"]
    rules += ["connect-src 'self'"] if connects else []
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def safe_json(value: msgspec.Struct) -> str:
    """Return JSON that ends no element of HTML; characters that hide or reorder text are written as `⟨U+202E⟩`."""
    return msgspec.json.encode(value).decode().translate(_ESCAPES)


def _filled(markup: str, places: dict[str, str]) -> str:
    """Fill each place once: the texts themselves are not looked through."""
    found = sorted((markup.index(place), place) for place in places)
    filled, end = [], 0
    for start, place in found:
        filled += [markup[end:start], places[place]]
        end = start + len(place)
    return "".join((*filled, markup[end:]))


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"
