"""Under which name this process holds leases."""

import fcntl
import os
import socket
import uuid
from pathlib import Path
from typing import IO


class Identity:
    """A name like "hostname_uuid" that no other controller uses at the same time.

    With a file, the name outlives the process: after a restart the leases are still one's own. The
    file is locked while the process lives; a second process takes a new name of its own.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the name from the file, or make one and write it there."""
        self._file: IO[str] | None = None
        self.name = f"{socket.gethostname()}_{uuid.uuid4()}"
        if path is not None:
            self._keep(path)

    def close(self) -> None:
        """Let another process have the name."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _keep(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return
        stored = file.read().strip()
        if stored:
            self.name = stored
        else:
            file.write(self.name + "\n")
            file.flush()
        self._file = file
