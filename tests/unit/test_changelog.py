"""The changelog has what a reader must know, and the version is that of its newest release."""

import re
from pathlib import Path

from kwokctl import __version__

CHANGELOG = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
WORDS_IN_TEN_MINUTES = 2400


def sections() -> dict[str, str]:
    """Return the text of each section by its heading, in their order."""
    parts = re.split(r"^## (.+)$", CHANGELOG, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_what_is_unreleased_comes_first_and_then_the_version_of_this_package() -> None:
    first, newest, *_ = sections()

    assert first == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", newest)


def test_a_release_is_read_in_ten_minutes() -> None:
    lengths = {name: len(text.split()) for name, text in sections().items() if name != "Unreleased"}

    assert [name for name, number in lengths.items() if number > WORDS_IN_TEN_MINUTES] == []
