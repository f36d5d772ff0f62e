"""Reads from the sources of Kubernetes and etcd which flags each minor release of a component has.

    python tests/support/flags_of_releases.py FILE

writes, for each component, the flags that it has from one to another of the minor releases below. The sources are Go modules, which `go mod download` fetches. The definitions are found as text: a
flag that a function puts together is not seen, and one that is defined but not added counts.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

KUBERNETES = {
    22: 17, 23: 17, 24: 17, 25: 16, 26: 15, 27: 16, 28: 15, 29: 15,
    30: 14, 31: 14, 32: 13, 33: 4, 34: 4, 35: 4, 36: 3, 37: 2,
}  # fmt: skip
"""The patch of each minor release that is read."""
ETCD = {5: 12, 6: 16, 7: 3}
_OTHERS = {
    ("k8s.io/controller-manager", 25): 0,
    ("k8s.io/controller-manager", 26): 0,
    ("k8s.io/controller-manager", 27): 2,
    ("k8s.io/cloud-provider", 27): 0,
}
"""Modules that module proxies lack in that patch, and the patch that is read instead."""
_SHARED = {
    "k8s.io/apiserver": ("pkg/server/options",),
    "k8s.io/component-base": ("config", "featuregate", "logs", "metrics"),
}
_SOURCES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "kube-apiserver": {
        "k8s.io/kubernetes": (
            "cmd/kube-apiserver",
            "pkg/controlplane",
            "pkg/kubeapiserver/options",
        ),
        **_SHARED,
    },
    "kube-controller-manager": {
        "k8s.io/kubernetes": ("cmd/kube-controller-manager",),
        "k8s.io/controller-manager": ("",),
        "k8s.io/cloud-provider": ("options",),
        **_SHARED,
    },
    "kube-scheduler": {"k8s.io/kubernetes": ("cmd/kube-scheduler",), **_SHARED},
}
"""The folders of modules in which the flags of a component are defined."""
_ETCD_SOURCES = {"go.etcd.io/etcd/server/v3": ("etcdmain", "embed")}
_CONSTANT = re.compile(r'(\w+)\s*=\s*"([a-z][a-z0-9-]*)"')
_DEFINED = re.compile(r"""Var\w*\(\s*(?:[^"\n]|"")*?,\s*(?:"([a-z][a-z0-9-]*)"|(\w+)),""")
"""A call such as `fs.StringVar(&o.Path, "path",`, whose name may be a constant."""
_SHORT = re.compile(r"""\.(?:Bool|Int|Uint|String|Duration)\("([a-z][a-z0-9-]*)",""")


def main(file: Path) -> None:
    """Write the table."""
    found = {
        name: _spans({minor: set(_kubernetes(name, minor)) for minor in KUBERNETES})
        for name in _SOURCES
    }
    releases = {
        minor: set(_flags(_ETCD_SOURCES, f"v3.{minor}.{patch}")) for minor, patch in ETCD.items()
    }
    file.write_text(json.dumps(found | {"etcd": _spans(releases)}, indent=1) + "\n")


def _kubernetes(name: str, minor: int) -> Iterator[str]:
    for module, folders in _SOURCES[name].items():
        patch = _OTHERS.get((module, minor), KUBERNETES[minor])
        major = 1 if module == "k8s.io/kubernetes" else 0
        yield from _flags({module: folders}, f"v{major}.{minor}.{patch}")


def _spans(flags: Mapping[int, set[str]]) -> dict[str, str]:
    """Return the flags by the first and the last minor release that has them, such as `27-37`."""
    spans: dict[str, list[str]] = {}
    for name in sorted(set(chain.from_iterable(flags.values()))):
        having = [minor for minor, names in flags.items() if name in names]
        spans.setdefault(f"{min(having)}-{max(having)}", []).append(name)
    return {span: " ".join(names) for span, names in sorted(spans.items())}


def _flags(sources: Mapping[str, tuple[str, ...]], version: str) -> Iterator[str]:
    for module, folders in sources.items():
        root = _module(f"{module}@{version}")
        files = (file for folder in folders for file in (root / folder).rglob("*.go"))
        texts = [file.read_text() for file in files if not file.name.endswith("_test.go")]
        yield from _defined("\n".join(texts))


def _defined(text: str) -> Iterator[str]:
    constants = dict(_CONSTANT.findall(text))
    for name, constant in _DEFINED.findall(text):
        if found := name or constants.get(constant):
            yield found
    yield from _SHORT.findall(text)


def _module(wanted: str) -> Path:
    done = subprocess.run(
        ["go", "mod", "download", "-json", wanted], capture_output=True, text=True, check=True
    )
    return Path(json.loads(done.stdout)["Dir"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
