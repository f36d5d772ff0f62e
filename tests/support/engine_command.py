"""The command of a container engine, run as a user runs it."""

import subprocess
from dataclasses import dataclass
from subprocess import PIPE, STDOUT


@dataclass(frozen=True, slots=True)
class EngineCommand:
    """`docker` or `podman`; the environment says which engine it speaks to."""

    program: str

    def words(self, *arguments: str) -> list[str]:
        """Run it, and return the words that it says."""
        return self._run(*arguments, err=PIPE).split()

    def result(self, *arguments: str) -> str:
        """Run it, and return its result as it is."""
        return self._run(*arguments, err=PIPE)

    def lines(self, *arguments: str) -> list[str]:
        """Run it, and return all that it says, line by line."""
        return self._run(*arguments, err=STDOUT).splitlines()

    def containers(self, *arguments: str) -> list[str]:
        """Name the containers, running or not."""
        return sorted(self.words("ps", "--all", "--format", "{{.Names}}", *arguments))

    def _run(self, *arguments: str, err: int) -> str:
        done = subprocess.run(
            [self.program, *arguments], stdout=PIPE, stderr=err, text=True, timeout=180, check=True
        )
        return done.stdout
