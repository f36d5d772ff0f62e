"""What recordings have in them that is of a runtime, a node or a moment: `tests/golden/kubelet/artefacts.yaml`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import yaml

from tests.support.kubelet_recordings.cases import FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefacts:
    """What is not compared."""

    texts: tuple[tuple[re.Pattern[str], str], ...]
    """Texts in messages, and what stands for them."""
    answers: frozenset[str]
    """Reasons whose message is another program's answer."""
    events: Mapping[str, frozenset[str]]
    """By case, Events that were recorded and that the function does not report."""

    def without(self, message: str) -> str:
        """Return a message without what differs from run to run."""
        for pattern, other in self.texts:
            message = pattern.sub(other, message)
        return message


@cache
def artefacts() -> Artefacts:
    """Return what is listed."""
    given = yaml.safe_load((FOLDER / "artefacts.yaml").read_text(encoding="utf-8"))
    return Artefacts(
        texts=tuple((re.compile(each["text"]), each["becomes"]) for each in given["texts"]),
        answers=frozenset(given["answers"]),
        events={
            case: frozenset(lines)
            for group in given["events"]
            for case, lines in group["of"].items()
        },
    )
