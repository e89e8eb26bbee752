"""The program by which git in a sandbox reaches the gate: it is copied there, and imports nothing.

git runs it as the helper of remotes that begin with `promptcorner::`. It listens on the loopback of
the sandbox, passes each connection on to the gate's socket, and lets git's own helper for HTTP do
the rest. Where the sandbox shares the machine's network, others could connect to that port; so each
connection is announced to the gate with a word that only git's helper puts into its requests.
"""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import threading


def connect(directory: str) -> socket.socket:
    """Return a connection to the gate. A path may be too long for a socket; by the number of its
    directory it never is."""
    number = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        gate = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        gate.connect(f"/proc/self/fd/{number}/git.sock")
        return gate
    finally:
        os.close(number)


def carry(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def serve(listener: socket.socket, directory: str, word: str) -> None:
    while True:
        client, _ = listener.accept()
        gate = connect(directory)
        gate.sendall(word.encode() + b"\n")
        for pair in ((client, gate), (gate, client)):
            threading.Thread(target=carry, args=pair, daemon=True).start()


def main(remote: str, address: str) -> int:
    directory, word = os.environ["PROMPTCORNER_GIT_GATE"], secrets.token_hex(16)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, directory, word), daemon=True).start()
    path = address.partition("://")[2]
    here = f"http://127.0.0.1:{listener.getsockname()[1]}/{path}"
    count = int(os.environ.get("GIT_CONFIG_COUNT", "0"))
    config = [
        ("http.extraHeader", f"x-promptcorner-gate: {word}"),
        ("http.extraHeader", f"x-promptcorner-chat: {os.environ.get('PROMPTCORNER_CHAT_ID', '')}"),
        ("http.proxy", ""),
    ]
    more = {"GIT_CONFIG_COUNT": str(count + len(config)), "no_proxy": "127.0.0.1"}
    for number, (key, value) in enumerate(config, count):
        more |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return subprocess.call(["git", "remote-http", remote, here], env={**os.environ, **more})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
