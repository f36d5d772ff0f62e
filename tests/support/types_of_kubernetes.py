"""Reads the types of the Kubernetes API from its sources: fields, their numbers and their names.

    python tests/support/types_of_kubernetes.py templates/kubernetes

writes the tables with which `kwokctl/dataplane/objects/` reads stored objects. The sources are Go modules, which
`go mod download` fetches. Later releases keep the numbers of fields, so the newest one has precedence, and
older ones add types and fields that were removed since.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

_MODULES: Mapping[str, str] = {
    "k8s.io/api@v0.37.2": "",
    "k8s.io/apimachinery@v0.37.1": "pkg/apis",
    "k8s.io/apiextensions-apiserver@v0.36.3": "pkg/apis",
    "k8s.io/kube-aggregator@v0.36.3": "pkg/apis",
    "k8s.io/api@v0.36.3": "",
    "k8s.io/api@v0.31.14": "",
    "k8s.io/api@v0.26.15": "",
}
"""The newest of each comes first; the folder is that of the API groups."""
_SPECIAL = {
    "meta/v1.Time": "Time",
    "meta/v1.MicroTime": "MicroTime",
    "meta/v1.FieldsV1": "Raw",
    "pkg/runtime.RawExtension": "Raw",
    "util/intstr.IntOrString": "IntOrString",
    "api/resource.Quantity": "Quantity",
} | {
    f"apiextensions/{version}.{name}": "Any"
    for version in ("v1", "v1beta1")
    for name in (
        "JSON",
        "JSONSchemaPropsOrArray",
        "JSONSchemaPropsOrBool",
        "JSONSchemaPropsOrStringArray",
    )
}
"""Types for which JSON, or a protocol buffer, has a form of its own."""
_PLAIN = {
    "string": "str", "bool": "bool", "int": "int64", "int32": "int32", "int64": "int64",
    "uint32": "int64", "uint64": "int64", "float64": "float64", "[]byte": "bytes",
}  # fmt: skip
_GENERATED = ("generated", "zz_")
_IMPORT = re.compile(r'^(?:\t|import )(?:(\w+) )?"(?:k8s\.io/)([^"]+)"', re.MULTILINE)
_TYPE = re.compile(r"^type (\w+) (.+?)( \{)?$")
_FIELD = re.compile(r"^\t(?:(\w+)\s+)?(\S+)\s+`([^`]+)`")
_JSON = re.compile(r'json:"([^",]*)([^"]*)"')
_NUMBER = re.compile(r'protobuf:"\w+,(\d+)')
_STRATEGY = re.compile(r'patchStrategy:"([^"]*)"')
_MERGE_KEY = re.compile(r'patchMergeKey:"([^"]*)"')
_MERGED = "merge"
_GROUP = re.compile(r'GroupName = "([^"]*)"')


@dataclass
class Declared:
    """What the Go package of one version of an API group declares."""

    group: str = ""
    others: dict[str, str] = field(default_factory=dict)
    """The types that are no structs."""
    structs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Fields as the table has them, by their numbers, by the name of the type."""
    merged: dict[tuple[str, str], str] = field(default_factory=dict)
    """By type and field: what identifies the items of a list that patches are merged with."""


def main(folder: Path) -> None:
    """Write the table."""
    found: dict[str, Declared] = {}
    for module, below in _MODULES.items():
        for path in sorted((_module(module) / below).glob("*/v*/")):
            _read(found.setdefault(f"{path.parent.name}/{path.name}", Declared()), path)
    rows = (line.split() for line in (folder / "resources.txt").read_text().splitlines())
    kinds = {(row[0].replace("-", ""), row[1]) for row in rows if row and row[0] != "#"}
    reached = _reached(found, _roots(found, kinds))
    (folder / "types.txt").write_text("\n".join(_written(found, reached)) + "\n")
    (folder / "merged_lists.txt").write_text("\n".join(_lists(found, reached)) + "\n")


def _read(declared: Declared, folder: Path) -> None:
    """Add what a package declares that is not known from a newer one."""
    for file in sorted(folder.glob("*.go")):
        text = file.read_text()
        if group := _GROUP.search(text):
            declared.group = group[1]
        if not file.name.startswith(_GENERATED) and not file.name.endswith("_test.go"):
            _read_types(declared, text, f"{folder.parent.name}/{folder.name}")


def _read_types(declared: Declared, text: str, here: str) -> None:
    imports = {alias or path.rpartition("/")[2]: path for alias, path in _IMPORT.findall(text)}
    known = set(declared.structs)
    fields: dict[str, str] | None = None
    is_old, of_type = False, ""
    for line in text.splitlines():
        if line.startswith("}"):
            fields = None
        elif found := _TYPE.match(line):
            name, what, opens = found.groups()
            if what == "struct" and opens:
                fields, is_old = declared.structs.setdefault(name, {}), name in known
                of_type = name
            elif what == "struct{}":
                declared.structs.setdefault(name, {})
            else:
                declared.others.setdefault(name, _type(what.removeprefix("= "), imports, here))
        elif fields is not None and (found := _FIELD.match(line)):
            name, what, tags = found.groups()
            of = _type(what, imports, here)
            _add_field(fields, name, of, tags, is_gone=is_old)
            _add_list(declared, of_type, tags)


