"""Parses the limits of memory and processors that the user gives to components."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kwokctl.config.nearest import did_you_mean
from kwokctl.config.options import ClusterOptions
from kwokctl.config.quantity import to_bytes
from kwokctl.errors import ConfigError, UsageError
from kwokctl.model import Limits

T = TypeVar("T", int, float)
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}", re.ASCII)
_LEAST_CPUS, _MOST_CPUS = 0.01, 100_000
_LEAST_MEMORY = 6 * 1024 * 1024
"""The smallest limit that Docker accepts."""


def parse_limits(
    options: ClusterOptions, known: Sequence[str], *, spared: Sequence[str] = ()
) -> Mapping[str, Limits]:
    """Return the limits of each component that has one.

    A limit without a name is for each but the `spared`. Raises UsageError for what is not a limit,
    and for a component that is not `known`.
    """
    memory = _parsed("--memory-limit", options.limits.memory, known, spared, _memory)
    cpus = _parsed("--cpu-limit", options.limits.cpu, known, spared, _cpus)
    return {
        name: Limits(memory=memory.get(name, 0), cpus=cpus.get(name, 0))
        for name in known
        if name in memory or name in cpus
    }


def _parsed(
    flag: str,
    words: Sequence[str],
    known: Sequence[str],
    spared: Sequence[str],
    read: Callable[[str], T],
) -> dict[str, T]:
    every: dict[str, T] = {}
    named: dict[str, T] = {}
    for word in words:
        name, sign, text = word.rpartition("=")
        try:
            value = read(text)
        except ConfigError as e:
            raise UsageError(
                f"'{flag} {word}' is not a limit", hint=f"for example: {flag} {_EXAMPLES[flag]}"
            ) from e
        if not sign:
            every = {each: value for each in known if each not in spared}
        elif name in known:
            named[name] = value
        else:
            raise UsageError(
                f"'{flag} {word}' names the unknown component '{name}'",
                hint=did_you_mean(name, known) or f"components are: {', '.join(known)}",
            )
    return every | named


_EXAMPLES = {"--memory-limit": "4Gi, or etcd=1Gi", "--cpu-limit": "2, or kube-scheduler=0.5"}


def _memory(text: str) -> int:
    size = to_bytes(text)
    if not _LEAST_MEMORY <= size < 2**63:
        raise ConfigError(f"'{text}' is not a valid limit")
    return size


def _cpus(text: str) -> float:
    number = float(text) if _DECIMAL.fullmatch(text) else 0.0
    if not _LEAST_CPUS <= number <= _MOST_CPUS:
        raise ConfigError(f"'{text}' is not a number of processors")
    return number
