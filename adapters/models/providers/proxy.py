"""A proxy between us and the providers, if the environment names one: a tunnel, nothing more.

Only https is tunnelled: the proxy sees a host and a port, never a key. Servers that are spoken to
over http are near, and are called directly.
"""

import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import h11
import trio

from adapters.models.providers.broken import Unreachable
from adapters.models.providers.dial import CLOSE_SECONDS_MAX, Dial, Origin, secured

HEAD_BYTES_MAX = 16 * 1024


@dataclass(frozen=True, slots=True)
class Proxy:
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
    """The proxy for https, by the usual names. ValueError: it is not one that we can use."""
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


def proxied(direct: Dial, proxy: Proxy, context: ssl.SSLContext) -> Dial:
    """As `direct`, but through the proxy where it serves."""

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
        return await secured(stream, origin, context)

    return dial


async def _tunnel(stream: trio.abc.Stream, origin: Origin, proxy: Proxy) -> None:
    wire = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)
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
            wire.receive_data(bytes(await stream.receive_some(HEAD_BYTES_MAX)))
    except h11.RemoteProtocolError as error:
        raise Unreachable(refusal) from error
    if not isinstance(event, h11.Response) or not 200 <= event.status_code < 300:
        raise Unreachable(refusal)


def _authorization(user: str | None, password: str | None) -> str | None:
    if user is None:
        return None
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"
