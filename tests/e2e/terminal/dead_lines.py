"""A TCP line to a daemon that can die without either end being told, as when a laptop sleeps."""

import contextlib
import socket
import threading
from urllib.parse import urlsplit

READ_BYTES = 65_536


class DeadlyLine:
    """Passes on what both ends say, until `die`; lines that are dialled later work again."""

    def __init__(self, url):
        there = urlsplit(url)
        self._there = there.hostname, there.port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._dead = threading.Event()
        self._sockets = []
        self._answering = threading.Thread(target=self._answer, daemon=True)
        self._answering.start()

    def die(self):
        dead, self._dead = self._dead, threading.Event()
        dead.set()

    def close(self):
        _close(self._listener)
        self._answering.join()  # a line may have been dialled at this moment
        for each in self._sockets:
            _close(each)

    def _answer(self):
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:  # closed: the test is over
                return
            self._sockets.append(here)
            try:
                there = socket.create_connection(self._there)
            except OSError:  # the daemon is gone
                _close(here)
                continue
            self._sockets.append(there)
            for ends in ((here, there), (there, here)):
                threading.Thread(target=_pass_on, args=(*ends, self._dead), daemon=True).start()


def _close(each):
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


def _pass_on(source, target, dead):
    with contextlib.suppress(OSError):
        while (data := source.recv(READ_BYTES)) and not dead.is_set():
            target.sendall(data)
        if not dead.is_set():
            target.shutdown(socket.SHUT_WR)
