"""Reads from a kubeconfig how to reach a cluster: its address, CA and credentials."""

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from kwokctl.errors import ConfigError, KwokctlError, NotFoundError, UsageError
from kwokctl.expr import yaml
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.credential_plugin import CredentialPlugin, read_plugin

Entry = Mapping[str, Json]


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The address of an API server, the CA to trust, and the credentials. PEM is bytes."""

    server: str
    """Such as `https://127.0.0.1:6443`, with a path if the API lies below one."""
    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = None
    token: str | None = None
    token_file: Path | None = None
    """The file from which the token was read: it may be replaced."""
    plugin: CredentialPlugin | None = None
    """The plug-in that is run for a credential."""
    expires: datetime | None = None
    """The time at which the plug-in's credential expires, if it is known."""
    basic: tuple[str, str] | None = None
    """A name and a password, for a proxy before the API server that asks for them."""
    insecure: bool = False
    """Trust any server."""
    tls_server_name: str | None = None
    """The name in the server's certificate, if it is not the one that is dialled."""
    as_user: str = ""
    """The user in whose place to act; the cluster must allow that."""
    as_groups: tuple[str, ...] = ()
    """The groups of that user."""

    @property
    def authorization(self) -> str | None:
        """The `Authorization` header, if there is to be one."""
        if self.token is not None:
            return f"Bearer {self.token}"
        if self.basic is not None:
            return f"Basic {base64.b64encode(':'.join(self.basic).encode()).decode()}"
        return None


def load_access(
    kubeconfig: Path, context: str | None = None, *, with_plugins: bool = False
) -> Access:
    """Read how to reach the cluster of a context, by default the current one.

    The caller runs the plug-in of a user that has one, and says so by `with_plugins`. Raises ConfigError, with the file and the key, for what cannot be understood; NotFoundError for
    a context that is not there; UsageError for what is valid but cannot be used here.
    """
    try:
        return _Reader(kubeconfig, with_plugins=with_plugins).read(context)
    except UnicodeDecodeError as e:
        raise ConfigError(f"the kubeconfig '{kubeconfig}' is not text") from e


