"""Gets credentials from the plug-in that a kubeconfig names, as those of cloud providers do.

The protocol: https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
"""

import asyncio
import base64
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kwokctl.errors import CommandError, ConfigError, UnavailableError
from kwokctl.host import process
from kwokctl.json_value import Json

GROUP = "client.authentication.k8s.io"
_VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
_INFO = "KUBERNETES_EXEC_INFO"
_PATIENCE = 60.0
"""Seconds for an answer; a plug-in may ask a provider."""


class CredentialPlugin(msgspec.Struct, frozen=True, kw_only=True):
    """A program that prints a credential."""

    argv: Sequence[str]
    env: Mapping[str, str]
    """Variables beside those of this process."""
    api_version: str
    install_hint: str
    cluster: Mapping[str, Json] | None
    """The cluster that the credential is for, if the program wants to know."""
    place: str
    """The place that names it, for messages."""


class PluginCredential(msgspec.Struct, frozen=True, kw_only=True):
    """The credential that a plug-in has printed."""

    token: str | None
    cert: bytes | None
    key: bytes | None
    expires: datetime | None


class _Variable(msgspec.Struct, frozen=True):
    name: str
    value: str


class _Exec(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    command: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    status: _Status


def read_plugin(
    entry: Json, cluster: Mapping[str, Json], folder: Path, place: str, key: str
) -> CredentialPlugin:
    """Read the `exec` of a user; a command with a slash is relative to the kubeconfig's `folder`.

    ConfigError, with the place, for one that cannot be run without a person.
    """
    try:
        found = msgspec.convert(entry, _Exec)
    except msgspec.ValidationError as e:
        raise ConfigError(f"'{key}' of {place}: {str(e).replace('`', chr(39))}") from e
    if found.api_version not in _VERSIONS:
        raise ConfigError(
            f"'{key}.apiVersion' of {place} is '{found.api_version}'",
            hint=f"kwokctl runs plug-ins of {' and '.join(_VERSIONS)}",
        )
    if found.interactive_mode == "Always":
        raise ConfigError(
            f"'{key}.interactiveMode' of {place} is 'Always': kwokctl shows no prompts",
            hint="use a kubeconfig whose user has a token, such as of 'kubectl create token NAME'",
        )
    command = str(folder / found.command) if "/" in found.command else found.command
    return CredentialPlugin(
        argv=(command, *(found.args or ())),
        env={variable.name: variable.value for variable in found.env or ()},
        api_version=found.api_version,
        install_hint=found.install_hint,
        cluster=_described(cluster, folder) if found.provide_cluster_info else None,
        place=f"'{key}' of {place}",
    )


async def run_plugin(plugin: CredentialPlugin, *, patience: float = _PATIENCE) -> PluginCredential:
    """Run a plug-in without a prompt; ConfigError, with what it said, if it gives no credential."""
    name = plugin.argv[0]
    try:
        async with asyncio.timeout(patience):
            answer = await process.run(*plugin.argv, env={**plugin.env, _INFO: _info(plugin)})
    except TimeoutError as e:
        raise _failed(plugin, f"has not answered within {patience:.0f} s", None) from e
    except CommandError as e:
        raise _failed(plugin, "has failed", e.detail) from e
    except (UnavailableError, OSError) as e:
        hint = plugin.install_hint or f"install '{name}', or use a kubeconfig with a token"
        text = f"the credential plug-in '{name}' ({plugin.place}) cannot be run"
        raise ConfigError(text, hint=hint, detail=str(e)) from e
    return _read(plugin, answer)


def _read(plugin: CredentialPlugin, answer: str) -> PluginCredential:
    try:
        found = msgspec.json.decode(answer, type=_Answer)
    except msgspec.MsgspecError as e:
        raise _failed(plugin, "has printed no ExecCredential", str(e)) from e
    status = found.status
    has_pair = bool(status.client_certificate_data and status.client_key_data)
    if found.api_version != plugin.api_version or not (status.token or has_pair):
        text = f"has printed no credential of {plugin.api_version}"
        raise _failed(plugin, text, None)
    return PluginCredential(
        token=status.token or None,
        cert=(status.client_certificate_data or "").encode() if has_pair else None,
        key=(status.client_key_data or "").encode() if has_pair else None,
        expires=_in_utc(status.expiration_timestamp),
    )


def seconds_until_renewal(
    expires: datetime | None, now: Callable[[], datetime], least: float
) -> float | None:
    """Return how long a credential is shown before the next one: four fifths of what is left of it."""
    if expires is None:
        return None
    return max(least, (expires - now()).total_seconds() * 0.8)


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=moment.tzinfo or UTC) if moment else None


def _info(plugin: CredentialPlugin) -> str:
    spec: dict[str, Json] = {"interactive": False}
    if plugin.cluster is not None:
        spec["cluster"] = dict(plugin.cluster)
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(info).decode()


def _described(cluster: Mapping[str, Json], folder: Path) -> Mapping[str, Json]:
    """Return a cluster as plug-ins see it, with its authority and its extension for them."""
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data")
    found = {name: cluster[name] for name in names if cluster.get(name)}
    if file := cluster.get("certificate-authority"):
        content = (folder / str(file)).read_bytes()
        found.setdefault("certificate-authority-data", base64.b64encode(content).decode())
    for extension in cluster.get("extensions") or ():
        if extension.get("name") == f"{GROUP}/exec":
            found["config"] = extension.get("extension")
    return found


def _failed(plugin: CredentialPlugin, why: str, detail: str | None) -> ConfigError:
    text = f"the credential plug-in '{plugin.argv[0]}' ({plugin.place}) {why}"
    hint = "run it by itself, or log in again with the tool of the provider"
    return ConfigError(text, hint=hint, detail=detail)
