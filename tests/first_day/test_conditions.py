"""Users, homes, locales and terminals as machines have them: each lives through the life of a cluster."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain

import pytest

from kwokctl.replacing import replace
from tests.support import store
from tests.support.first_users import FirstUser, give, others
from tests.support.installed import Finished, processes_with
from tests.support.screen import Screen

pytestmark = [
    pytest.mark.components,
    pytest.mark.e2e,
    pytest.mark.timeout(900, func_only=True),
]

LIFE = {
    "help": "scale --help",
    "create": "create cluster --nodes 2 --pods 2 --wait",
    "create again": "create cluster",
    "components": "get components -o wide",
    "clusters": "get clusters -o wide",
    "status": "status",
    "kubectl": "kubectl get nodes",
    "scale": "scale node --replicas 3 --wait",
    "an error": "scale nodez",
    "save": "snapshot save --path saved.db",
    "stop": "stop cluster",
    "start": "start cluster --wait",
    "programs": "artifacts list",
    "delete": "delete cluster",
}
"""What a user does, in this order."""
HOME = "Zoë M"
DUMB, NARROW, CLOSED = "dumb terminal", "narrow terminal", "closed input"
CONDITIONS: Mapping[str, str] = {
    DUMB: "another user than root, umask 077, TERM=dumb, LANG=C, 80 columns",
    NARROW: "a terminal with colours of 40 columns",
    CLOSED: "LC_ALL=C, no terminal, standard input closed",
}
"""They all have a home with a blank and a letter beyond ASCII."""
_UMASK = ("sh", "-c", 'umask 077; exec "$@"', "sh")
_CLOSED = ("sh", "-c", 'exec "$@" <&-', "sh")
COLUMNS = {DUMB: 80, NARROW: 40, CLOSED: 10_000}
_ODD = re.compile(r"[^\r\n\t\x20-\x7e]|\r(?!\n)")
_TO_COPY = re.compile(r"  (kwokctl|kubectl) ")


@pytest.fixture(scope="module", params=CONDITIONS)
def condition(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def user(programs: None, condition: str) -> Iterator[FirstUser]:
    with others([HOME]) as (someone,):
        store.fill(someone.home / ".cache" / "kwokctl")
        give(someone.home / ".cache", someone)
        yield someone


@pytest.fixture(scope="module")
def life(user: FirstUser, condition: str) -> Mapping[str, Finished]:
    """Run all commands; return what became of each."""
    return {what: lived(user, condition, words) for what, words in LIFE.items()}


def lived(user: FirstUser, condition: str, words: str) -> Finished:
    command = ("kwokctl", *words.split())
    if condition == DUMB:
        user = replace(user, by=(*user.by, *_UMASK), settings={"TERM": "dumb", "LANG": "C"})
        return user.shown(*command, columns=COLUMNS[DUMB])
    if condition == NARROW:
        user = replace(user, settings={"TERM": "xterm-256color"})
        return user.shown(*command, columns=COLUMNS[NARROW])
    user = replace(user, by=(*user.by, *_CLOSED), settings={"LC_ALL": "C"})
    return user.run(*command)


def test_every_command_does_what_it_says(life: Mapping[str, Finished]) -> None:
    wanted = dict.fromkeys(LIFE, 0) | {"an error": 2}

    assert {what: done.code for what, done in life.items()} == wanted, life
    assert [what for what, done in life.items() if "Traceback" in done.out + done.err] == []


def test_only_characters_that_the_terminal_has_are_written(
    life: Mapping[str, Finished], condition: str
) -> None:
    texts = {what: done.out + done.err for what, done in life.items()}
    if condition == NARROW:
        # Its own codes are understood; any other is an error.
        texts = {
            what: "\n".join(chain(*screen(text, COLUMNS[NARROW]))) for what, text in texts.items()
        }
        assert any("✓" in text for text in texts.values())
        return

    odd = {what: _ODD.findall(text.replace(HOME, "")) for what, text in texts.items()}
    assert {what: found for what, found in odd.items() if found} == {}


def test_no_line_ends_within_a_word(life: Mapping[str, Finished], condition: str) -> None:
    columns = COLUMNS[condition]
    lines = {
        what: screen(done.out + done.err, columns)
        for what, done in life.items()
        if what != "kubectl"
    }

    assert [
        (what, rows)
        for what, of in lines.items()
        for rows in of
        if (len(rows) > 1 and not is_to_be_whole(rows, columns)) or is_cut(rows[-1])
    ] == []


def screen(text: str, columns: int) -> list[list[str]]:
    return Screen(text.replace("\r\n", "\n").replace("\n", "\r\n"), columns).lines()


def is_to_be_whole(rows: list[str], columns: int) -> bool:
    """Return whether a line is a command to copy, or has a word for which one row is too short."""
    line = "".join(rows)
    words = re.findall(r"'[^']*'\S*|\S+", line)
    return bool(_TO_COPY.match(line)) or max(map(len, words)) > columns - 6


def is_cut(row: str) -> bool:
    """Return whether a row of a table ends within a short cell."""
    return bool(re.search(r"(   |^)\S{1,9}(\.\.\.|…)$", row))


def test_nothing_is_left(life: Mapping[str, Finished], user: FirstUser) -> None:
    assert life["delete"].code == 0
    assert processes_with(str(user.home)) == {}
    assert user.ok("kwokctl", "get", "clusters") == ""
    assert (user.home / "saved.db").stat().st_mode & 0o777 == 0o600
    assert list((user.home / ".kwok" / "clusters").iterdir()) == []
