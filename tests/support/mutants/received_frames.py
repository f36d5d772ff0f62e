"""What decides which frames of etcd can be read, and whose they are."""

from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.call import RpcOutcome
from kwokctl.etcd.grpc.grpc_connection import GrpcConnection
from kwokctl.etcd.grpc.receiver import Receiver
from tests.support.mutants.mutant import Mutant

_UNFIT = "len(payload) < _WORD.size or (exactly and len(payload) > _WORD.size)"
_NEVER_OPENED = "stream % 2 == 0 or stream >= self._next_stream"
_FRAME_SIZE = "DEFAULT_FRAME_SIZE <= found.get(MAX_FRAME_SIZE, DEFAULT_FRAME_SIZE) < 1 << 24"

MUTANTS = (
    # Where a frame ends.
    Mutant(Receiver.feed, "end - at >= HEAD.size", "end - at > 0"),
    Mutant(Receiver.feed, "if stop > end", "if False"),
    Mutant(Receiver._check_head, "if word > _LARGEST_WORD", "if False"),
    # What a frame carries.
    Mutant(http2_frames.unpadded, "if not payload", "if False"),
    Mutant(http2_frames.unpadded, "if begin > end", "if False"),
    Mutant(http2_frames.unpadded, "if begin > end", "if begin >= end"),
    Mutant(http2_frames.read_word, _UNFIT, "exactly and len(payload) > _WORD.size"),
    Mutant(http2_frames.read_word, _UNFIT, "len(payload) < _WORD.size"),
    Mutant(http2_frames.read_word, _UNFIT, _UNFIT.replace("exactly and ", "")),
    Mutant(http2_frames.read_word, "word & LARGEST_WINDOW", "word"),
    Mutant(http2_frames.read_settings, "if len(payload) % _SETTING.size", "if False"),
    Mutant(http2_frames.read_settings, "> LARGEST_WINDOW", ">= LARGEST_WINDOW"),
    Mutant(http2_frames.read_settings, _FRAME_SIZE, "found.get(MAX_FRAME_SIZE, 0) < 1 << 24"),
    Mutant(http2_frames.read_settings, _FRAME_SIZE, _FRAME_SIZE.replace("<=", "<")),
    Mutant(http2_frames.read_settings, _FRAME_SIZE, _FRAME_SIZE.replace("< 1 << 24", "")),
    Mutant(http2_frames.read_settings, _FRAME_SIZE, _FRAME_SIZE.replace("< 1 <<", "<= 1 <<")),
    Mutant(Receiver._control, "if len(payload) != 8", "if False"),
    Mutant(RpcOutcome.__init__, "except ValueError", "except KeyError"),
    # Whose it is.
    Mutant(Receiver._continue, "kind != CONTINUATION or ", ""),
    Mutant(Receiver._continue, " or stream != expected", ""),
    Mutant(Receiver._continue, "if len(block) > _LONGEST_BLOCK", "if False"),
    Mutant(GrpcConnection._check_known, _NEVER_OPENED, "stream % 2 == 0"),
    Mutant(GrpcConnection._check_known, _NEVER_OPENED, "stream >= self._next_stream"),
    Mutant(GrpcConnection._check_known, _NEVER_OPENED, _NEVER_OPENED.replace(">=", ">")),
    Mutant(GrpcConnection.on_data, "if call is None", "if call is None and ends"),
    Mutant(GrpcConnection.on_reset, "if call is None", "if False"),
    Mutant(GrpcConnection.on_headers, "if call is None", "if False"),
    Mutant(GrpcConnection.data_received, "except PeerError", "except ValueError"),
)
"""One for each check, and for each bound."""
