"""Values that hardly any option takes, and which options take which of them all the same.

The entries come from the documentation of each option, never from the code that checks it.
An option without an entry fails: add what it takes under its name or its metavar.
"""

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from kwokctl.components.catalog import usual_options
from kwokctl.config.options import spellings
from kwokctl.measure.record.record_file import RecordWriter
from tests.support.measured import header

FOLDER, FILE, RECORD = "folder", "file.yaml", "run.jsonl"
"""What the tests make in the folder in which the command is called."""

VALUES = (
    "",
    " ",
    "٣",
    "-1",
    "1_0",
    "99999999999999999999",
    "NaN",
    "1e999",
    "0x10",
    "-",
    "a\nb",
    "\x1b[31m",
    "/no/such/file",
    FOLDER,
    FILE,
    "..",
    "../x",
    "two words",
    "5 m",
    "a=b=c",
    "[",
    "%2e%2e",
    "ü",
    "a" * 300,
    ",",
    "null",
)

FEW = ("", "-1", "a\nb", FOLDER, FILE, "null")
"""Of each kind of check one value that it refuses and, if there is one, one that it takes."""

READ_WITH_KEYS = frozenset(
    spelling.flag
    for spelling in spellings(usual_options())
    if spelling.type in (str, int) and spelling.flag not in ("", "--runtime")
)
"""Flags whose text is passed on as it is, and read where variables and keys are; only the registry knows the runtimes."""

Taken = Callable[[str], bool]
"""Whether a value is one that an option takes."""


def _nothing(value: str) -> bool:
    return False


def _anything(value: str) -> bool:
    return True


def _empty(value: str) -> bool:
    """An empty text means that the option is not given."""
    return value == ""


def _no_items(value: str) -> bool:
    return not value.replace(",", "").strip()


def _like(pattern: str) -> Taken:
    def taken(value: str) -> bool:
        return re.fullmatch(pattern, value, re.ASCII) is not None

    return taken


def _file(value: str) -> bool:
    return value in ("", FILE)


def _files(value: str) -> bool:
    """Files and folders, and standard input."""
    return value in ("-", FOLDER, FILE, "..")


def _becomes_file(value: str) -> bool:
    return value.strip() != "" and value not in (FOLDER, "..")


def _becomes_folder(value: str) -> bool:
    return value.strip() != "" and value != FILE


def _visible(value: str) -> bool:
    return value.isprintable() and value.strip() != "" and len(value) <= 64


def _program(value: str) -> bool:
    return value == "" or shutil.which(value) is not None


