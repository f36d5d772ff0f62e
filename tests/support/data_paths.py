"""How a command says that it writes, read from its messages."""

import re

_PATHS = {"straight to etcd": "etcd", "through the API server": "api"}


def data_paths(messages: str) -> list[str]:
    """Return the data paths that a command has named, in their order."""
    found = re.findall(rf"writes: ({'|'.join(_PATHS)}) \(", messages)
    return [_PATHS[words] for words in found]
