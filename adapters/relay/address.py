"""Where a process is found by the others of its database: at an address of its own. Pure.

Not where clients come in: several processes may share that, strangers reach it, and a proxy may
stand before it. Nobody has to say anything where all processes are on one machine, or on a network
that is theirs.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from adapters.settings import HostAddress

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Nowhere:
    """There is no such address; and what to do about it."""

    why: str


def own_host(listen_host: str, database_side: str | None) -> str | Nowhere:
    """Of the addresses of this machine one that only processes of ours should reach.
    `database_side` is our end of a connection to the database; None: it is on this machine."""
    listened = _address(listen_host)
    if listened is not None and _is_ours(listened):
        return listen_host
    if listen_host == "localhost" or database_side is None:
        return LOOPBACK
    beside = _address(database_side)
    if beside is not None and _is_ours(beside):
        return database_side
    return Nowhere(f"of this machine only {database_side} is known, which is no private address")


def own_address(first: HostAddress, number: int) -> HostAddress:
    """Of the process with this number, from 1: each has a port of its own; 0: any free one."""
    return HostAddress(first.host, first.port and first.port + number - 1)


def own_url(listening: HostAddress, first_url: str | None, number: int) -> str:
    """How others see the process that listens there; `first_url`: how they see the first one."""
    if first_url is None:
        return f"http://{listening}"
    parts = urlsplit(first_url)
    if number == 1 or parts.port is None:
        return first_url
    seen = HostAddress(parts.hostname or "", parts.port + number - 1)
    return parts._replace(netloc=str(seen)).geturl()


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _is_ours(address: IPv4Address | IPv6Address) -> bool:
    """On this machine, or in a network that is not everybody's."""
    return not (address.is_global or address.is_unspecified or address.is_multicast)
