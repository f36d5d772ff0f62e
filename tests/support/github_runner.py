"""Runs the steps of a composite action of GitHub as its runner does: shells, environment and files.

https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
_WANTED = re.compile(r"inputs\.([\w-]+) != ''")


@dataclass(frozen=True, slots=True)
class Runner:
    """A job that uses an action."""

    action: Mapping[str, Any]
    folder: Path
    """The job's own, and empty."""
    github: Mapping[str, str]
    """The context `github`, such as where the action is."""
    temp: Path
    """What steps have for files; another use of an action in the same job finds them again."""
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, action: Path, folder: Path, temp: Path, github: Mapping[str, str]) -> "Runner":
        """Read an action."""
        return cls(yaml.safe_load(action.read_text(encoding="utf-8")), folder, github, temp)

    def run(self, **given: str) -> int:
        """Run the action's steps until one fails; return the exit code of the last one."""
        inputs = {name: one.get("default") or "" for name, one in self.action["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        for step in self.action["runs"]["steps"]:
            assert step["shell"] == "bash"
            wanted = _WANTED.fullmatch(step.get("if", ""))
            if wanted and not inputs[wanted[1]]:
                continue
            if code := self._run(step, inputs):
                return code
        return 0

    def path(self) -> list[str]:
        """Return the folders that the action has put before those of PATH."""
        return self._lines("path")

    def outputs(self) -> dict[str, str]:
        """Return the outputs of the steps."""
        return dict(line.split("=", 1) for line in self._lines("output"))

    def _run(self, step: Mapping[str, Any], inputs: Mapping[str, str]) -> int:
        known = {f"inputs.{name}": value for name, value in inputs.items()}
        known |= {f"github.{name}": value for name, value in self.github.items()}
        own = {
            name: _EXPRESSION.sub(lambda found: known[found[1]], text)
            for name, text in step["env"].items()
        }
        path = os.pathsep.join([*self.path(), os.environ["PATH"]])
        files = {
            "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "RUNNER_TEMP": str(self.temp),
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            env={**os.environ, **own, **files, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        self.said.append(done.stdout + done.stderr)
        return done.returncode

    def _lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
