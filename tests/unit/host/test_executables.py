import sys
from pathlib import Path

import pytest

from kwokctl.host.executables import misfit

ARM64 = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00" + bytes(44)
BIG_ENDIAN = b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x02\x00\x16" + bytes(44)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (b"<html>Not found</html>\n", "a page of HTML or XML, perhaps of a failed download"),
        (b"Not Found\n", "text, and no program"),
        (b"\x1f\x8b\x08\x00", "an archive (gzip)"),
        (b"MZ\x90\x00", "a program for Windows"),
        (b"\x00\x01\x02", "no program"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS in place of the file"),
        (ARM64, "a program for ARM64, and this machine is x86_64"),
        (BIG_ENDIAN, "a program for s390x, and this machine is x86_64"),
        (b"#!/bin/sh\n", ""),
    ],
)  # fmt: skip
def test_what_is_no_program_for_this_machine_is_named(
    tmp_path: Path, content: bytes, what: str
) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)

    assert misfit(program, machine="x86_64", formats=tmp_path / "none") == what


def test_a_program_of_this_machine_fits() -> None:
    assert misfit(Path(sys.executable)) == ""


def test_the_kernel_decides_where_an_emulator_is_registered(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(ARM64)
    (tmp_path / "qemu-aarch64").touch()

    assert misfit(program, machine="x86_64", formats=tmp_path) == ""
