"""Each public class has a name of its own, so that a name leads to one place."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)


def classes(*folders: str) -> list[str]:
    files = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.py"))]
    return [name for file in files for name in CLASS.findall(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    "folder", ["kwokctl/controller", "kwokctl/kube/patching", "kwokctl/kube/kubeconfig"]
)
def test_no_public_class_has_the_name_of_another(folder: str) -> None:
    number = Counter(classes("kwokctl", "runtimes"))

    assert [name for name in classes(folder) if number[name] > 1] == []