def _add_field(
    fields: dict[str, str], name: str | None, of: str, tags: str, *, is_gone: bool
) -> None:
    """Add a field; one that newer releases have removed is mostly absent."""
    json_tag, number = _JSON.search(tags), _NUMBER.search(tags)
    if json_tag is None or number is None or number[1] in fields or json_tag[1] == "-":
        return
    spelled, options = json_tag.groups()
    taken = {each.partition(":")[0].rstrip("?!") for each in fields.values()}
    if spelled and spelled in taken:
        return
    mark = "!" if "omitzero" in options else "?" if "omitempty" in options or is_gone else ""
    of = f"*{of}" if is_gone and of[0] not in "*[{" else of
    shown = spelled or ("" if name is None or "inline" in options else name)
    fields[number[1]] = f"{shown}{mark if shown else ''}:{number[1]}:{of}"


def _add_list(declared: Declared, of_type: str, tags: str) -> None:
    """Note that a strategic merge patch is merged with the items of a list."""
    strategy, key, json_tag = (each.search(tags) for each in (_STRATEGY, _MERGE_KEY, _JSON))
    if strategy and json_tag and _MERGED in strategy[1].split(","):
        declared.merged.setdefault((of_type, json_tag[1]), key[1] if key else "-")


def _type(what: str, imports: Mapping[str, str], here: str) -> str:
    """Return a type of Go as the table has it, with its package if it is not a plain one."""
    if what in _PLAIN:
        return _PLAIN[what]
    if what.startswith("*"):
        return f"*{_type(what[1:], imports, here)}"
    if what.startswith("[]"):
        return f"[{_type(what[2:], imports, here)}]"
    if what.startswith("map["):
        return f"{{{_type(what.partition(']')[2], imports, here)}}}"
    package, _, name = what.rpartition(".")
    full = f"{'/'.join(imports[package].split('/')[-2:]) if package in imports else here}.{name}"
    return _SPECIAL.get(full, full)


def _roots(found: Mapping[str, Declared], kinds: set[tuple[str, str]]) -> Iterator[str]:
    for package, declared in found.items():
        yield from (
            f"{package}.{kind}" for kind in declared.structs if (declared.group, kind) in kinds
        )


def _reached(found: Mapping[str, Declared], roots: Iterable[str]) -> set[str]:
    """Return the types that the roots are made of."""
    reached: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name in reached:
            continue
        reached.add(name)
        package, _, short = name.rpartition(".")
        fields = found[package].structs[short].values()
        types = (_resolved(found, each.rpartition(":")[2]).strip("*[]{}()") for each in fields)
        left += (each for each in types if "." in each)
    return reached


def _resolved(found: Mapping[str, Declared], what: str) -> str:
    """Return a type in which every name is that of a struct."""
    inner = what.lstrip("*[{")
    before, after = what[: len(what) - len(inner)], inner[len(inner.rstrip("]}")) :]
    inner = inner.rstrip("]}")
    package, _, name = inner.rpartition(".")
    if not package or (package in found and name in found[package].structs):
        return what
    if package not in found or name not in found[package].others:
        return f"{before}str{after}"  # `types.UID` and similar
    other = _resolved(found, found[package].others[name])
    # A protocol buffer has no list of lists, and no map of them: Go's tools put a message around.
    is_wrapped = other.startswith("[") or (other.startswith("{") and before)
    return (
        f"{before}({other}){after}"
        if is_wrapped and other != "bytes"
        else f"{before}{other}{after}"
    )


def _written(found: Mapping[str, Declared], reached: set[str]) -> Iterator[str]:
    yield "# Written by tests/support/types_of_kubernetes.py from the sources of Kubernetes (Apache-2.0)."
    for package, declared in sorted(found.items()):
        names = [name for name in declared.structs if f"{package}.{name}" in reached]
        if names:
            version = package.partition("/")[2]
            yield f"= {package} {f'{declared.group}/{version}' if declared.group else version}"
        for name in sorted(names):
            words = [_word(found, each, package) for each in declared.structs[name].values()]
            yield from wrap(
                " ".join((name, *words)),
                100,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def _lists(found: Mapping[str, Declared], reached: set[str]) -> Iterator[str]:
    yield "# Written by tests/support/types_of_kubernetes.py from the sources of Kubernetes (Apache-2.0)."
    yield "# Lists with which a strategic merge patch is merged: type, field, and what identifies"
    yield '# an item; "-" where items are plain values. All others are replaced.'
    for package, declared in sorted(found.items()):
        for (of_type, name), key in sorted(declared.merged.items()):
            if f"{package}.{of_type}" in reached:
                yield f"{package}.{of_type} {name} {key}"


def _word(found: Mapping[str, Declared], word: str, package: str) -> str:
    head, _, what = word.rpartition(":")
    return f"{head}:{_resolved(found, what).replace(f'{package}.', '')}"


def _module(wanted: str) -> Path:
    done = subprocess.run(
        ["go", "mod", "download", "-json", wanted], capture_output=True, text=True, check=True
    )
    return Path(json.loads(done.stdout)["Dir"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
