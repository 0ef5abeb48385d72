"""What is written to a file and sent meanwhile."""


class Outbox:
    """A file that cannot seek: a writer writes, and the sender takes what has gathered."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        taken, self.waiting = b"".join(self.waiting), []
        return taken
