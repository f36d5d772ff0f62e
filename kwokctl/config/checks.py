"""Checks the values of options; each check returns what is wrong, or None.

They look at the text and at this machine's files, never at a cluster or another machine.
"""

import ipaddress
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

import msgspec

from kwokctl.artifacts.locations import split_pin
from kwokctl.artifacts.module_parts import FORM, is_module_part, module_part
from kwokctl.config.document_kinds import CUSTOM, FAULT, WITH_FAULT
from kwokctl.config.nearest import did_you_mean
from kwokctl.config.quantity import to_bytes
from kwokctl.errors import KwokctlError, UnavailableError
from kwokctl.host.paths import expanded
from kwokctl.kube.names import is_subdomain

PORTS = (0, 65535)
INT32 = (0, 2**31 - 1)

_REFERENCE = re.compile(
    r"(?:\[[0-9a-f:]+\](?::[0-9]+)?/)?[A-Za-z0-9]+(?:[._:/-]+[A-Za-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
    r"(?:@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
"""The part of https://github.com/distribution/reference that distinguishes a reference from a typing error."""
_SWITCH = "=(?:true|false|t|f|1|0)"
_GATE = re.compile(rf"[a-z][a-z0-9_-]*{_SWITCH}", re.ASCII | re.IGNORECASE)
_API = re.compile(
    rf"(?:v[0-9][a-z0-9]*|[a-z0-9][a-z0-9.-]*(?:/[a-z0-9][a-z0-9.-]*)+)(?:{_SWITCH})?", re.ASCII
)
_PREFIX = re.compile(r"/?[A-Za-z0-9_-][A-Za-z0-9._-]*(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*", re.ASCII)
_LARGEST = 2**63 - 1


class InvalidText(msgspec.Struct, frozen=True):
    """The fault of a text, as the rest of the sentence `… is 'TEXT', …`, and the remedy."""

    problem: str
    hint: str


Check = Callable[[str], InvalidText | None]


def text(word: str) -> InvalidText | None:
    """Accept a text in which every character can be seen."""
    if not word.isprintable() or not word.strip():
        return InvalidText(
            "which is blank or has control characters", "write it in printable characters"
        )
    return None


def quantity(word: str) -> InvalidText | None:
    """Accept a size of at least one byte."""
    try:
        size = to_bytes(word)
    except KwokctlError:
        size = 0
    if not 0 < size <= _LARGEST:
        return InvalidText("not a size", "for example: 8Gi, 512Mi or 1000000")
    return None


def address(word: str) -> InvalidText | None:
    """Accept an IP address."""
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return InvalidText("not an IP address", "for example: 127.0.0.1, or 0.0.0.0 for all")
    return None


def network(word: str) -> InvalidText | None:
    """Accept a network such as 10.0.0.0/24."""
    try:
        ipaddress.ip_network(word, strict=False)
    except ValueError:
        return InvalidText("not a network", "for example: 10.0.0.0/24")
    return None if "/" in word else InvalidText("not a network", f"for example: {word}/24")


def host_name(word: str) -> InvalidText | None:
    """Accept a DNS name, with `*` as its first part if need be, or an IP address."""
    if is_subdomain(word.lower().removeprefix("*.")) or address(word) is None:
        return None
    return InvalidText("neither a DNS name nor an IP address", "for example: api.example.com")


def file(word: str) -> InvalidText | None:
    """Accept a file that can be read."""
    if not word.isprintable() or not is_file(word):
        return InvalidText("which is not a file", "give the path of a file that exists")
    if not os.access(expanded(word), os.R_OK):
        return InvalidText("a file that cannot be read", "make it readable, or give another file")
    return None


def archive(word: str) -> InvalidText | None:
    """Accept an archive of programs, as a path or an address."""
    return url(word) if _is_address(word) else file(word)


def program(word: str) -> InvalidText | None:
    """Accept a program: a path, a command, an address, a member of an archive, a part of a module."""
    if is_module_part(word) or _is_address(word):
        return (_part_of_module if is_module_part(word) else _pinned)(word)
    hint = f"give the path of a program, a command on PATH, a URL, URL#MEMBER, or {FORM}"
    if not word.isprintable():
        return InvalidText("not a path", hint)
    archive, sign, _ = word.partition("#")
    if sign and not is_file(word):
        return file(archive)
    found = word if "/" in word or is_file(word) else shutil.which(word) or ""
    if not is_file(found):
        return InvalidText("not a program", hint)
    path = expanded(found)
    if not os.access(path, os.X_OK):
        return InvalidText("not executable", f"run 'chmod +x {path}' if it is the right file")
    return None


def _part_of_module(word: str) -> InvalidText | None:
    """Accept a program of a Go module."""
    try:
        is_program = not module_part(word).is_files
    except ValueError:
        is_program = False
    if is_program:
        return None
    hint = f"write {FORM}, such as go:k8s.io/kube-state-metrics/v2@v2.18.0#."
    return InvalidText("not a program of a Go module", hint)


def _pinned(word: str) -> InvalidText | None:
    """Accept an address, with what the file there must be."""
    try:
        return url(split_pin(word)[0])
    except ValueError:
        return InvalidText(
            "an address with something else than a SHA-256 after '@sha256:'",
            "a SHA-256 has 64 hexadecimal digits; 'sha256sum FILE' prints it",
        )


def mirror(word: str) -> InvalidText | None:
    """Accept the location of a release's files: an address or a folder."""
    if _is_address(word):
        return url(word)
    if is_folder(word):
        return None
    return InvalidText(
        "neither a URL nor a folder", "for example: https://mirror.example.com/releases"
    )


def url(word: str) -> InvalidText | None:
    """Accept an address of the web."""
    wrong = InvalidText("not a URL", "for example: https://example.com/file")
    try:
        parts = urlsplit(word)
        _ = parts.port  # raises ValueError for what is not a port
    except ValueError:
        return wrong
    is_clean = word.isprintable() and " " not in word
    return None if is_clean and _is_address(word) and parts.hostname else wrong


def image(word: str) -> InvalidText | None:
    """Accept a reference of a container image, or the registry and folder of several."""
    if _REFERENCE.fullmatch(word.rstrip("/")):
        return None
    return InvalidText("not the name of an image", "for example: registry.k8s.io/etcd:3.6.16-0")


def image_or_file(word: str) -> InvalidText | None:
    """Accept a file that exists, or a reference of an image."""
    return file(word) if _is_path(word) else None if is_file(word) else image(word)


def key_prefix(word: str) -> InvalidText | None:
    """Accept a prefix of keys in etcd, which the API server joins as paths are."""
    if _PREFIX.fullmatch(word):
        return None
    return InvalidText("not a prefix of keys", "for example: /registry")


def feature_gates(word: str) -> InvalidText | None:
    """Accept `Name=true,Other=false`."""
    if all(_GATE.fullmatch(part.strip()) for part in word.split(",")):
        return None
    return InvalidText(
        "not a list of feature gates", "for example: PodLevelResources=true,Other=false"
    )


def runtime_config(word: str) -> InvalidText | None:
    """Accept `api/all=true,resource.k8s.io/v1beta1=false`."""
    if all(_API.fullmatch(part.strip()) for part in word.split(",")):
        return None
    return InvalidText("not a list of API groups", "for example: api/all=true")


def resource_kind(word: str) -> InvalidText | None:
    """Accept a kind that a controller can read from the API server."""
    if word in CUSTOM:
        return None
    if word in WITH_FAULT:
        return InvalidText("not a kind that comes alone", f"it comes with {FAULT}")
    hint = did_you_mean(word, CUSTOM) or f"kinds are: {', '.join(CUSTOM)}"
    return InvalidText("not a kind of custom resource", hint)


def is_file(word: str) -> bool:
    """Return whether a word is the path of a file; false also for what cannot be a path at all."""
    with suppress(OSError, UnavailableError):
        return expanded(word).is_file()
    return False


def is_folder(word: str) -> bool:
    """Return whether a word is the path of a folder; false also for what cannot be a path at all."""
    with suppress(OSError, UnavailableError):
        return expanded(word).is_dir()
    return False


def _is_address(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _is_path(word: str) -> bool:
    """Return whether a word can be nothing but a path; a bare name may be a command or an image."""
    return word.startswith(("/", "./", "../", "~"))
