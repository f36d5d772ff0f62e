"""The flags of the proxy."""

import argparse
from pathlib import Path

from kwokctl import __version__
from kwokctl.embedded.flag_parser import FlagParser, log_level, parse_address


def parser() -> argparse.ArgumentParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = FlagParser(prog="kwok-api-proxy", allow_abbrev=False)
    add = made.add_argument
    add("--listen-address", required=True, type=parse_address, help="host:port to listen on")
    add("--server-address", required=True, type=parse_address, help="host:port of the API server")
    add("--kubeconfig", required=True, type=Path, help="for the watch on Faults, past this proxy")
    add("--ca-file", required=True, type=Path, help="authority of the API server and of clients")
    add("--tls-cert-file", required=True, type=Path, help="certificate to show to clients")
    add("--tls-private-key-file", required=True, type=Path, help="key of that certificate")
    add("--front-proxy-cert-file", required=True, type=Path, help="certificate of a front proxy")
    add("--front-proxy-key-file", required=True, type=Path, help="key of that certificate")
    add("--token-auth-file", required=True, type=Path, help="tokens with their users")
    add("-v", "--v", type=log_level, default=0, help="log level: a number or a name")
    add("--version", action="version", version=f"kwok-api-proxy version {__version__}")
    return made
