"""The event loop that long and busy work runs on."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop: uvloop's, which takes half the CPU for each message, where there is one."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
