"""The process that imports the project once and forks Celery workers, for all processes of a run of the tests.

It is a daemon: it outlives the process that began it and ends when the last has closed its connection. The workers of a
connection end with it.
"""

import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from urllib.parse import urlsplit, urlunsplit

FIRST_SECONDS = 60  # without a connection; then it ends

Worker = Callable[[str], None]


def begin(port_file: Path) -> None:
    """Listen at a port of this machine, write it to the file, and go on as a daemon."""
    listener = socket.create_server(("127.0.0.1", 0))
    port_file.write_text(f"{listener.getsockname()[1]}")
    if os.fork():
        return
    _detach()
    serve(listener, _imported())


def _detach() -> None:
    """Begin a process group, and leave standard input and output to others."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)


def _imported() -> Worker:
    """Import the project, and return what becomes a worker on a database."""
    import django

    django.setup()
    from celery.bin.celery import celery  # its imports need the app registry
    from django.db import connections

    from config.celery import app

    os.environ["CELERY_SKIP_CHECKS"] = "1"  # the tests run them
    app.loader.import_default_modules()
    connections.close_all()

    def work(database: str) -> None:
        address = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database}"))
        broker = urlunsplit(urlsplit(address)._replace(scheme="pgmq"))
        os.environ["DATABASE_URL"], os.environ["CELERY_BROKER_URL"] = address, broker
        connections.settings["default"]["NAME"] = database
        app.conf.broker_url = app.conf.broker_read_url = app.conf.broker_write_url = broker
        app.conf.broker_transport_options = {**app.conf.broker_transport_options, "conn_string": address}
        arguments = [
            *("--quiet", "-A", "config", "worker", "--beat", "--loglevel=warning"),
            *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        ]
        sys.argv = ["celery", *arguments]
        celery(arguments, standalone_mode=False)

    return work


def serve(listener: socket.socket, work: Worker) -> None:
    """Answer requests of one line: ``start DATABASE`` forks a worker, ``alive PID`` tells whether one still runs."""
    running: dict[socket.socket, set[int]] = {}
    with DefaultSelector() as selector:
        selector.register(listener, EVENT_READ)
        while ready := selector.select(None if running else FIRST_SECONDS):
            for key, _ in ready:
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    running[connection] = set()
                    selector.register(connection, EVENT_READ)
                    continue
                connection = next(each for each in running if each is key.fileobj)
                if request := _received(connection):
                    connection.sendall(f"{_answer(request, running, connection, listener, work)}\n".encode())
                    continue
                selector.unregister(connection)
                connection.close()
                _end(running.pop(connection))
                if not running:
                    return


def _received(connection: socket.socket) -> str:
    with suppress(ConnectionError):
        return connection.recv(1024).decode()
    return ""


def _answer(
    request: str,
    running: dict[socket.socket, set[int]],
    connection: socket.socket,
    listener: socket.socket,
    work: Worker,
) -> int:
    verb, argument = request.split()
    own = running[connection]
    if verb == "start":
        pid = os.fork()
        if not pid:
            for each in (listener, *running):
                each.close()
            _become(work, argument)
        os.setpgid(pid, pid)  # here, too: the group is there before anyone asks to kill it
        own.add(pid)
        return pid
    pid = int(argument)
    if pid in own and os.waitpid(pid, os.WNOHANG)[0]:
        own.discard(pid)
    return int(pid in own)


def _become(work: Worker, database: str) -> None:
    """Become a worker with a process group of its own; never return."""
    os.setpgid(0, 0)
    status = 1
    try:
        work(database)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    finally:
        os._exit(status)


def _end(workers: set[int]) -> None:
    for pid in workers:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    begin(Path(sys.argv[1]))
