"""Says what a file is that cannot be executed on this machine as a program.

The shell that launches programs would read such a file as a script of its own, and complain of its first line.
"""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

_HEAD = 64
"""Bytes that tell the kinds of files apart."""
_ELF, _SCRIPT = b"\x7fELF", b"#!"
_CLASS, _ORDER, _MACHINE = 4, 5, slice(18, 20)
"""The places of the width of words, of the order of bytes and of the processor in the head of an ELF file
(https://man7.org/linux/man-pages/man5/elf.5.html)."""
_PROCESSORS: Mapping[int, str] = {
    3: "x86 of 32 bits",
    8: "MIPS",
    20: "PowerPC",
    21: "PowerPC of 64 bits",
    22: "s390x",
    40: "ARM of 32 bits",
    62: "AMD64",
    183: "ARM64",
    243: "RISC-V",
    258: "LoongArch",
}
_OWN: Mapping[str, frozenset[int]] = {
    "x86_64": frozenset((62, 3)),
    "aarch64": frozenset((183, 40)),
}
"""The processors whose programs a machine of this kind executes."""
_OTHERS: Mapping[bytes, str] = {
    b"\xcf\xfa\xed\xfe": "a program for macOS",
    b"\xca\xfe\xba\xbe": "a program for macOS",
    b"MZ": "a program for Windows",
    b"\x1f\x8b": "an archive (gzip)",
    b"PK\x03\x04": "an archive (zip)",
    b"\xfd7zXZ": "an archive (xz)",
    b"(\xb5/\xfd": "an archive (zstd)",
    b"BZh": "an archive (bzip2)",
    b"version https://git-lfs": "a pointer of Git LFS in place of the file",
}
_FORMATS = Path("/proc/sys/fs/binfmt_misc")
"""The folder in which the kernel lists what else it can execute, such as programs of other processors by an emulator."""


def misfit(program: Path, *, machine: str = "", formats: Path = _FORMATS) -> str:
    """Return what a file is instead of a program for this machine; empty if it may be one.

    `machine` is the kind of machine, by default this one.
    """
    with program.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(_SCRIPT):
        return ""
    if not head.startswith(_ELF):
        return _other(head)
    order = "big" if head[_ORDER : _ORDER + 1] == b"\x02" else "little"
    processor = int.from_bytes(head[_MACHINE], "big" if order == "big" else "little")
    machine = machine or platform.machine()
    if processor in _OWN.get(machine, {processor}) or _is_emulated(formats):
        return ""
    other = _PROCESSORS.get(processor, f"a processor of the number {processor}")
    return f"a program for {other}, and this machine is {machine}"


def _other(head: bytes) -> str:
    if not head:
        return "empty"
    for begin, what in _OTHERS.items():
        if head.startswith(begin):
            return what
    if head.lstrip()[:1] == b"<":
        return "a page of HTML or XML, perhaps of a failed download"
    return "no program" if b"\0" in head else "text, and no program"


def _is_emulated(formats: Path) -> bool:
    """Return whether an emulator is registered: then the kernel knows which programs it can execute."""
    try:
        return any(name.startswith("qemu") for name in os.listdir(formats))  # noqa: PTH208 - only names
    except OSError:
        return False


def is_on_noexec(program: Path) -> bool:
    """Return whether the disk of a program is mounted so that none of its files may be executed."""
    return bool(os.statvfs(program).f_flag & os.ST_NOEXEC)
