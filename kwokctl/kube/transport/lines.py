"""Cuts a stream into its lines."""


class Lines:
    """Takes pieces of any size and gives whole lines; a line may span many pieces."""

    __slots__ = ("_rest", "any_came")

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._rest: list[bytes] = []
        self.any_came = False
        """Whether there was a whole line."""

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that end in this piece, without their ends; empty ones are left out."""
        end = piece.rfind(b"\n")
        if end < 0:
            self._rest.append(piece)
            return []
        whole = b"".join((*self._rest, piece[:end])) if self._rest else piece[:end]
        self._rest = [piece[end + 1 :]] if end + 1 < len(piece) else []
        self.any_came = True
        return [line for line in whole.split(b"\n") if line]
