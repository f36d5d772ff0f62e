"""Changes a module of kwokctl once it is imported, in every process that has it in its path."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Changer(MetaPathFinder):
    """Finds one module as the others would, and has it changed when it has been run."""

    def __init__(self, name: str, changer: str) -> None:
        self._name, self._changer = name, changer

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        assert spec is not None
        assert spec.loader is not None
        run = spec.loader.exec_module

        def run_and_change(module: ModuleType) -> None:
            run(module)
            importlib.import_module(self._changer).change(module)

        vars(spec.loader)["exec_module"] = run_and_change
        return spec


if _swap := os.environ.get("KWOKCTL_BENCH_SWAP"):
    sys.meta_path.insert(0, _Changer(*_swap.split("=")))
