"""Connections to providers: TCP and, for https, TLS that is always verified.

There is no way to switch verification off: a key is worth more than the convenience.
"""

import os
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import trio

from adapters.models.providers.broken import Unreachable, Untrusted

CONNECT_SECONDS_MAX = 30.0  # name, TCP and TLS together; then `Unreachable`
CLOSE_SECONDS_MAX = 2.0
READ_BYTES = 64 * 1024
CLOSED = -1  # the descriptor of a socket that is

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


Dial = Callable[[Origin], Awaitable[trio.abc.Stream]]


def split_url(url: str) -> tuple[Origin, str]:
    """The origin and the path, without a slash at its end, of a base URL."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("base URL: must begin with http:// or https:// and name a host")
    port = parts.port or _PORTS[parts.scheme]
    return Origin(parts.scheme, parts.hostname, port), parts.path.rstrip("/")


def tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class Patient(trio.abc.Stream):
    """A TCP stream that waits before it reads. trio's reads first, and mostly in vain, for what
    comes next in a stream has not come yet: that is a fifth of what a delta costs."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._descriptor = stream.socket.fileno()  # to ask for it each time is dear

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            if self._descriptor == CLOSED:
                raise trio.ClosedResourceError("socket: we have closed it")
            await trio.lowlevel.wait_readable(self._descriptor)
            try:
                return os.read(self._descriptor, max_bytes or READ_BYTES)
            except BlockingIOError:  # the kernel had thought better of it
                continue
            except OSError as error:
                raise trio.BrokenResourceError(f"socket: {error}") from error

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        self._descriptor = CLOSED  # the number may soon be another's
        await self._stream.aclose()


def dialler(context: ssl.SSLContext) -> Dial:
    async def dial(origin: Origin) -> trio.abc.Stream:
        stream = Patient(await trio.open_tcp_stream(origin.host, origin.port))
        return stream if origin.scheme == "http" else await secured(stream, origin, context)

    return dial


async def secured(
    stream: trio.abc.Stream, origin: Origin, context: ssl.SSLContext
) -> trio.abc.Stream:
    tls = trio.SSLStream(stream, context, server_hostname=origin.host, https_compatible=True)
    shaken = False
    try:
        await tls.do_handshake()
        shaken = True
    finally:
        if not shaken:
            with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                await trio.aclose_forcefully(tls)
    return tls


async def dialled(dial: Dial, origin: Origin) -> trio.abc.Stream:
    """A new connection, or `Unreachable` or `Untrusted`."""
    try:
        with trio.fail_after(CONNECT_SECONDS_MAX):
            return await dial(origin)
    except trio.TooSlowError:
        limit = f"{CONNECT_SECONDS_MAX:g} s"
        raise Unreachable(f"{origin}: no connection within {limit}, timed out") from None
    except trio.BrokenResourceError as error:
        refused = error.__cause__
        if isinstance(refused, ssl.SSLCertVerificationError):
            raise Untrusted(f"{origin}: certificate: {refused.verify_message}") from error
        raise Unreachable(f"{origin}: TLS handshake, connection reset") from error
    except OSError as error:
        raise Unreachable(f"{origin}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    """trio says that all addresses failed; the first of them says why."""
    cause: BaseException | None = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    first = cause if isinstance(cause, OSError) else error
    return first.strerror or str(first)


async def hang_up(stream: trio.abc.Stream) -> None:
    """Without farewell, so that it waits for nobody."""
    with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
        await trio.aclose_forcefully(stream)
