"""A disk without room, as far as this process is concerned."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def full_disk() -> Iterator[None]:
    """Let every write to a regular file fail meanwhile; files can still be made and emptied.

    The limit gives EFBIG where a full disk gives ENOSPC; Python ignores the signal of the limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
