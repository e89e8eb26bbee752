"""Connections to providers: TCP, perhaps through a proxy, and for https TLS, always verified.

There is no way to switch verification off: a key is worth more than the convenience. If the
environment names a proxy, only https is tunnelled through it: the proxy sees a host and a port,
never a key. Servers that are spoken to over http are near, and are called directly.
"""

import base64
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urlsplit

import h11
import trio

from adapters.models.providers.faults import ProviderUnreachable, UntrustedPeer
from adapters.models.providers.sockets import EncryptedStream, WaitingStream

# For looking up the name, TCP and TLS together; then `ProviderUnreachable`.
CONNECT_SECONDS_MAX = 30.0
CLOSE_SECONDS_MAX = 2.0
TUNNEL_HEAD_BYTES_MAX = 16 * 1024  # of a proxy's answer; a longer one opens no tunnel
READ_BYTES = 64 * 1024

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Origin:
    """The scheme, host and port of a server."""

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
    """Return the origin of a base URL, and its path without a slash at its end."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("base URL: must begin with http:// or https:// and name a host")
    port = parts.port or _PORTS[parts.scheme]
    return Origin(parts.scheme, parts.hostname, port), parts.path.rstrip("/")


@cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS settings that all connections to others share.

    They are made once, because that reads every root certificate of the machine.
    """
    return new_tls_context()


def new_tls_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def direct_dial(context: ssl.SSLContext) -> Dial:
    """Return a function that connects to an origin directly."""

    async def dial(origin: Origin) -> trio.abc.Stream:
        stream = WaitingStream(await trio.open_tcp_stream(origin.host, origin.port))
        return stream if origin.scheme == "http" else await with_tls(stream, origin, context)

    return dial


async def with_tls(
    stream: trio.abc.Stream, origin: Origin, context: ssl.SSLContext
) -> EncryptedStream:
    """Return TLS over a stream, after a handshake in which the peer has proved who it is."""
    tls = EncryptedStream(stream, context, origin.host)
    shaken = False
    try:
        await tls.do_handshake()
        shaken = True
    finally:
        if not shaken:
            with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                await trio.aclose_forcefully(tls)
    return tls


async def open_connection(dial: Dial, origin: Origin) -> trio.abc.Stream:
    """Return a new connection. Raises `ProviderUnreachable` or `UntrustedPeer`."""
    try:
        with trio.fail_after(CONNECT_SECONDS_MAX):
            return await dial(origin)
    except trio.TooSlowError:
        limit = f"{CONNECT_SECONDS_MAX:g} s"
        raise ProviderUnreachable(f"{origin}: no connection within {limit}, timed out") from None
    except trio.BrokenResourceError as error:
        refused = error.__cause__
        if isinstance(refused, ssl.SSLCertVerificationError):
            raise UntrustedPeer(f"{origin}: certificate: {refused.verify_message}") from error
        raise ProviderUnreachable(f"{origin}: TLS handshake, connection reset") from error
    except OSError as error:
        raise ProviderUnreachable(f"{origin}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    """Return why a connection failed. trio says that all addresses did; the first says why."""
    cause: BaseException | None = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    first = cause if isinstance(cause, OSError) else error
    return first.strerror or str(first)


async def hang_up(stream: trio.abc.Stream) -> None:
    """Close a stream without a farewell, so that this waits for no peer."""
    with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
        await trio.aclose_forcefully(stream)


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy that opens tunnels to https servers."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)
    exempt: tuple[str, ...] = ()  # hosts, and domains with all that is in them

    def serves(self, origin: Origin) -> bool:
        if origin.scheme != "https":
            return False
        host = f".{origin.host.lower()}"
        return not any(name == "*" or host.endswith(f".{name}") for name in self.exempt)


def proxy_of(environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy that the environment names for https, if it names one.

    Raises ValueError for a proxy that we cannot use.
    """
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    url = next((environ[name] for name in names if environ.get(name)), None)
    if url is None:
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("proxy: only http:// proxies are supported; set HTTPS_PROXY to one")
    exempt = (environ.get("NO_PROXY") or environ.get("no_proxy") or "").lower().split(",")
    return Proxy(
        parts.hostname,
        parts.port or 80,
        _authorization(parts.username, parts.password),
        tuple(name.strip().lstrip("*").lstrip(".") or "*" for name in exempt if name.strip()),
    )


def dial_through(direct: Dial, proxy: Proxy, context: ssl.SSLContext) -> Dial:
    """Return a function that connects through the proxy where it serves, and else directly."""

    async def dial(origin: Origin) -> trio.abc.Stream:
        if not proxy.serves(origin):
            return await direct(origin)
        stream = await direct(Origin("http", proxy.host, proxy.port))
        opened = False
        try:
            await _tunnel(stream, origin, proxy)
            opened = True
        finally:
            if not opened:
                with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                    await trio.aclose_forcefully(stream)
        return await with_tls(stream, origin, context)

    return dial


async def _tunnel(stream: trio.abc.Stream, origin: Origin, proxy: Proxy) -> None:
    wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=TUNNEL_HEAD_BYTES_MAX)
    target = f"[{origin.host}]" if ":" in origin.host else origin.host
    target = f"{target}:{origin.port}"
    headers = [("Host", target)]
    if proxy.authorization is not None:
        headers.append(("Proxy-Authorization", proxy.authorization))
    asked = wire.send(h11.Request(method="CONNECT", target=target, headers=headers))
    asked = (asked or b"") + (wire.send(h11.EndOfMessage()) or b"")
    await stream.send_all(asked)
    refusal = f"{origin}: the proxy {proxy.host}:{proxy.port} opened no tunnel"
    try:
        while (event := wire.next_event()) is h11.NEED_DATA:
            wire.receive_data(bytes(await stream.receive_some(TUNNEL_HEAD_BYTES_MAX)))
    except h11.RemoteProtocolError as error:
        raise ProviderUnreachable(refusal) from error
    if not isinstance(event, h11.Response) or not 200 <= event.status_code < 300:
        raise ProviderUnreachable(refusal)


def _authorization(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"
