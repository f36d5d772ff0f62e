"""Functions that write values in other languages, read them back, and make digests."""

import base64
import binascii
import hashlib
import json
import posixpath
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote_plus, unquote, urlunsplit

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate.functions.arguments import mapping, text
from kwokctl.expr.gotemplate.go.formatting import NO_VALUE, from_yaml, to_json
from kwokctl.expr.gotemplate.go.printf import sprint
from kwokctl.expr.gotemplate.template_error import TemplateError

_HTML = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\0": "\ufffd"}
)
_SCRIPT = str.maketrans(
    {
        "\\": "\\\\",
        "'": "\\'",
        '"': '\\"',
        "<": "\\u003C",
        ">": "\\u003E",
        "&": "\\u0026",
        "=": "\\u003D",
        **{chr(point): f"\\u{point:04X}" for point in range(0x20)},
    }
)


_URL = re.compile(
    r"(?:(?P<scheme>[a-zA-Z][a-zA-Z0-9+.-]*):)?(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?\Z"
)


def _shown(values: tuple[object, ...]) -> str:
    return sprint(*(NO_VALUE if value is None else value for value in values))


# A control character, a wrong escape, or a colon in the first part of a path without a scheme.
_NO_URL = re.compile(
    r".*[\x00-\x1f\x7f]|[^?]*%(?![0-9a-fA-F]{2})|(?![a-zA-Z][a-zA-Z0-9+.-]*:)[^/?#]*:"
).match


def _html(*values: object) -> str:
    return _shown(values).translate(_HTML)


def _script(*values: object) -> str:
    return _shown(values).translate(_SCRIPT)


def _loaded(value: object) -> object:
    """Read JSON as Go does: every number is a float."""
    return json.loads(text(value), parse_int=float, parse_constant=_no_constant)


def _no_constant(word: str) -> float:
    raise ValueError(f"'{word}' is not JSON")


def _from_json(value: object) -> object:
    try:
        return _loaded(value)
    except ValueError:
        return None


def _must_from_json(value: object) -> object:
    try:
        return _loaded(value)
    except ValueError as e:
        raise TemplateError(f"the text is not JSON: {e}") from e


def _from_yaml(value: object) -> object:
    try:
        return yaml.load(text(value))
    except ConfigError as e:
        raise TemplateError(f"the text is not YAML: {e}") from e


def _decoded(name: str, decode: Callable[[str], bytes]) -> Callable[[object], str]:
    """Return a function that reads an encoding; Sprig's returns an error's message as the result."""

    def function(value: object) -> str:
        try:
            return decode(re.sub("[\r\n]", "", text(value))).decode()
        except (binascii.Error, ValueError) as e:
            raise TemplateError(f"the text is not {name}: {e}") from e

    return function


def _digest(name: str) -> Callable[[object], str]:
    return lambda value: hashlib.new(name, text(value).encode()).hexdigest()


def _url_parts(value: object) -> dict[str, str]:
    url = text(value)
    match = _URL.match(url)
    if match is None or _NO_URL(url):
        raise TemplateError(f"'{url}' is not a URL")
    scheme, authority, path = (match[name] or "" for name in ("scheme", "authority", "path"))
    user, _, host = authority.rpartition("@")
    is_opaque = bool(scheme and path) and not path.startswith("/") and match["authority"] is None
    return {
        "scheme": scheme.lower(),
        "host": host,
        "hostname": re.sub(r":[0-9]*\Z", "", host).strip("[]"),
        "path": "" if is_opaque else unquote(path),
        "query": match["query"] or "",
        "opaque": path if is_opaque else "",
        "fragment": unquote(match["fragment"] or ""),
        "userinfo": user,
    }


def _url(parts: object) -> str:
    part = {key: text(value) for key, value in mapping(parts).items()}
    user, host = part.get("userinfo"), part.get("host", "")
    names = ("scheme", "", "path", "query", "fragment")
    split = [part.get(name, "") for name in names]
    split[1] = f"{user}@{host}" if user else host
    split[2] = part.get("opaque") or split[2]
    return urlunsplit(split)


def _extension(path: object) -> str:
    _, dot, extension = posixpath.basename(text(path)).rpartition(".")
    return dot + extension if dot else ""


ENCODINGS: dict[str, Callable[..., object]] = {
    "adler32sum": lambda value: str(zlib.adler32(text(value).encode())),
    "b32dec": _decoded("base32", base64.b32decode),
    "b32enc": lambda value: base64.b32encode(text(value).encode()).decode(),
    "b64dec": _decoded("base64", lambda value: base64.b64decode(value, validate=True)),
    "b64enc": lambda value: base64.b64encode(text(value).encode()).decode(),
    "base": lambda path: posixpath.basename(text(path).rstrip("/")) or ("/" if path else "."),
    "clean": lambda path: posixpath.normpath(text(path)),
    "dir": lambda path: posixpath.normpath(posixpath.dirname(text(path))),
    "ext": _extension,
    "fromJson": _from_json,
    "fromYaml": _from_yaml,
    "html": _html,
    "isAbs": lambda path: text(path).startswith("/"),
    "js": _script,
    "mustFromJson": _must_from_json,
    "sha1sum": _digest("sha1"),
    "sha256sum": _digest("sha256"),
    "sha512sum": _digest("sha512"),
    "toJson": to_json,
    "toPrettyJson": lambda value: to_json(value, indent=2),
    "toRawJson": lambda value: to_json(value, html=False),
    "toYaml": lambda value: yaml.dump(from_yaml(value), sort_keys=True).rstrip("\n"),
    "urlJoin": _url,
    "urlParse": _url_parts,
    "urlquery": lambda *values: quote_plus(_shown(values), safe="~"),
}
ENCODINGS |= {
    f"os{name[0].upper()}{name[1:]}": ENCODINGS[name]
    for name in ("base", "clean", "dir", "ext", "isAbs")
}
