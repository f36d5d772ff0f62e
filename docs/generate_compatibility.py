"""Writes `docs/reference/compatibility.md`: how kwokctl supports each command and option of the original.

The facts about the original are in `original-kwokctl.yaml`; how each is supported is taken from the
command tree, the catalogue of options, the runtimes and the components.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docs import compatibility_of_documents
from kwokctl.cli import app
from kwokctl.components.catalog import catalog, usual_options
from kwokctl.config.add_ons.folder import of_components, shipped
from kwokctl.config.declaring import Spelling
from kwokctl.config.options import spellings
from kwokctl.config.original.not_served import NOT_SERVED, NotServed
from kwokctl.expr import yaml
from kwokctl.registry import BUILTIN, REFUSED

FOLDER = Path(__file__).parent
FACTS = FOLDER / "original-kwokctl.yaml"
PAGE = FOLDER / "reference" / "compatibility.md"
_HEAD = """\
# Commands and options of the original, and how kwokctl supports them

<!-- Written by docs/generate_compatibility.py from docs/original-kwokctl.yaml; `make docs` writes it again. -->

The original is the `kwokctl` of [kwok](https://github.com/kubernetes-sigs/kwok) at commit 172defa5 (version 0.9.0 alpha). If you use
something that kwokctl refuses, it names it and gives the reason: in an error before it makes anything, or in a warning if nothing depends on it. [Coming from the Go
kwokctl](../how-to/come-from-the-go-kwokctl.md) shows how to switch, and [what differs](../how-to/come-from-the-go-kwokctl.md#what-differs) besides options, such as
the endpoints of the kubelet server, the built-in template of nodes, and how your own Stages combine with the default ones. Each part below names the test that checks its
rows; what a command does is also checked by the test that [`original-kwokctl.yaml`](../original-kwokctl.yaml) names for it.

| support | meaning |
|---|---|
| same | it does the same |
| better | it does the same, and more: see the last column |
| in part | kwokctl supports a part of it: see the last column |
| other default | it does the same if it is given; its default differs |
| refused | kwokctl does not support it, and says so with the reason in the last column: as an error, or as a warning if nothing depends on it |
| later | kwokctl does not support it yet; the last column says what to use instead |
"""
_TESTS = "tests/cli/test_compatibility.py::"
Row = tuple[str, ...]


def pages() -> dict[Path, str]:
    """Return the text of the page."""
    return {PAGE: _page()}


def _page() -> str:
    facts = yaml.load(FACTS.read_text(encoding="utf-8"))
    parts = [
        (
            "Commands",
            f"{_TESTS}test_a_command_and_its_flags_are_read_or_refused_by_name",
            ("command", "support", "remark"),
            list(_commands(facts)),
        ),
        (
            "Options of clusters",
            f"{_TESTS}test_an_option_is_read_or_refused_wherever_it_is_given",
            ("key", "flag", "variable", "support", "remark"),
            list(_options(facts)),
        ),
        (
            "Runtimes",
            f"{_TESTS}test_a_runtime_is_found_or_refused_by_name_with_the_reason",
            ("`--runtime`", "support", "remark"),
            list(_runtimes(facts["runtimes"])),
        ),
        (
            "Components",
            f"{_TESTS}test_a_component_is_found_or_refused_by_name",
            ("`--enable`", "support", "remark"),
            list(_components(facts)),
        ),
        *compatibility_of_documents.parts(facts),
    ]
    return "\n".join([_HEAD, *(line for part in parts for line in _part(*part))])


def _part(title: str, test: str, head: Row, rows: list[Row]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"`{test}` checks each row.\n"
    for row in (head, tuple("---" for _ in head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _commands(facts: Mapping[str, Any]) -> Iterator[Row]:
    tree = app.build()
    for flag, fact in facts["everywhere"].items():
        part = fact.get("part")
        yield _code(f"kwokctl {flag}"), *(("in part", part) if part else _flag(tree, flag))
    for words, fact in facts["commands"].items():
        command = _found(tree, words)
        if command is None:
            why = fact.get("refused") or ""
            yield _code(words), "refused" if why else "later", why or fact.get("instead") or ""
            continue
        better = fact.get("better") or ""
        yield _code(words), "better" if better else "same", better
        for flag in fact.get("flags") or ():
            part = (fact.get("parts") or {}).get(flag)
            other = (fact.get("defaults") or {}).get(flag)
            row = ("in part", part) if part else _flag(command, flag)
            row = ("other default", other) if other else row
            yield _code(f"{words} {flag}"), *row


def _found(tree: Any, words: str) -> Any:
    """Return the command of these words; None if there is none, or it is refused."""
    command = tree
    for word in words.split():
        below = getattr(command, "commands", {})
        if word not in below:
            return None
        command = below[word]
    return None if command.hidden else command


def _flag(command: Any, flag: str) -> Row:
    param = next((each for each in command.params if flag in each.opts), None)
    return "later" if param is None or param.hidden else "same", ""


def _options(facts: Mapping[str, Any]) -> Iterator[Row]:
    served = {each.key or each.flag: each for each in spellings(usual_options())}
    others = {each.key: each for each in NOT_SERVED}
    for key in (*facts["keys"], "--extra-args"):
        if key in served:
            yield _served(served[key], facts)
        else:
            yield _not_served(others[key])


def _served(spelling: Spelling, facts: Mapping[str, Any]) -> Row:
    flag = spelling.flag if spelling.flag.removeprefix("--") in facts["flags"] else ""
    name = spelling.env.removeprefix("KWOK_")
    env = spelling.env if name in facts["variables"] else ""
    ours = [place for place in (spelling.flag, spelling.env) if place not in ("", flag, env)]
    also = f"also {', '.join(map(_code, ours))}" if ours else ""
    other = f"default {_text(spelling.default)}, the original's {_text(spelling.original)}"
    if part := facts["key_parts"].get(spelling.key):
        return _cells(spelling.key, flag, env, "in part", "; ".join(filter(None, (part, also))))
    if spelling.original is not None:
        return _cells(
            spelling.key, flag, env, "other default", "; ".join(filter(None, (other, also)))
        )
    return _cells(spelling.key, flag, env, "better" if also else "same", also)


def _not_served(option: NotServed) -> Row:
    said = f"{option.outcome}: {option.reason}"
    return _cells(option.key, option.flag, option.env, "refused", said)


def _cells(key: str, flag: str, env: str, fate: str, remark: str) -> Row:
    return _code(key), _code(flag), _code(env), fate, remark


def _runtimes(names: list[str]) -> Iterator[Row]:
    for name in names:
        yield _code(name), "same" if name in BUILTIN else "refused", REFUSED.get(name, "")


def _components(facts: Mapping[str, Any]) -> Iterator[Row]:
    known = {*catalog(), *shipped(), *of_components()}
    for name in facts["components"]:
        part = facts["component_parts"].get(name, "")
        yield _code(name), ("in part" if part else "same") if name in known else "refused", part


def _text(value: object) -> str:
    if isinstance(value, bool):
        return _code(str(value).lower())
    return _code(", ".join(value) if isinstance(value, tuple) else str(value)) or "none"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
