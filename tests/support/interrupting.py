"""How a run of tests ends before its time."""

import signal

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def end_as_by_ctrl_c() -> None:
    """Have what ends this process, such as `timeout`, let fixtures delete what they have made.

    A signal that is ignored, as `nohup` has it, stays ignored.
    """
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
