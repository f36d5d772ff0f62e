"""Checks that programs and libraries of an image are for its processor.

The header of an ELF file says so in two bytes at 18 (elf(5), e_machine).
"""

from pathlib import Path

_NUMBERS = {"amd64": 62, "arm64": 183}
_MAGIC = b"\x7fELF"


def check(tree: Path, arch: str) -> int:
    """Return how many there are. Raises SystemExit that names those for another processor."""
    found = {path: number for path in tree.rglob("*") if (number := _processor(path)) is not None}
    wrong = [path for path, number in found.items() if number != _NUMBERS[arch]]
    if wrong:
        names = ", ".join(str(path.relative_to(tree)) for path in sorted(wrong)[:5])
        raise SystemExit(f"{len(wrong)} files of the image are not for {arch}: {names}")
    return len(found)


def _processor(path: Path) -> int | None:
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(20)
    return int.from_bytes(head[18:20], "little") if head.startswith(_MAGIC) else None
