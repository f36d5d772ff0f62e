"""Makes bearer tokens: those of components, in the API server's file format, and others.

A client certificate is verified by the API server on every single request, a token is looked up:
measured under load, certificates of the components cost a fifth of its CPU. The file holds one line
per identity, `token,user,uid,"group,group"`
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file).
"""

import csv
import io
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from kwokctl.host.files import write_atomic
from kwokctl.model import Identity

_BYTES = 32


def ensure_tokens(path: Path, identities: Sequence[Identity]) -> Mapping[str, str]:
    """Make the file, readable by its owner only, and return each identity's token by its name.

    Tokens that are there stay; tokens of identities that are not asked for are removed.
    """
    known = _read(path)
    tokens = {i.name: known.get(i.name) or secrets.token_urlsafe(_BYTES) for i in identities}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for identity in identities:
        groups = ",".join(identity.organizations)
        rows.writerow([tokens[identity.name], identity.common_name, identity.name, groups])
    write_atomic(path, text.getvalue(), mode=0o600)
    return tokens


def new_token(path: Path) -> str:
    """Write a token, in place of a former one, to a file that its owner only can read; return it."""
    token = secrets.token_urlsafe(_BYTES)
    write_atomic(path, f"{token}\n", mode=0o600)
    return token


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(encoding="ascii", errors="replace", newline="") as file:
        return {row[2]: row[0] for row in csv.reader(file) if len(row) == 4}
