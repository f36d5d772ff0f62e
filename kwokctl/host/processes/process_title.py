"""Gives this process other words: what /proc/PID/cmdline, and so `ps`, shows as its command.

A process that is forked has the command line of its parent. Linux lets it name the memory that holds its
own (PR_SET_MM_MAP of https://man7.org/linux/man-pages/man2/PR_SET_MM.2const.html), where the kernel is built with
CONFIG_CHECKPOINT_RESTORE.
"""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
_KEEP_PROGRAM = 0xFFFFFFFF
"""In place of the descriptor of a program: the link to it stays."""
_CODE, _STACK, _DATA, _BREAK, _ENVIRONMENT = (26, 27), 28, (45, 46), 47, (50, 51)
"""The numbers of fields of /proc/PID/stat (proc_pid_stat(5))."""
_AFTER_NAME = 3
"""The number of the first one that follows the name, which may itself have spaces."""

_kept: list[ctypes.Array[ctypes.c_char]] = []
"""The memory that the kernel reads the words from."""


class _Map(ctypes.Structure):
    """`struct prctl_mm_map` of linux/prctl.h."""

    _fields_: ClassVar[Sequence[Any]] = [
        *((name, ctypes.c_uint64) for name in ("start_code", "end_code", "start_data", "end_data")),
        *((name, ctypes.c_uint64) for name in ("start_brk", "brk", "start_stack")),
        *((name, ctypes.c_uint64) for name in ("arg_start", "arg_end", "env_start", "env_end")),
        ("auxv", ctypes.c_void_p),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_uint32),
    ]


def show_words(words: Sequence[str]) -> None:
    """Show these words as the command line of this process; OSError if the kernel refuses that."""
    text = b"".join(os.fsencode(word) + b"\0" for word in words)
    held = ctypes.create_string_buffer(text, len(text))
    begin = ctypes.addressof(held)
    stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    fields = [""] * _AFTER_NAME + stat.rpartition(")")[2].split()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    described = _Map(
        *(int(fields[at]) for at in (*_CODE, *_DATA, _BREAK)),
        libc.sbrk(0),
        int(fields[_STACK]),
        begin,
        begin + len(text),
        *(int(fields[at]) for at in _ENVIRONMENT),
        None,
        0,
        _KEEP_PROGRAM,
    )
    size = ctypes.c_ulong(ctypes.sizeof(described))
    arguments = (ctypes.c_ulong(_PR_SET_MM_MAP), ctypes.byref(described), size, ctypes.c_ulong(0))
    if libc.prctl(_PR_SET_MM, *arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _kept[:] = [held]
