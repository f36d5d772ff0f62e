"""The connections of clients without a credential, and the limits on their number and their requests."""

import asyncio
import socket
from collections import deque

from kwokctl.embedded.http.client_limits import AT_A_TURN, MANY_STRANGERS, MOST_STRANGERS
from kwokctl.embedded.http.served_connection import ServedConnection
from kwokctl.host.peer_users import user_of_peer

_ROOT = 0


class Strangers:
    """Keeps the connections without a credential; when there are too many, the oldest is closed."""

    def __init__(self, owner: int | None = None) -> None:
        """Begin with none; `owner` is the id of the only user for whom the server is, if it is for one."""
        self._owner = owner
        self._tasks: dict[ServedConnection, asyncio.Task[object] | None] = {}
        """With the tasks that serve them, oldest first."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def are_many(self) -> bool:
        """Whether those that come now had better wait."""
        return len(self._tasks) > MANY_STRANGERS

    def have_no_room_for(self, found: socket.socket) -> bool:
        """Return whether a connection must be closed at once: they are many, and it is of another user than the owner.

        Root counts as the owner.
        """
        if not self.are_many or self._owner is None:
            return False
        return user_of_peer(found) not in (self._owner, _ROOT, None)

    def __contains__(self, connection: ServedConnection) -> bool:
        return connection in self._tasks

    def add(self, connection: ServedConnection) -> None:
        """Count a connection that the current task serves."""
        if len(self._tasks) >= MOST_STRANGERS:
            oldest = next(iter(self._tasks))
            task = self._tasks.pop(oldest)
            oldest.abort()
            if task is not None:  # it may not even be connected yet
                task.cancel()
        self._tasks[connection] = asyncio.current_task()

    def remove(self, connection: ServedConnection) -> None:
        """Forget a connection: it has ended, or its client is known."""
        self._tasks.pop(connection, None)

    async def turn(self) -> None:
        """Wait until it is the turn of another request.

        A few of them begin in a turn of the loop, however many strangers send: a connection of the
        administrator is accepted, shakes hands and is answered within some turns.
        """
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._begin_turn)
        mine = loop.create_future()
        self._waiting.append(mine)
        await mine

    def _begin_turn(self) -> None:
        begun = 0
        while self._waiting and begun < AT_A_TURN:
            one = self._waiting.popleft()
            if not one.done():  # it may have been cancelled
                one.set_result(None)
                begun += 1
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._begin_turn)
