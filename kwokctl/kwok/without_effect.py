"""Refuses flags of the command `kwok` that have no effect beside the others."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import FOR_KUBELET
from kwokctl.controller.configuration import KIND
from kwokctl.controller.flags import NO_TRACING
from kwokctl.errors import UsageError
from kwokctl.json_value import Json


class _Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something without which some flags have no effect."""

    is_met: Callable[[argparse.Namespace, Mapping[str, Json]], bool]
    """By the flags and by the options of flags and documents."""
    lack: str
    remedy: str
    flags: Mapping[str, str]
    """The attributes in which the parser keeps the value of each flag."""


_NEEDS = (
    _Need(
        is_met=lambda flags, _: flags.data_path != "api",
        lack="everything is written through the API",
        remedy="give '--data-path auto', too, or leave it out",
        flags={
            "--etcd-endpoint": "etcd_endpoint",
            "--etcd-cafile": "etcd_cafile",
            "--etcd-certfile": "etcd_certfile",
            "--etcd-keyfile": "etcd_keyfile",
            "--etcd-prefix": "etcd_prefix",
            "--managed-fields": "managed_fields",
        },
    ),
    _Need(
        is_met=lambda _, options: _is_served(options),
        lack="nothing is served",
        remedy="give '--node-port' or '--server-address', too, or leave it out",
        flags={
            "--tls-cert-file": "tlsCertFile",
            "--tls-private-key-file": "tlsPrivateKeyFile",
            "--client-ca-file": "client_ca_file",
            "--anonymous-auth": "anonymous_auth",
            "--authorization-mode": "authorization_mode",
            "--enable-crds": "enable_crds",
        },
    ),
    _Need(
        is_met=lambda _, options: bool(options["nodeLeaseDurationSeconds"]),
        lack="nodes have no leases",
        remedy="give '--node-lease-duration-seconds' as well, such as 40, or leave it out",
        flags={"--holder-identity": "holder_identity"},
    ),
)


def refuse_without_effect(
    flags: argparse.Namespace,
    default: Callable[[str], object],
    options: Mapping[str, Json],
    documents: Sequence[Document],
) -> None:
    """Raise UsageError for a flag whose value changes nothing, and for tracing in a document.

    A flag with its default value says what holds anyway.
    """
    for need in _NEEDS:
        if need.is_met(flags, options):
            continue
        for flag, name in need.flags.items():
            if set(_meant(getattr(flags, name))) - set(_meant(default(name))):
                raise UsageError(f"'{flag}' has no effect: {need.lack}", hint=need.remedy)
    for document in documents:
        if document.kind == KIND and _says_something(document.body.get("tracing")):
            raise document.fault("tracing", "is not supported", hint=NO_TRACING)


def without_server(
    options: Mapping[str, Json], kinds: frozenset[str], documents: Sequence[Document]
) -> Sequence[str]:
    """Name the documents and options of files that nothing comes of, since nothing is served."""
    if _is_served(options):
        return ()
    given = {document.kind for document in documents} | kinds
    names = {name for name in ("tlsCertFile", "tlsPrivateKeyFile") if options[name]}
    return sorted(FOR_KUBELET & given | names)


def _is_served(options: Mapping[str, Json]) -> bool:
    return bool(options["serverAddress"] or options["nodePort"])


def _says_something(value: Json) -> bool:
    return any(value.values()) if isinstance(value, Mapping) else bool(value)


def _meant(value: object) -> Iterator[object]:
    """Yield what is meant: of kinds of documents those that are for the server."""
    if isinstance(value, list):
        yield from FOR_KUBELET.intersection(",".join(value).split(","))
    else:
        yield value
