"""A file whose content is sent while it is written."""


class Outbox:
    """A file without seek: a writer fills it, and the sender takes the content so far."""

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
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        self.closed = True

    def take(self) -> bytes:
        taken, self.waiting = b"".join(self.waiting), []
        return taken
