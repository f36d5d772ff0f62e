"""A Go toolchain that publishes modules and builds programs without a compiler.

Copied as `go` into a folder of PATH by `install_go`. Its configuration lies beside it: `release`,
`modules/PATH@VERSION.mod`, beside it a folder `PATH@VERSION` with the files of a module, `lacking`, which is what it says when it lacks a module, and `hold`, a file for whose disappearance a build waits. Each call is
written down in `calls`.
"""

import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def install_go(folder: Path, *, release: str = "1.26.8") -> Path:
    """Put the fake into a folder, and return that folder."""
    folder.mkdir(parents=True)
    source = Path(__file__).read_text(encoding="utf-8")
    program = folder / "go"
    program.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
    program.chmod(0o755)
    (folder / "release").write_text(release, encoding="utf-8")
    (folder / "modules").mkdir()
    return folder


def publish_module(folder: Path, module: str, version: str, text: str) -> None:
    """Let the fake's proxy have a module."""
    path = folder / "modules" / f"{module}@{version}.mod"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def publish_files(folder: Path, module: str, version: str, files: dict[str, str]) -> None:
    """Let the fake's proxy have a module with these files, which cannot be written, as Go's cache has it."""
    publish_module(folder, module, version, files["go.mod"])
    root = folder / "modules" / f"{module}@{version}"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o444)


def calls(folder: Path) -> list[str]:
    """Return what the fake was asked, a line a call."""
    path = folder / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def download(modules: list[str]) -> int:
    status = 0
    for module in modules:
        path, _, version = module.partition("@")
        text = HERE / "modules" / f"{module}.mod"
        answer = {"Path": path, "Version": version}
        if text.exists():
            answer["GoMod"] = str(text)
            if (files := text.with_suffix("")).is_dir():
                answer["Dir"] = str(files)
        else:
            answer["Error"] = f"{module}: not found"
            status = 1
        print(json.dumps(answer, indent="\t"))
    return status


def lack() -> int:
    lacking = HERE / "lacking"
    if lacking.exists():
        print(lacking.read_text(), file=sys.stderr)
    return int(lacking.exists())


def versions(module: str) -> list[str]:
    path = HERE / "modules" / module
    return [file.name.partition("@")[2][:-4] for file in path.parent.glob(f"{path.name}@*.mod")]


def build(words: list[str]) -> int:
    folder = words[words.index("-o") + 1]
    out = Path(folder)
    if folder.endswith("/"):
        out.mkdir()
    packages = words[words.index("-o") + 2 :]
    print("k8s.io/example/one", file=sys.stderr, flush=True)
    while (HERE / "hold").exists():
        time.sleep(0.01)
    if (HERE / "broken").exists():
        print("one.go:1:1: syntax error", file=sys.stderr)
        return 1
    for package in packages:
        print(package, file=sys.stderr, flush=True)
        name = package.removesuffix("/v3").rpartition("/")[2]
        program = out / name if out.is_dir() else out
        program.write_text(f"#!/bin/sh\necho {name}\n", encoding="utf-8")
    return 0


def main(words: list[str]) -> int:
    with (HERE / "calls").open("a", encoding="utf-8") as file:
        file.write(" ".join(words) + "\n")
    match words:
        case ["env", "GOVERSION"]:
            print(f"go{(HERE / 'release').read_text()}")
        case ["mod", "download", "-json", *modules]:
            return download(modules)
        case ["get", "-tool", *_]:
            (HERE / "scratch").write_text(Path("go.mod").read_text())
            (HERE / "environment").write_text(json.dumps(dict(os.environ)))
            return lack()
        case ["list", "-m", "-e", "-versions", "-json", *modules]:
            for module in modules:
                print(json.dumps({"Path": module, "Versions": versions(module)}))
        case ["list", *_]:
            (HERE / "main").write_text(Path("go.mod").read_text())
            print("k8s.io/example/one\nk8s.io/example/two")
        case ["build", *_]:
            return build(words)
        case _:
            print(f"go {words[0]}: unknown command", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
