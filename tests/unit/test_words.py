"""Phrases that a reader has to decode do not come back: pages, messages, docstrings and comments."""

import re
from functools import cache
from pathlib import Path

import pytest
import re2

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md", "templates/**/*.yaml", "charts/**/*.md", "examples/**/*.yaml")
CODE = ("kwokctl/**/*.py", "runtimes/**/*.py")
RECORDS = "docs/adr/0"
"""Decision records stay as they were written."""
BANNED = {
    r'"""(?:Do|Return|Write|Yield) the same (?!value)': "name the thing: a reader sees the docstring alone",
    r"\bso many\b(?! (?:objects|nodes|pods) that)": "'a number of', or the name of the parameter",
    r"\bthe former\b": "'the old', 'the source's', 'the one before': say which",
    r"\b(?:that|which|and) (?:is|are) none\b": "'is not one', or 'is not a delay'",
    r"\banother one\b": "'another file', 'differs', 'has changed': say what",
    r"\bby which\b": "'with which', or a clause with a verb",
    r"\bheeded\b": "'supported', or 'ignored'",
    r"\bbe had\b": "'be found', or 'be provided'",
    r"\b[Tt]akes? note\b": "'note'",
    r"\b[Ww]hat (?:has |have )?(?:comes?|becomes?|became) (?:of|out)\b": "name it: 'the result', 'the outcome'",
    r"\ball the same\b": "'nevertheless'",
    r"\bcome to rest\b": "'is idle', or 'does not change any more'",
    r"\b(?:gone|goes|go|going) on with\b": "'continue'",
    r"\bthat there (?:is|are|was|were) not\b": "'unknown', or 'that does not exist'",
    r"\bmakes? of it\b": "'the result of', or a verb for what is done",
    r"\b(?:is|are|was|were) heard of\b": "'silent', or 'reports'",
    r"\b(?:[Ss]ome|[Aa]ny|[Nn]o|[Ee]very)body\b|\b[Ww]hoever\b": "name the actor: a client, a user, a controller",
    r"\b(?:has|had|with) the post\b": "'is the leader'",
}
CLAUSE = re.compile(r'^\s*"""(?:What|Whose|Who|How|Where|Which|When)\b.*', re.MULTILINE)


@cache
def texts() -> dict[str, str]:
    """Return the texts that a person reads, by their files."""
    files = {
        str(file.relative_to(ROOT)): file for each in (*PAGES, *CODE) for file in ROOT.glob(each)
    }
    read = sorted(name for name in files if not name.startswith(RECORDS))
    return {name: files[name].read_text(encoding="utf-8") for name in read}


@pytest.mark.parametrize("phrase", BANNED, ids=lambda phrase: re.sub(r"\W+|\bb", "-", phrase))
def test_no_text_has_a_banned_phrase(phrase: str) -> None:
    # RE2 takes a tenth of the time, but knows no condition on what follows.
    hint = re2.compile(phrase.partition("(?!")[0])
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in texts().items()
        if hint.search(text)
        for match in re.finditer(phrase, text)
    ]

    assert found == [], f"write instead {BANNED[phrase]}"


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    found = [
        f"{name}: {match[0].strip()}"
        for name, text in texts().items()
        if name.endswith(".py")
        for match in CLAUSE.finditer(text)
    ]

    assert found == [], "say what it is ('The number of …'), or what it does ('Return …')"


@pytest.mark.parametrize(
    "line",
    [
        '"""Return the same without progress."""',
        "it waits so many seconds",
        "putting the former data back",
        "a delay that is none",
        "an annotation is another one now",
        "the rules by which nodes change",
        "this is not gone on with",
        "options that are not heeded",
        "no file can be had",
        "Take note that it ends",
        "what becomes of a pod",
        "it is played all the same",
        "once the cluster has come to rest",
        "the export goes on with the next page",
        "a name that there is not",
        "what a Stage makes of it",
        "a node that nothing is heard of",
        "somebody has cordoned the node",
        "Whoever plays the pod says so",
        "while this controller has the post",
    ],
)
def test_a_banned_phrase_is_found(line: str) -> None:
    assert [phrase for phrase in BANNED if re.search(phrase, line)]
