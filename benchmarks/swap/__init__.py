"""Runs kwokctl and its components with a library in place of one of our clients, to measure both as a whole.

Python imports `sitecustomize` when it starts; the one beside this file waits for the module that is to
be changed, and changes it as soon as it is imported. The product knows nothing of it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "KWOKCTL_BENCH_SWAP"
"""`module=changer`: the module that is waited for, and the module whose `change(module)` is called."""
_ROOT = Path(__file__).parents[2]


@contextmanager
def swapped(module: str, changer: str | None, library: str = "") -> Iterator[None]:
    """Have the processes that are started meanwhile run with a module changed; not if it is None."""
    before = dict(os.environ)
    if changer is not None:
        os.environ[VARIABLE] = f"{module}={changer}"
        os.environ[LIBRARY] = library
        os.environ["PYTHONPATH"] = f"{Path(__file__).parent}:{_ROOT}"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


LIBRARY = "KWOKCTL_BENCH_LIBRARY"
"""Which library the changer takes."""