class _Reader:
    """Reads one kubeconfig, and can say where in it something is wrong."""

    def __init__(self, path: Path, *, with_plugins: bool) -> None:
        self._path = path
        self._with_plugins = with_plugins

    def read(self, context: str | None) -> Access:
        document = self._document()
        name = context or self._text(document, "current-context", "current-context")
        if not name:
            raise self._wrong("current-context", "is not set", "name a context")
        chosen = self._named(document, "contexts", "context", name)
        where = f"contexts[{name}].context"
        cluster_name = self._required(chosen, "cluster", where)
        cluster = self._named(document, "clusters", "cluster", cluster_name)
        user_name = self._text(chosen, "user", where)
        user = self._named(document, "users", "user", user_name) if user_name else {}
        return self._access(
            cluster, f"clusters[{cluster_name}].cluster",
            user, f"users[{user_name}].user",
        )  # fmt: skip

    def _access(self, cluster: Entry, in_cluster: str, user: Entry, in_user: str) -> Access:
        self._refuse(cluster, in_cluster, user, in_user)
        insecure = cluster.get("insecure-skip-tls-verify") or False
        if not isinstance(insecure, bool):
            raise self._wrong(f"{in_cluster}.insecure-skip-tls-verify", "must be true or false")
        cert = self._pem(user, "client-certificate", in_user)
        key = self._pem(user, "client-key", in_user)
        if (cert is None) != (key is None):
            missing = "client-certificate" if cert is None else "client-key"
            raise self._wrong(f"{in_user}.{missing}", "is missing beside its counterpart")
        return Access(
            server=self._server(cluster, in_cluster),
            ca=None if insecure else self._pem(cluster, "certificate-authority", in_cluster),
            cert=cert,
            key=key,
            token=self._token(user, in_user),
            token_file=self._token_file(user, in_user),
            plugin=self._plugin(cluster, user, in_user),
            basic=self._basic(user, in_user),
            insecure=insecure,
            tls_server_name=self._text(cluster, "tls-server-name", in_cluster) or None,
        )

    def _document(self) -> Entry:
        try:
            document = yaml.load(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError as e:
            raise ConfigError(f"there is no kubeconfig '{self._path}'") from e
        except OSError as e:
            raise ConfigError(f"'{self._path}' cannot be read: {e.strerror}") from e
        except KwokctlError as e:
            raise ConfigError(f"the kubeconfig '{self._path}' is not YAML", detail=str(e)) from e
        if not isinstance(document, Mapping):
            raise ConfigError(f"'{self._path}' is not a kubeconfig: it holds no mapping")
        return document

    def _named(self, document: Entry, table: str, inner: str, name: str) -> Entry:
        entries = document.get(table) or []
        if not isinstance(entries, list):
            raise self._wrong(table, "must be a list")
        names = []
        for entry in entries:
            if not isinstance(entry, Mapping):
                raise self._wrong(table, "must be a list of mappings")
            if entry.get("name") == name:
                found = entry.get(inner) or {}
                if not isinstance(found, Mapping):
                    raise self._wrong(f"{table}[{name}].{inner}", "must be a mapping")
                return found
            names.append(str(entry.get("name")))
        raise NotFoundError(
            f"the kubeconfig '{self._path}' has no {inner} called '{name}'",
            hint=f"it has {', '.join(repr(n) for n in names)}" if names else None,
        )

    def _refuse(self, cluster: Entry, in_cluster: str, user: Entry, in_user: str) -> None:
        for key in ("auth-provider",) if self._with_plugins else ("exec", "auth-provider"):
            if user.get(key):
                raise UsageError(
                    f"'{in_user}.{key}' of '{self._path}' is not supported here",
                    hint="create a token, such as by 'kubectl create token NAME', and use a "
                    "kubeconfig whose user has it as 'token'",
                )
        for key in ("as", "as-uid", "as-groups", "as-user-extra"):
            if user.get(key):
                raise UsageError(
                    f"'{in_user}.{key}' of '{self._path}' is not supported: "
                    "kwokctl cannot impersonate",
                    hint="use a kubeconfig with the wanted user's own certificate or token",
                )
        if cluster.get("proxy-url"):
            raise UsageError(
                f"'{in_cluster}.proxy-url' of '{self._path}' is not supported",
                hint="use a kubeconfig whose server can be reached directly",
            )

    def _server(self, cluster: Entry, where: str) -> str:
        server = self._required(cluster, "server", where)
        url = server if "://" in server else f"http://{server}"
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port
        except ValueError:
            usable = False
        if not usable:
            raise self._wrong(f"{where}.server", f"is not a URL of an API server: '{server}'")
        return url.rstrip("/")

    def _token(self, user: Entry, where: str) -> str | None:
        file = self._text(user, "tokenFile", where)
        if file:
            content = self._content(file, f"{where}.tokenFile")
            return content.decode("ascii", errors="replace").strip() or None
        return self._text(user, "token", where) or None

    def _token_file(self, user: Entry, where: str) -> Path | None:
        file = self._text(user, "tokenFile", where)
        return self._path.absolute().parent / file if file else None

    def _plugin(self, cluster: Entry, user: Entry, where: str) -> CredentialPlugin | None:
        entry = user.get("exec")
        if not entry:
            return None
        folder = self._path.absolute().parent
        return read_plugin(entry, cluster, folder, f"'{self._path}'", f"{where}.exec")

    def _basic(self, user: Entry, where: str) -> tuple[str, str] | None:
        name = self._text(user, "username", where)
        return (name, self._text(user, "password", where)) if name else None

    def _pem(self, entry: Entry, key: str, where: str) -> bytes | None:
        """Read PEM given inline or, if not, as a file's name."""
        if data := self._text(entry, f"{key}-data", where):
            try:
                return base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError) as e:
                raise self._wrong(f"{where}.{key}-data", "is not base64") from e
        file = self._text(entry, key, where)
        return self._content(file, f"{where}.{key}") if file else None

    def _content(self, file: str, where: str) -> bytes:
        path = self._path.absolute().parent / Path(file)
        try:
            return path.read_bytes()
        except OSError as e:
            raise self._wrong(where, f"names '{path}', which cannot be read: {e.strerror}") from e

    def _required(self, entry: Entry, key: str, where: str) -> str:
        value = self._text(entry, key, where)
        if not value:
            raise self._wrong(f"{where}.{key}", "is missing")
        return value

    def _text(self, entry: Entry, key: str, where: str) -> str:
        value = entry.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(f"{where}.{key}", "must be a string: put it into quotes")
        return value

    def _wrong(self, key: str, why: str, hint: str | None = None) -> ConfigError:
        return ConfigError(f"'{key}' of the kubeconfig '{self._path}' {why}", hint=hint)
