"""Each public class has a name of its own, so that a name leads to one place."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)


def test_no_public_class_has_the_name_of_another() -> None:
    files = [
        file for name in ("kwokctl", "runtimes") for file in sorted((ROOT / name).rglob("*.py"))
    ]
    number = Counter(name for file in files for name in CLASS.findall(file.read_text("utf-8")))

    assert [name for name, times in number.items() if times > 1] == []
