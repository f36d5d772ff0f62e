""""""

import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import PIPE

from kwokctl.host.processes.process_usage import descendants, measure
from kwokctl.model import ComponentName

BUSY, IDLE, GONE = map(ComponentName, ("busy", "idle", "gone"))


async def test_what_a_process_takes_is_measured() -> None:
    program = "held = b'x' * (64 << 20)\nprint(flush=True)\nwhile True: pass"
    busy = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=PIPE)
    try:
        assert busy.stdout is not None
        await busy.stdout.readline()
        found = await measure({BUSY: [busy.pid], IDLE: [1]}, 0.5)
        both = await measure({BUSY: [busy.pid, os.getpid()]}, 0.0)
    finally:
        busy.kill()
        await busy.wait()
    assert found[BUSY].cpu > 0
    assert found[BUSY].memory > 64 << 20
    assert both[BUSY].memory > found[BUSY].memory


async def test_what_has_ended_is_left_out() -> None:
    ended = await asyncio.create_subprocess_exec("true")
    await ended.wait()
    assert await measure({GONE: [ended.pid]}, 0.0) == {}


def test_the_programs_that_a_process_has_started_are_found() -> None:
    script = "exec 3<&0; cat <&3 & echo; wait"
    with subprocess.Popen(["sh", "-c", script], stdin=PIPE, stdout=PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()
        found = descendants(parent.pid)
        parent.stdin.close()
    assert found[parent.pid] == "sh"
    assert len(found) == 2
    assert descendants(parent.pid) == {}