_CLUSTER = _like(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_IMAGE = _like(r"|[A-Za-z0-9._]{1,300}(?<![._])(?<!^[.])|1_0")
_KINDS = _like(r"[ ,]*|[A-Za-z][-A-Za-z0-9.]*")
_LABEL = _like(r"|1_0|9{20}|NaN|1e999|0x10|null|folder|file\.yaml")
_SELECTOR = _like(r"|[ ,]|[A-Za-z0-9]|1_0|9{20}|NaN|1e999|0x10|null|folder|file\.yaml")

_NAME = _like(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_OBJECT = _like(r"|[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_PREFIX = _like(r"|/no/such/file|[A-Za-z0-9_.-]*[A-Za-z0-9-](?<!\.\.)")

TAKEN: Mapping[str, Taken] = {
    "": _nothing,  # switches, numbers, durations and ports
    "ADDRESS": _no_items,
    "addons copy --to": lambda value: value in (FOLDER, ".."),
    "ARCHIVE": _file,
    "ARG": lambda value: value.strip() == "",
    "CLUSTER": _CLUSTER,
    "A B": _nothing,
    "COMMAND": _anything,
    "CONDITION": _anything,
    "DURATION": _nothing,
    "EXPRESSION": _nothing,
    "FILE": _file,
    "FORMAT": _empty,
    "HOST:PORT": _nothing,
    "IDLE": _anything,
    "IMAGE": _IMAGE,
    "IMAGE-OR-FILE": _IMAGE,
    "IP": _empty,
    "KEY": _nothing,
    "DIALECT,…": _no_items,
    "KIND,…": _no_items,
    "LEVEL": lambda value: value == "-1",
    "LIMIT,…": _no_items,
    "M": _nothing,
    "N": _nothing,
    "NAME,…": _no_items,
    "NAME=KIND,FROM,TO": _nothing,
    "PASSWORD": _nothing,  # the user must be there
    "PATH": _empty,
    "PERCENT": _nothing,
    "POLICY": _empty,
    "PORT": _nothing,
    "PROGRAM": _program,
    "QUANTITY": _empty,
    "SECONDS": _nothing,
    "SELECTOR": _SELECTOR,
    "SET,…": _no_items,
    "SET-OR-FILE": _files,
    "SHELL": _empty,
    "SIZE": _empty,
    "SOURCE": _empty,
    "SWITCH": _empty,
    "UNSERVED": _empty,
    "VERSION": _empty,
    "WAY": _empty,
    "WHICH": _empty,
    "--components": _nothing,
    "--config": _files,
    "--etcd-prefix": _PREFIX,
    "--prefix": _PREFIX,
    "etcd --path": _anything,
    "etcd snapshot record --path": _becomes_file,
    "etcd snapshot replay --path": _becomes_file,
    "etcd --user": _empty,
    "--filter": _empty,
    "--from": _CLUSTER,
    "--group": _visible,
    "--host": _like(r"[A-Za-z0-9.]{0,20}[A-Za-z0-9]"),
    "--kube-feature-gates": _empty,
    "--kube-runtime-config": _empty,
    "snapshot export --as": lambda value: value.isprintable() and value.strip() != "",
    "snapshot export --as-group": _nothing,  # another option must be there
    "snapshot export --duration": _nothing,
    "snapshot export --filter": _KINDS,
    "snapshot record --filter": _KINDS,
    "snapshot replay --speed": _nothing,
    "snapshot save --rules": _nothing,  # for another format
    "get shapes names": _nothing,  # no shape has such a name
    "DIALECT": _nothing,  # there is no such one
    "fault explain class_name": _nothing,
    "fault inject class_name": _NAME,
    "fault inject --dialect": lambda value: value == "" or _NAME(value),
    "fault run --id": lambda value: value == "" or _NAME(value),
    "fault clear --schedule": _nothing,  # all are given, too
    "fault stop schedule": _NAME,
    "fault inject --id": lambda value: value == "" or _NAME(value),
    "fault inject --node": _OBJECT,
    "fault inject --unit": _OBJECT,
    "CEL": _empty,
    "NAME=VALUE": lambda value: value in ("", "a=b=c"),
    "TIME": _empty,
    "fault clear named": _nothing,  # all are given, too
    "fault log --sink": _nothing,  # it needs --follow
    "fault log named": _anything,  # the cluster knows its Faults
    "fault status named": _anything,
    "LAYER": _empty,
    "repair start --action": _nothing,
    "repair start node": _OBJECT,
    "repair start --policy": lambda value: value == "" or _OBJECT(value),
    "repair status nodes": _anything,  # the cluster knows its nodes
    "repair policy --filename": lambda value: value in ("", "-", FILE),
    "measure --figure": _nothing,
    "measure --from": _nothing,
    "measure --gang-label": _LABEL,
    "measure --metric": _nothing,
    "measure --phase": _nothing,
    "measure --reset": _nothing,  # another option must be there
    "measure --topology": _LABEL,
    "measure compare --kubeconfig": _nothing,  # with --reset
    "measure compare --reset": _anything,
    "measure --record": _becomes_file,
    "measure --report": _nothing,  # the ending must name a form
    "load clear load": _LABEL,
    "load clear --run": _LABEL,
    "load run --filename": lambda value: value in ("", "-", FILE),
    "fault plan --filename": lambda value: value in ("", "-", FILE),
    "fault score --filename": lambda value: value in ("", FILE),
    "--budget": _like(r"|[0-9]{1,9}(\.[0-9]{1,9})?%?"),
    "fault score --by": _nothing,
    "fault run --filename": lambda value: value in ("", "-", FILE),
    "--name": _CLUSTER,
    "--namespace": _like(r"|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"),
    "scale --namespace": _like(r"|(?![0-9]+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"),
    "--node-heartbeat": _empty,
    "--param": _like(r"| |null|-1|9{20}|1e999"),
    "--path": _becomes_file,
    "--runtime": _empty,
    "--save": _becomes_file,
    "--socket": _becomes_file,
    "--to": _becomes_folder,
    "--user": _visible,
    "--wait": _nothing,
    "create --kubeconfig": _anything,
    "delete --kubeconfig": _anything,
    "config files": lambda value: value == FILE,
    "export folder": _becomes_folder,
    "files": lambda value: value in (FOLDER, FILE, ".."),
    "folder": lambda value: value in (FOLDER, ".."),
    "add_on": _nothing,
    "kind": _nothing,  # no resource template has such a name
    "command": _anything,
    "component": _anything,  # only the cluster knows its components
    "log": _anything,
    "named": _anything,  # the cluster knows its marks and its objects
    "ports": _nothing,
    "resource": _anything,  # etcd has the definitions of kinds
    "set_name": _like(r"|(?![0-9]+\Z)[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?"),
    "shell": _nothing,
    "stages": _files,
    "target": _nothing,
}
"""By flag, if need be behind the verb, by the name of an argument, or else by metavar."""


def takes(verb: str, option: str, metavar: str, value: str) -> bool:
    """Return whether an option of a verb takes a value; KeyError if it has no entry."""
    for key in (f"{verb} {option}", f"{verb.partition(' ')[0]} {option}", option):
        if key in TAKEN:
            return TAKEN[key](value)
    return TAKEN[metavar](value)


def prepare(folder: Path) -> None:
    """Make what some of the values name."""
    (folder / FOLDER).mkdir()
    (folder / FILE).write_text("kind: KwokctlConfiguration\n")
    with RecordWriter(folder / RECORD) as writer:
        writer.begin(header())
