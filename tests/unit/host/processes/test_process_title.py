""""""

import subprocess
import sys

import pytest

SHOWN = ["kubelet", "--name=ä b", ""]
PROGRAM = f"""
import os, sys
from kwokctl.host.processes.process_title import show_words
try:
    show_words({SHOWN!r})
except OSError as e:
    sys.exit(f"refused: {{e}}")
[print(open("/proc/self/cmdline", "rb").read().hex()) for _ in range(2)]
print(os.environ["GREETING"], os.readlink("/proc/self/exe"))
"""


def test_others_see_the_words_that_a_process_chooses_and_all_else_stays() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"GREETING": "hello"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "refused" in ended.stderr:
        pytest.skip(f"this kernel lets no process choose its words: {ended.stderr}")
    first, second, last = ended.stdout.splitlines()
    assert first == second == "\0".join([*SHOWN, ""]).encode().hex()
    assert last.startswith("hello /")
