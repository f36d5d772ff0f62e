"""Makes the etcd3 package work with current protobuf packages.

etcd3 0.12.0 ships code generated for protobuf 3, which protobuf 4 and later refuse to import. The
message descriptors inside that code are still right: here they are read out of the files, without
running them, and message classes are built from them. They get a descriptor pool of their own, so
nothing else in the process can clash with their names.
"""

import ast
import importlib.util
import sys
import threading
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from kwokctl.errors import UnavailableError

_PACKAGE = "etcd3.etcdrpc"
_PROTOS = ("auth_pb2", "kv_pb2", "rpc_pb2")
"""In the order in which they depend on each other."""
_turn = threading.Lock()


def load() -> ModuleType:
    """Return the `etcd3` package, ready for use.

    Raises UnavailableError when it is not installed or is not the release that is known here.
    """
    with _turn:
        if "etcd3" in sys.modules:
            return sys.modules["etcd3"]
        folder = _folder()
        if _is_stale(folder):
            try:
                _build(folder)
            except BaseException:
                _forget()
                raise
        import etcd3  # only now can it be imported

        module: ModuleType = etcd3
        return module


def _forget() -> None:
    """Remove a half-loaded package, so that the next import starts afresh."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "etcd3"]:
        del sys.modules[name]


def _folder() -> Path:
    spec = importlib.util.find_spec("etcd3")
    if spec is None or not spec.submodule_search_locations:
        raise UnavailableError(
            "the Python package 'etcd3' is not installed",
            hint="reinstall kwokctl with its packages",
        )
    return Path(spec.submodule_search_locations[0])


def _is_stale(folder: Path) -> bool:
    """Return whether the generated code is the old kind; a regenerated release needs no help."""
    return "serialized_pb=" in _source(folder, "kv_pb2")


def _build(folder: Path) -> None:
    from google.protobuf import (  # heavy, and only needed here
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )

    package = _module(_PACKAGE, path=[str(folder / "etcdrpc")])
    pool = descriptor_pool.DescriptorPool()
    for name in _PROTOS:
        proto = descriptor_pb2.FileDescriptorProto.FromString(_descriptor(folder, name))
        pool.Add(proto)
        file = pool.FindFileByName(proto.name)
        module = _module(f"{_PACKAGE}.{name}")
        for message, descriptor in file.message_types_by_name.items():
            setattr(module, message, message_factory.GetMessageClass(descriptor))
        for enum in file.enum_types_by_name.values():
            for value in enum.values:
                setattr(module, value.name, value.number)
        setattr(package, name, module)
    _publish(package, vars(sys.modules[f"{_PACKAGE}.rpc_pb2"]))
    _publish(package, vars(_run_stubs(folder, package)))


def _run_stubs(folder: Path, package: ModuleType) -> ModuleType:
    """Run the generated gRPC stubs, which import their parent, without running the parent."""
    parent = _module("etcd3", path=[str(folder)])
    vars(parent)["etcdrpc"] = package
    name = f"{_PACKAGE}.rpc_pb2_grpc"
    spec = importlib.util.spec_from_file_location(name, folder / "etcdrpc" / "rpc_pb2_grpc.py")
    if spec is None or spec.loader is None:
        raise _unknown(folder)
    stubs = importlib.util.module_from_spec(spec)
    sys.modules[name] = stubs
    try:
        spec.loader.exec_module(stubs)
    finally:
        del sys.modules["etcd3"]
    return stubs


def _descriptor(folder: Path, name: str) -> bytes:
    """Read the serialized FileDescriptorProto out of a generated module."""
    for node in ast.walk(ast.parse(_source(folder, name))):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            # Either a bytes literal or a call that turns a Latin-1 string into bytes.
            literal = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
            value = ast.literal_eval(literal)
            return value.encode("latin-1") if isinstance(value, str) else bytes(value)
    raise _unknown(folder)


def _source(folder: Path, name: str) -> str:
    try:
        return (folder / "etcdrpc" / f"{name}.py").read_text(encoding="utf-8")
    except OSError as e:
        raise _unknown(folder) from e


def _module(name: str, path: list[str] | None = None) -> ModuleType:
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None, is_package=path is not None)
    if path is not None:
        module.__path__ = path
    sys.modules[name] = module
    return module


def _publish(package: ModuleType, names: dict[str, object]) -> None:
    for name, value in names.items():
        if not name.startswith("_"):
            setattr(package, name, value)


def _unknown(folder: Path) -> UnavailableError:
    return UnavailableError(
        f"the Python package 'etcd3' in {folder} is not the release that kwokctl knows",
        hint="install etcd3 0.12.0: pip install 'etcd3>=0.12.0,<0.13'",
    )
