"""Functions that write values in other languages, read them back, and make digests."""

import base64
import binascii
import hashlib
import html
import json
import posixpath
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus, unquote, urlsplit, urlunsplit

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate.functions.arguments import mapping, text
from kwokctl.expr.gotemplate.values import Fault
from kwokctl.expr.gotemplate.verbs import sprint
from kwokctl.expr.gotemplate.writing import to_json

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


def _html(*values: Any) -> str:
    escaped = html.escape(sprint(*values), quote=True)
    return escaped.replace("&quot;", "&#34;").replace("&#x27;", "&#39;").replace("\0", "\ufffd")


def _script(*values: Any) -> str:
    return sprint(*values).translate(_SCRIPT)


def _from_json(value: Any) -> Any:
    try:
        return json.loads(text(value))
    except ValueError:
        return None


def _must_from_json(value: Any) -> Any:
    try:
        return json.loads(text(value))
    except ValueError as e:
        raise Fault(f"the text is not JSON: {e}") from e


def _from_yaml(value: Any) -> Any:
    try:
        return yaml.load(text(value))
    except ConfigError as e:
        raise Fault(f"the text is not YAML: {e}") from e


def _decoded(decode: Callable[[str], bytes]) -> Callable[[Any], str]:
    def function(value: Any) -> str:
        try:
            return decode(text(value)).decode("utf-8", "replace")
        except (binascii.Error, ValueError) as e:
            return str(e)

    return function


def _digest(name: str) -> Callable[[Any], str]:
    return lambda value: hashlib.new(name, text(value).encode()).hexdigest()


def _url_parts(value: Any) -> dict[str, str]:
    try:
        url = urlsplit(text(value))
    except ValueError as e:
        raise Fault(f"the text is not a URL: {e}") from e
    user, _, host = url.netloc.rpartition("@")
    return {
        "scheme": url.scheme,
        "host": host,
        "hostname": url.hostname or "",
        "path": unquote(url.path),
        "query": url.query,
        "opaque": "",
        "fragment": unquote(url.fragment),
        "userinfo": user,
    }


def _url(parts: Any) -> str:
    part = {key: text(value) for key, value in mapping(parts).items()}
    user = part.get("userinfo")
    host = f"{user}@{part.get('host', '')}" if user else part.get("host", "")
    names = ("scheme", "", "path", "query", "fragment")
    return urlunsplit([host if not name else part.get(name, "") for name in names])


def _extension(path: Any) -> str:
    _, dot, extension = posixpath.basename(text(path)).rpartition(".")
    return dot + extension if dot else ""


ENCODINGS: dict[str, Callable[..., Any]] = {
    "adler32sum": lambda value: str(zlib.adler32(text(value).encode())),
    "b32dec": _decoded(base64.b32decode),
    "b32enc": lambda value: base64.b32encode(text(value).encode()).decode(),
    "b64dec": _decoded(lambda value: base64.b64decode(value, validate=True)),
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
    "toYaml": lambda value: yaml.dump(value, sort_keys=True).rstrip("\n"),
    "urlJoin": _url,
    "urlParse": _url_parts,
    "urlquery": lambda *values: quote_plus(sprint(*values), safe="~"),
}
