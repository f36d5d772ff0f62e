"""The HTML of a run in a notebook: a table that every viewer shows, and the page in a frame of its own. Pure."""

import json
from collections.abc import Iterator
from html import escape

from kwokctl.json_value import Json
from kwokctl.measure.pages.join import PageParts, html, safe_json
from kwokctl.measure.pages.page_data import PageData

_HEIGHT = 900
_RIGHTS = "allow-scripts allow-downloads"
"""The frame may run the page's script and offer its downloads; it is of another origin than the notebook."""


def notebook_html(page: PageData, parts: PageParts) -> str:
    """Return a table of the verdict and of the figures that people quote, and the page below it.

    Neither style nor script of the page leaves its frame. Viewers that show no frames, such as those of
    repositories, show the table.
    """
    # As the page writes it: characters that hide or reorder text can be seen.
    shown: Json = json.loads(safe_json(page))
    frame = escape(html(page, parts))
    return (
        f"<div><p>{_verdict(shown)}</p><table><tbody>{''.join(_rows(shown))}</tbody></table>"
        f'<iframe title="{escape(shown["title"])}" sandbox="{_RIGHTS}" width="100%" height="{_HEIGHT}" '
        f'frameborder="0" srcdoc="{frame}"></iframe></div>'
    )


def _verdict(shown: Json) -> str:
    verdict = shown["verdict"]
    notes = "".join(f"<br>{escape(note)}" for note in verdict["notes"])
    return f"<b>{escape(verdict['text'])}</b>: {escape(shown['subtitle'])}{notes}"


def _rows(shown: Json) -> Iterator[str]:
    for each in shown["headline"]:
        value = f"{each['value']} {each['unit']}".strip()
        yield f"<tr><th>{escape(each['name'])}</th><td>{escape(value)}</td></tr>"
