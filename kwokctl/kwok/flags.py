"""The flags of the command `kwok`: the controller's, and those of the kubelet server beside it."""

import argparse
from pathlib import Path

from kwokctl.controller.flags import parser as controller_parser
from kwokctl.embedded.flag_parser import SWITCH, FlagParser, RefusedFlag

_NO_TOKEN_FILE = "leave it out: the server asks for tokens of the cluster"  # noqa: S105 - a remedy

_OWN_METRICS = "leave it out: the server has the metrics of the fleet itself"


def parser() -> FlagParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = controller_parser()
    made.description = (
        "Acts as the kubelet of fake nodes in any cluster: nodes become Ready, pods run and end as "
        "Stages define, and logs and similar are served."
    )
    add = made.add_argument
    add("-c", "--config", action="append", default=[], metavar="FILE",
        help="file of documents; may be repeated (default: ~/.kwok/kwok.yaml if it exists)")  # fmt: skip
    add("--server-address", dest="serverAddress", metavar="HOST:PORT",
        help="address of the server for health, metrics and the kubelet API (default: 0.0.0.0 and the "
        "node port; without either there is no server)")  # fmt: skip
    add("--tls-cert-file", dest="tlsCertFile", metavar="FILE",
        help="certificate of the server (default: a new one, from a CA of its own)")  # fmt: skip
    add("--tls-private-key-file", dest="tlsPrivateKeyFile", metavar="FILE",
        help="key of the server's certificate")  # fmt: skip
    add("--enable-crds", action="append", default=[], metavar="KIND,…",
        help="kinds of documents to read from the cluster, too, as custom resources; may be "
        "repeated")  # fmt: skip
    for name in ("annotation", "label"):
        add(f"--disregard-status-with-{name}-selector", metavar="SELECTOR",
            dest=f"disregardStatusWith{name.capitalize()}Selector",
            help=f"do not write nodes and pods whose {name}s match (deprecated)")  # fmt: skip
    _add_access(made)
    _refuse(made)
    return made


def _add_access(made: argparse.ArgumentParser) -> None:
    """Add the flags that say which clients may ask the server for what; the names are the kubelet's."""
    add = made.add_argument
    add("--client-ca-file", type=Path, metavar="FILE",
        help="CA of client certificates (default: the cluster's)")  # fmt: skip
    add("--anonymous-auth", default=False, **SWITCH,
        help="accept clients without a credential, as the user 'system:anonymous' (default: false)")  # fmt: skip
    add("--authorization-mode", choices=("Webhook", "AlwaysAllow"), default="Webhook",
        help="ask the API server whether a user may send a request (Webhook, the default), or allow every authenticated user (AlwaysAllow)")  # fmt: skip


def _refuse(made: argparse.ArgumentParser) -> None:
    """Refuse what has no effect."""
    made.add_argument(
        "--server-token-file", action=RefusedFlag, remedy=_NO_TOKEN_FILE, help=argparse.SUPPRESS
    )
    made.add_argument(
        "--fleet-metrics", action=RefusedFlag, remedy=_OWN_METRICS, help=argparse.SUPPRESS
    )
