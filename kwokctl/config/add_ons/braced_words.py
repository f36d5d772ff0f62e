"""The words in braces of an add-on, which stand for what is known only of one cluster."""

import re
from collections.abc import Iterator

from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.errors import ConfigError

WORD = re.compile(r"\{([a-z]+(?:\.[A-Za-z0-9._-]+)?)\}")
_USUAL = ("kubeconfig", "ca", "cert", "key", "bind", "certificates", "cluster")
_OTHERS = "host."
"""Begins words for the ports of any component, of this add-on or another."""


def check_words(extra: ExtraComponent) -> None:
    """Raise ConfigError for an unknown placeholder in a component of an add-on."""
    known = {*_USUAL, *_own_words(extra)}
    for text in _texts(extra):
        for word in WORD.findall(text):
            if word not in known and not word.startswith(_OTHERS):
                name = extra.add_on.name if extra.add_on else ""
                raise ConfigError(
                    f"the add-on '{name}' has '{{{word}}}' in the component '{extra.name}', which "
                    "is not a known placeholder",
                    hint=f"words in braces are: {', '.join(sorted(known))}, {_OTHERS}COMPONENT.PORT",
                )


def _own_words(extra: ExtraComponent) -> Iterator[str]:
    yield from (f"port.{port.name}" for port in extra.ports)
    yield from (f"file.{name}" for name in (extra.add_on.files if extra.add_on else ()))


def _texts(extra: ExtraComponent) -> Iterator[str]:
    yield from (*extra.args, *extra.envs.values(), *extra.manifests)
    yield from (extra.add_on.files.values() if extra.add_on else ())
