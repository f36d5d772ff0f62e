"""`__all__` in the `__init__` of a package names what code outside of the package may import of it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
READERS = ("kwokctl", "runtimes", "docs", "image", "examples")
"""Tests and benchmarks may look inside."""
IMPORT = re.compile(
    r"^ *from ((?:kwokctl|runtimes)[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE
)
DOOR = re.compile(r"^__all__ = \[([^]]*)\]", re.MULTILINE)


def imported(text: str) -> set[str]:
    """Return what a module imports anywhere, such as `kwokctl.model.Port`."""
    found = IMPORT.findall(re.sub(r" *#.*| as \w+", "", text))
    return {
        f"{module}.{name}"
        for module, *names in found
        for name in re.findall(r"\w+", "".join(names))
    }


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Return the text of each module; that of a package is `kwokctl.cli.__init__`."""
    files = [file for top in READERS for file in (ROOT / top).rglob("*.py")]
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file.read_text("utf-8")
        for file in files
    }


def test_a_package_with_a_door_offers_what_others_import_and_no_other_module(
    texts: dict[str, str],
) -> None:
    doors = {
        module.removesuffix("__init__"): set(re.findall(r"\w+", names))
        for module, text in texts.items()
        if module.endswith(".__init__") and module != "kwokctl.__init__"
        for names in DOOR.findall(text)
    }
    used: dict[str, set[str]] = {package: set() for package in doors}
    for module, text in texts.items():
        for name in imported(text):
            for package in doors:
                if name.startswith(package) and not module.startswith(package):
                    used[package].add(name.removeprefix(package).partition(".")[0])

    modules = {module.removesuffix(".__init__") for module in texts}
    assert [f"{p}{name}" for p in doors for name in used[p] - doors[p]] == []
    assert modules & {f"{p}{name}" for p in doors for name in doors[p] - used[p]} == set()
