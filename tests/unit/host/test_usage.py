import asyncio
import os
import sys
from asyncio.subprocess import PIPE

from kwokctl.host.usage import measure
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
