"""Requests to addresses that a stranger has named: metadata, and what metadata leads to.

The name is resolved here, every address of it is looked at, and one of those that were looked at is
dialled: a name that means something else a moment later leads nowhere. One address in our own
network is enough to refuse the name, unless an administrator has allowed that network.
"""

import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx2
import trio

from adapters.models.providers.dial import Dial, Origin, tls_context, with_tls
from runtime.threads import ThreadLimits, ThreadsBlocked, read

Network = IPv4Network | IPv6Network
IPAddress = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

HOPS_MAX = 10  # of redirects; then it has failed
ADDRESSES_MAX = 8  # of one name that are tried
# A stranger's name may be long in coming; then only strangers wait, for so long.
LOOK_UPS = ThreadLimits("name_lookups_of_strangers", 8, per_key_max=4, wait_seconds=10.0)

# What Python's own words for addresses do not cover in all its releases.
_RESERVED: tuple[Network, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",
            "198.18.0.0/15",
            "64:ff9b:1::/48",
            "100::/64",
            "2001:2::/48",
            "2001:db8::/32",
            "fec0::/10",
        ),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


class AddressRefused(Exception):
    """The address is not one that a stranger may send us to."""


def is_reachable(address: str, allowed: Collection[Network] = ()) -> bool:
    """Return whether a stranger may send us to this address. Pure."""
    found = _plain(ip_address(address.partition("%")[0]))
    if any(found in network for network in allowed if network.version == found.version):
        return True
    is_ours = (
        found.is_loopback
        or found.is_private
        or found.is_link_local
        or found.is_multicast
        or found.is_unspecified
        or found.is_reserved
    )
    return not is_ours and not any(
        found in network for network in _RESERVED if network.version == found.version
    )


def _plain(address: IPAddress) -> IPAddress:
    """An IPv4 address in the clothes of IPv6 is an IPv4 address; so is where a tunnel comes out."""
    if not isinstance(address, IPv6Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    _, tunnelled = address.teredo or (None, None)
    return address.ipv4_mapped or address.sixtofour or tunnelled or address


async def resolved(host: str, port: int) -> Sequence[str]:
    look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await read(LOOK_UPS, look, key=host)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Every request, and every redirect of it, passes here. No connection is kept: what a name
    meant a moment ago is asked anew."""

    def __init__(self, allowed: Sequence[Network] = (), resolve: Resolve = resolved) -> None:
        self._allowed = tuple(allowed)
        self._resolve = resolve
        self._inner = httpx2.AsyncHTTPTransport(
            verify=tls_context(),
            trust_env=False,
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        addresses = await self._looked_at(request.url)
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_at(request, address, host))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_at(request, addresses[-1], host))

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _looked_at(self, url: httpx2.URL) -> Sequence[str]:
        if url.scheme not in ("http", "https") or not url.host:
            raise AddressRefused(f"{url.scheme}: only http and https are followed")
        try:
            return await _addresses(url.host, url.port or 0, self._allowed, self._resolve)
        except OSError as error:
            raise httpx2.ConnectError(str(error)) from error


async def _addresses(
    host: str, port: int, allowed: Collection[Network], resolve: Resolve
) -> Sequence[str]:
    """Return the addresses of a name. OSError: it has none. AddressRefused: one is in a private
    network."""
    try:
        found = await resolve(host, port)
    except (OSError, ThreadsBlocked, UnicodeError) as error:  # the last of a name that is none
        raise OSError(f"{host}: cannot be resolved") from error
    if not found:
        raise OSError(f"{host}: has no address")
    if not all(is_reachable(address, allowed) for address in found):
        raise AddressRefused(
            f"{host}: leads into a private network, and strangers do not send us there"
        )
    return found[:ADDRESSES_MAX]


def guarded_dial(allowed: Sequence[Network] = (), resolve: Resolve = resolved) -> Dial:
    """Return a function that connects to an origin, if no address of its name is in a private
    network that is not allowed."""

    async def dial(origin: Origin) -> trio.abc.Stream:
        addresses = await _addresses(origin.host, origin.port, allowed, resolve)
        for address in addresses[:-1]:
            try:
                stream: trio.abc.Stream = await trio.open_tcp_stream(address, origin.port)
                break
            except OSError:
                continue
        else:
            stream = await trio.open_tcp_stream(addresses[-1], origin.port)
        return stream if origin.scheme == "http" else await with_tls(stream, origin, tls_context())

    return dial


def _at(request: httpx2.Request, address: str, host: str) -> httpx2.Request:
    """Return the request to that address; the Host header and TLS still have the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


def guarded_client(
    allowed: Sequence[Network] = (), resolve: Resolve = resolved
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        transport=GuardedTransport(allowed, resolve),
        follow_redirects=True,
        max_redirects=HOPS_MAX,
        trust_env=False,
    )
