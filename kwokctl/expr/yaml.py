"""Reads and writes YAML as the Kubernetes tools do: what comes out is what JSON could hold.

PyYAML's scanner does the work; its rules for what a scalar means are replaced by `scalars`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from kwokctl.errors import ConfigError
from kwokctl.expr import scalars
from kwokctl.expr.yaml_events import documents


def load(text: str) -> Any:
    """Return the only document of `text`, None if it is empty.

    Mapping keys are texts, whatever they look like. Raises ConfigError, with line and column, if
    the text is not YAML, holds more than one document, a key of a mapping twice, or a value that
    JSON has not.
    """
    found = documents(text)
    document = next(found, None)
    if next(found, _NOTHING) is not _NOTHING:
        raise ConfigError("more than one YAML document where one is expected")
    return document


def load_all(text: str) -> list[Any]:
    """Return every document of `text`, None for each empty one; errors as `load`."""
    return list(documents(text))


def dump(obj: Any, *, sort_keys: bool = False) -> str:
    """Return `obj`, made of JSON values, as one YAML document; keys keep their order, or are sorted.

    Every YAML reader gets the same values back: a text that any of them could take for something
    else is quoted. A text of several lines is a block.
    """
    return dump_all([obj], sort_keys=sort_keys)


def dump_all(objs: Iterable[Any], *, sort_keys: bool = False) -> str:
    """Return several documents, separated by `---` lines."""
    import yaml  # noqa: PLC0415 - not needed by commands that write no file

    written = (
        yaml.dump(
            obj,
            Dumper=_dumper(),
            allow_unicode=True,
            default_flow_style=False,
            sort_keys=sort_keys,
            width=2**31 - 1,
        )
        for obj in objs
    )
    # A document that is a plain scalar is closed by a line of its own, which says nothing.
    return "---\n".join(text.removesuffix("...\n") for text in written)


_NOTHING = object()


@cache
def _dumper() -> Any:
    """Make the class that writes; built on first use, since it needs the YAML library."""
    import yaml  # noqa: PLC0415 - see `dump_all`

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]  # the base is the fastest one there is
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value.rstrip("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style)

    def other(dumper: Any, value: Any) -> Any:
        if isinstance(value, Mapping):
            return dumper.represent_dict(dict(value))
        if isinstance(value, Sequence):
            return dumper.represent_list(list(value))
        raise TypeError(f"a {type(value).__name__} cannot be written as YAML")

    Dumper.add_representer(str, text)
    Dumper.add_multi_representer(str, text)
    Dumper.add_representer(None, other)
    # Beside PyYAML's own rules: quote what our reader, or one of YAML 1.2, would not read as text.
    Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _either(scalars.WORDS), None)
    Dumper.add_implicit_resolver("tag:yaml.org,2002:float", scalars.NUMBER, list("+-.0123456789"))
    return Dumper


def _either(words: Iterable[str]) -> Any:
    import re  # noqa: PLC0415 - only the writer needs it

    return re.compile("(?:" + "|".join(map(re.escape, words)) + r")\Z")
