"""Reads the document of a page that was written."""

import re

import msgspec

from kwokctl.measure.pages.page_data import AnyItem, PageData, TableItem

_DATA = re.compile(r'<script type="application/json" id="page-data">(.*?)</script>', re.DOTALL)


def document_of(html: str) -> PageData:
    """Return the document that is in a page."""
    (found,) = _DATA.findall(html)
    return msgspec.json.decode(found, type=PageData)


def items_of(page: PageData) -> dict[str, AnyItem]:
    """Return all items by their ids."""
    return {item.id: item for section in page.sections for item in section.items}


def numbers_of_page(page: PageData) -> dict[str, list[str]]:
    """Return the exact numbers by their names, each with what follows it in its row."""
    table = items_of(page)["table-numbers"]
    assert isinstance(table, TableItem)
    return {str(name): [str(cell) for cell in cells] for name, *cells in table.rows}
