"""The options that say which etcd is meant: that of a cluster, or any other."""

import inspect
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwokctl.cli.invocation import DEFAULT_NAME, Invocation
from kwokctl.cli.parsing.option_values import checked, duration
from kwokctl.config import checks
from kwokctl.errors import NotServedError, UsageError

if TYPE_CHECKING:
    from kwokctl.clusters.direct_etcd.access import ObjectAccess

_ENDPOINT = re.compile(r"(https?://)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}/?", re.ASCII)
_FILES = ("cacert", "cert", "key")
_ELSEWHERE = (*_FILES, "insecure_skip_tls_verify", "user", "password", "dial_timeout")
"""Options that say how to reach an etcd that is not a cluster's."""
DEFAULT_ENDPOINT = "127.0.0.1:2379"
OTHER = "An etcd outside kwokctl clusters"
_REGISTRY = "/registry"
_PATIENCE = 2.0
_UNSERVED: Mapping[str, object] = {"discovery_srv": str, "discovery_srv_name": str}
"""Options of the original's that are refused."""
_IDLE: Mapping[str, object] = {
    "command_timeout": str,
    "keepalive_time": str,
    "keepalive_timeout": str,
    "insecure_transport": bool,
    "insecure_discovery": bool,
}
"""Options of the original's that nothing depends on."""
_SKIP = "--insecure-skip-tls-verify"
SWITCHES = frozenset(
    (_SKIP, *(f"--{name.replace('_', '-')}" for name, kind in _IDLE.items() if kind is bool))
)


def parameters() -> tuple[inspect.Parameter, ...]:
    """Describe the options, those of the original among them that are hidden."""
    shown = (
        _option("endpoints", list[str] | None, "--endpoints", metavar="ADDRESS",
                help="Addresses, separated by commas, such as https://10.0.0.1:2379; the first "
                "that answers is used [default: the cluster's]"),
        _file("cert", "Client certificate"),
        _file("key", "Key of the client certificate"),
        _file("cacert", "CA of etcd's certificate"),
        _option("insecure_skip_tls_verify", bool | None, _SKIP,
                help="Use TLS, and accept any certificate of etcd"),
        _option("user", str | None, "--user", metavar="NAME[:PASSWORD]",
                help="User of an etcd with authentication"),
        _option("password", str | None, "--password", metavar="PASSWORD",
                help="The password of --user"),
        _option("dial_timeout", float | None, "--dial-timeout", metavar="DURATION",
                help="Timeout for connecting to an address [default: 2s]",
                parser=duration("--dial-timeout")),
        _option("prefix", str | None, "--prefix", metavar="PREFIX",
                help=f"Prefix of all keys [default: the cluster's, else {_REGISTRY}]",
                parser=checked("--prefix", checks.key_prefix)),
    )  # fmt: skip
    hidden = (_hidden(name, kind) for name, kind in (*_UNSERVED.items(), *_IDLE.items()))
    return (*shown, *hidden)


def opened(
    call: Invocation, words: Mapping[str, Any]
) -> "AbstractAsyncContextManager[ObjectAccess]":
    """Return the connection that the options ask for, to be entered."""
    from kwokctl.clusters.direct_etcd.access import own_objects

    _check(words)
    prefix: str = words["prefix"] or ""
    if endpoints := _endpoints(words["endpoints"] or []):
        _check_unnamed(call)
        return _other(endpoints, words, prefix or _REGISTRY)
    return own_objects(call.home, call.cluster, prefix)


def _other(
    endpoints: tuple[str, ...], words: Mapping[str, Any], prefix: str
) -> "AbstractAsyncContextManager[ObjectAccess]":
    from kwokctl.clusters.direct_etcd.access import EtcdLogin, other_objects
    from kwokctl.host.paths import expanded

    files = {name: expanded(words[name]) if words[name] else None for name in _FILES}
    user, password = _user(words["user"] or "", words["password"])
    login = EtcdLogin(
        endpoints=endpoints,
        ca=files["cacert"],
        cert=files["cert"],
        key=files["key"],
        accepts_any=bool(words["insecure_skip_tls_verify"]),
        user=user,
        password=password,
        patience=words["dial_timeout"] or _PATIENCE,
    )
    return other_objects(login, prefix)


def _user(given: str, password: str | None) -> tuple[str, str]:
    """Return a name and its password; UsageError if there is one without the other, or two."""
    user, separator, own = given.partition(":")
    if not user:
        if password is None and not given:
            return "", ""
        raise UsageError("'--password' needs '--user'", hint="name the user")
    if bool(separator) is (password is not None):
        raise UsageError(
            f"'--user {user}' needs one password",
            hint="write --user NAME:PASSWORD, or --user NAME --password PASSWORD",
        )
    return user, own if password is None else password


def _endpoints(words: list[str]) -> tuple[str, ...]:
    """Split the addresses; UsageError for an invalid one."""
    found = tuple(each.strip() for word in words for each in word.split(",") if each.strip())
    for each in found:
        if not _ENDPOINT.fullmatch(each):
            raise UsageError(
                f"'--endpoints' is '{each}', not an address of etcd",
                hint="for example: 127.0.0.1:2379 or https://10.0.0.1:2379",
            )
    return found


def _check_unnamed(call: Invocation) -> None:
    if call.name != DEFAULT_NAME:
        raise UsageError(
            "'--name' and '--endpoints' exclude each other",
            hint="a cluster's own etcd is used without '--endpoints'",
        )


def _check(words: Mapping[str, Any]) -> None:
    for name in _UNSERVED:
        if words[name]:
            flag = f"--{name.replace('_', '-')}"
            hint = "nothing is looked up in DNS: name the addresses with --endpoints"
            raise NotServedError(f"'{flag}' is not supported", hint=hint)
    given = [name for name in _ELSEWHERE if words[name]]
    if words["cacert"] and words["insecure_skip_tls_verify"]:
        raise UsageError(
            f"'--cacert' and '{_SKIP}' exclude each other", hint="leave out one of them"
        )
    if given and not words["endpoints"]:
        flag = f"--{given[0].replace('_', '-')}"
        raise UsageError(
            f"'{flag}' needs '--endpoints'",
            hint="leave it out: kwokctl has the certificates of its clusters",
        )


def _file(name: str, text: str) -> inspect.Parameter:
    flag = f"--{name}"
    return _option(
        name, str | None, flag, metavar="FILE", help=text, parser=checked(flag, checks.file)
    )


def _hidden(name: str, kind: object) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    if kind is bool:
        return _option(name, bool | None, f"{flag}/--no-{flag.removeprefix('--')}", hidden=True)
    metavar = "UNSERVED" if name in _UNSERVED else "IDLE"
    return _option(name, str | None, flag, hidden=True, metavar=metavar)


def _option(name: str, kind: object, flag: str, **about: Any) -> inspect.Parameter:
    option = typer.Option(flag, rich_help_panel=OTHER, **about)
    annotation = Annotated[kind, option]  # type: ignore[valid-type]  # made at run time
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
