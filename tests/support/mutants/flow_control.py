"""What decides how much of a call is sent to etcd, and when."""

from kwokctl.etcd.grpc import frame_sender
from kwokctl.etcd.grpc.frame_sender import Sender
from kwokctl.etcd.grpc.grpc_connection import GrpcConnection
from tests.support.mutants.mutant import Mutant

_FITS = "size <= self._window and size <= self._initial and size <= self._frame_size"
_ROOM = "min(self._window, held.window, len(unsent))"

MUTANTS = (
    # Whether a call goes as a whole.
    Mutant(Sender.open, _FITS, _FITS.replace("_window", "_window + 1")),
    Mutant(Sender.open, _FITS, _FITS.replace("_initial", "_initial + 1")),
    Mutant(Sender.open, _FITS, _FITS.replace("_frame_size", "_frame_size + 1")),
    Mutant(
        Sender.open,
        _FITS,
        _FITS.replace("<=", "<"),
        equivalent="what just fits is the same bytes as a message that is held, and sent at once",
    ),
    Mutant(Sender.open, "self._window -= size", "self._window -= len(message)"),
    # What the server sets and grants.
    Mutant(Sender.adjust, "self._frame_size)", "DEFAULT_FRAME_SIZE)"),
    Mutant(Sender.adjust, "SIZE, self._initial)", "SIZE, DEFAULT_WINDOW)"),
    Mutant(Sender.adjust, "_bounded(held.window + initial - self._initial)", "initial"),
    Mutant(
        Sender.adjust,
        "_bounded(held.window + initial - self._initial)",
        "held.window + initial - self._initial",
    ),
    Mutant(Sender.adjust, "self._initial = initial", "pass"),
    Mutant(Sender.widen, "increment == 0", "False"),
    Mutant(Sender.widen, "_bounded(self._window + increment)", "self._window + increment"),
    Mutant(Sender.widen, "_bounded(held.window + increment)", "held.window + increment"),
    Mutant(frame_sender._bounded, "window > LARGEST_WINDOW", "window >= LARGEST_WINDOW"),
    # How much of a message goes.
    Mutant(
        Sender._send_of,
        "if self._window <= 0",
        "if False",
        equivalent="without a window of the connection there is no room for any message",
    ),
    Mutant(Sender._send_of, "if not held.unsent", "if True"),
    Mutant(Sender._send_of, "if not held.unsent", "if False"),
    Mutant(Sender._send_more, _ROOM, "min(held.window, len(unsent))"),
    Mutant(Sender._send_more, _ROOM, "min(self._window, len(unsent))"),
    Mutant(Sender._send_more, "min(room, self._frame_size)", "room"),
    Mutant(Sender._send_more, "size == len(unsent)", "True"),
    Mutant(Sender._send_more, "size == len(unsent)", "False"),
    Mutant(Sender._send_more, "self._window -= size", "pass"),
    Mutant(Sender._send_more, "held.window -= size", "pass"),
    # What becomes of the rest of a call that is over.
    Mutant(GrpcConnection.cancel, "self._sender.forget(call.stream)", "pass"),
    Mutant(GrpcConnection._finish, "if self._sender.forget(call.stream)", "if False"),
    Mutant(GrpcConnection._finish, "if self._sender.forget(call.stream)", "if True"),
    Mutant(GrpcConnection.on_reset, "self._sender.forget(stream)", "pass"),
    Mutant(GrpcConnection.on_goaway, "self._sender.forget(call.stream)", "pass"),
)
"""One for each comparison, window and condition."""
