"""When the objects of an engine are played."""

from collections.abc import Callable

from kwokctl.controller.engine.object_state import ObjectState
from kwokctl.controller.scheduling.delay_queue import DelayQueue


class ObjectSchedule:
    """Lets what objects wait for become due."""

    def __init__(self, delay_queue: DelayQueue, ready: Callable[[ObjectState], None]) -> None:
        """Keep those that wait in `delay_queue`; give `ready` those that are due at once."""
        self._delay_queue = delay_queue
        self._ready = ready

    def soon(self, state: ObjectState, delay: float) -> None:
        """Play what an object waits for after a delay."""
        state.due = self._delay_queue.now() + delay
        if delay > 0:
            self._delay_queue.put(state, delay)
        else:
            self._delay_queue.forget(state)
            self._ready(state)

    def stop(self, state: ObjectState) -> None:
        """Play nothing on an object until it is seen again."""
        if state.stage is not None:
            self._delay_queue.forget(state)
            state.due = self._delay_queue.now()
        state.rest()

    def pause(self, state: ObjectState) -> None:
        """Keep what is to be played, and when, but not the object."""
        if state.busy:
            self.stop(state)
            return
        self._delay_queue.forget(state)
        state.release()
