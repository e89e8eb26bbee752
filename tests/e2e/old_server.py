"""A server that says only what it is: PostgreSQL's wire protocol up to "ready for query"."""

import contextlib
import socket
import struct
import threading

ENCRYPTION = (80877103, 80877104)  # requests for TLS and GSSAPI: declined with one letter


def _message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def _greeting(parameters):
    said = [_message(b"S", f"{name}\0{value}\0".encode()) for name, value in parameters.items()]
    welcome = _message(b"R", struct.pack("!i", 0))
    return b"".join([welcome, *said, _message(b"K", bytes(8)), _message(b"Z", b"I")])


def _talk(client, greeting):
    with client, client.makefile("rb") as said:
        while size := said.read(4):
            code, *_ = struct.unpack("!i", said.read(struct.unpack("!i", size)[0] - 4)[:4])
            if code not in ENCRYPTION:
                client.sendall(greeting)
                said.read()  # until they leave
                return
            client.sendall(b"N")


def _serve(listener, greeting):
    with contextlib.suppress(OSError):  # closed: the test is over
        while True:
            _talk(listener.accept()[0], greeting)


@contextlib.contextmanager
def a_server_that_says(**parameters):
    """Its port; it greets whoever comes with these parameters."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        greeting = _greeting({"client_encoding": "UTF8", **parameters})
        thread = threading.Thread(target=_serve, args=(listener, greeting))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
