"""Who asks, where a proxy stands between: it says so, and only ours are believed. Pure.

Each proxy on the way adds the address that it was asked from to X-Forwarded-For. So the list is
read from its end: whatever stands before the first address that is no proxy of ours was written by
somebody who may say what he likes.
"""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network

HEADER = "x-forwarded-for"
PROXIES_MAX = 16  # in a row; the next one is taken for who asks


def asker(peer: str, forwarded: str, trusted: Collection[Network]) -> str:
    """The address of who asks: that of the peer, if it is no proxy of ours."""
    if not trusted or not forwarded:
        return peer
    address = peer
    for said in reversed(forwarded.rsplit(",", PROXIES_MAX)[-PROXIES_MAX:]):
        before = _address(said)
        if before is None or not _is_any(_address(address), trusted):
            break
        address = str(before)
    return address


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        known = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    return getattr(known, "ipv4_mapped", None) or known


def _is_any(address: IPv4Address | IPv6Address | None, networks: Collection[Network]) -> bool:
    return address is not None and any(address in network for network in networks)
