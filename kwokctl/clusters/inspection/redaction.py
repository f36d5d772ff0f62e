"""Takes secrets out of what is exported: a cluster's own, and what looks like one."""

import json
import re
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path

import msgspec

from kwokctl.host.files import write_atomic
from kwokctl.host.paths import ClusterPaths

REDACTED = "REDACTED"
_MARK = REDACTED.encode()
_SECRET_NAME = re.compile(
    r"(?:password|passwd|token|secret|credentials?|api[-_]?key)$", re.IGNORECASE
)
_SECRET_FLAG = re.compile(
    r"^(--?[\w.-]*(?:password|passwd|token|secret|credentials?|api-?key)=).+",
    re.IGNORECASE | re.DOTALL,
)
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s\"']+@")
_QUERY = re.compile(r"^(https?://[^?\s]+\?).+")
_WEB_TOKEN = re.compile(rb"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")
"""A JSON web token, as service accounts have them: its first two parts are JSON objects in base64url
(RFC 7519)."""
_KEY = re.compile(rb"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", re.DOTALL)
_ADDRESS = re.compile(rb"(?<=://)[^/@\s\"']+:[^/@\s\"']+@")
_OF_SECRETS = re.compile(rb'"resource":"secrets"')
_BODIES = ("requestObject", "responseObject")
"""The fields of an audit event that hold whole objects
(https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/)."""


class Redactor(msgspec.Struct, frozen=True):
    """Replaces secrets in text."""

    secrets: Collection[bytes]

    def text(self, content: bytes) -> bytes:
        """Return text, whole lines of it, without secrets."""
        for secret in self.secrets:
            content = content.replace(secret, _MARK)
        content = _ADDRESS.sub(_MARK + b"@", _WEB_TOKEN.sub(_MARK, content))
        content = _KEY.sub(_MARK, content)
        if not _OF_SECRETS.search(content):
            return content
        return b"".join(_without_bodies(line) for line in content.splitlines(keepends=True))

    async def lines(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield what comes in parts without secrets: a part may end amid one."""
        rest = b""
        async for part in parts:
            lines, end, rest = (rest + part).rpartition(b"\n")
            if end:
                yield self.text(lines + end)
        if rest:
            yield self.text(rest)

    def files(self, folder: Path) -> None:
        """Take secrets out of every file below a folder."""
        for file in folder.rglob("*"):
            if file.is_file() and not file.is_symlink():
                content = file.read_bytes()
                if (clean := self.text(content)) != content:
                    write_atomic(file, clean, mode=0o600)


def redactor(paths: ClusterPaths) -> Redactor:
    """Return the redactor that knows the tokens of a cluster's components."""
    rows = _read(paths.tokens).splitlines()
    tokens = [row.partition(b",")[0].strip(b'" ') for row in rows]
    known = {*tokens, _read(paths.controller_token).strip()}
    return Redactor(tuple(secret for secret in known if secret))


def without_secrets(value: object) -> object:
    """Return a document without the values of variables, arguments and keys that are named like secrets."""
    if isinstance(value, Mapping):
        name = value.get("name", value.get("key"))
        return {
            key: REDACTED
            if isinstance(each, str) and _is_secret(str(name) if key == "value" else str(key))
            else without_secrets(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [without_secrets(each) for each in value]
    return _plain(value) if isinstance(value, str) else value


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name))


def _plain(text: str) -> str:
    text = _SECRET_FLAG.sub(rf"\1{REDACTED}", text)
    return _QUERY.sub(rf"\1{REDACTED}", _IN_ADDRESS.sub(f"{REDACTED}@", text))


def _without_bodies(line: bytes) -> bytes:
    """Return an event of the audit log without the Secrets in it; any other line as it is."""
    try:
        event = json.loads(line)
        is_of_secrets = event["objectRef"]["resource"] == "secrets"
    except (ValueError, TypeError, KeyError):
        return line
    if not is_of_secrets:
        return line
    kept = {key: REDACTED if key in _BODIES else value for key, value in event.items()}
    return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
