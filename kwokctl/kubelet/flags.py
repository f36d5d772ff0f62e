"""The flags of the kubelet server; those that kubelets have are spelt as theirs."""

import argparse
from pathlib import Path

from kwokctl import __version__
from kwokctl.embedded.flags import SWITCH, FlagParser, log_level


def parser() -> argparse.ArgumentParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = FlagParser(
        prog="kwok-kubelet",
        allow_abbrev=False,
        description="Serves the kubelet API of every fake node: logs of containers and similar, "
        "as documents define.",
    )
    add = made.add_argument
    add("--kubeconfig", type=Path,
        help="how to reach the cluster (default: ~/.kube/config if it exists)")  # fmt: skip
    add("--master", default="", help="address of the API server, instead of the kubeconfig's")
    add("-c", "--config", action="append", default=[],
        help="file of documents, such as Logs; may be repeated")  # fmt: skip
    add("--enable-crds", action="append", default=[], metavar="KIND,…",
        help="kinds of documents that are also read from the cluster, as custom resources: any but "
        "Stage; may be repeated")  # fmt: skip
    _add_selection(made)
    add("--server-address", required=True, help="host:port to answer on; several hosts with commas")
    add("--egress-socket", type=Path,
        help="unix socket at which the API server requests connections to nodes and to all other addresses")  # fmt: skip
    _add_access(made)
    _add_relays(made)
    add("-v", "--v", type=log_level, default=0, help="log level: a number or a name")
    add("--version", action="version", version=f"kwok-kubelet version {__version__}")
    return made


def _add_selection(made: argparse.ArgumentParser) -> None:
    """Add the flags that say which nodes are fake ones: the controller's."""
    add = made.add_argument
    add("--manage-all-nodes", default=False, **SWITCH, help="every node is a fake one")
    add("--manage-single-node", default="", help="the one fake node, by name")
    add("--manage-nodes-with-annotation-selector", default="")
    add("--manage-nodes-with-label-selector", default="")


def _add_relays(made: argparse.ArgumentParser) -> None:
    """Add the flags that say whose metrics are relayed."""
    add = made.add_argument
    add("--controller-metrics-url", default="", help="URL of the controller's metrics")
    add("--controller-token-file", type=Path, help="token for these metrics")
    add("--etcd-metrics-url", default="", help="URL of etcd's metrics")
    add("--etcd-socket", type=Path, help="unix socket of etcd to dial instead of the URL's host")
    add("--etcd-cafile", type=Path, help="CA of etcd's certificate")
    add("--etcd-certfile", type=Path, help="client certificate for etcd")
    add("--etcd-keyfile", type=Path, help="key of that certificate")


def _add_access(made: argparse.ArgumentParser) -> None:
    """Add the flags that say which clients may ask for what; the names are the kubelet's."""
    add = made.add_argument
    add("--tls-cert-file", type=Path, help="certificate of the server; without it TLS is not used")
    add("--tls-private-key-file", type=Path, help="key of that certificate")
    add("--client-ca-file", type=Path, help="CA of client certificates")
    add("--anonymous-auth", default=False, **SWITCH,
        help="whether a client without a credential is a user, 'system:anonymous'")  # fmt: skip
    add("--authorization-mode", choices=("Webhook", "AlwaysAllow"), default="Webhook",
        help="authorize requests by the API server, or allow every known user")  # fmt: skip
    add("--enable-debugging-handlers", default=True, **SWITCH,
        help="whether logs and similar are served")  # fmt: skip
    add("--enable-profiling", default=False, **SWITCH,
        help="whether /debug/pprof/profile gives a CPU profile of this process")  # fmt: skip
