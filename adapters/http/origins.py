"""Addresses: by which one clients reach us, from which one they come, and from which pages. Pure.

A browser sends its cookies with whatever request any page makes it send, and keeps the cookies of
whatever answer. It names that page: in `Origin`, in `Sec-Fetch-Site`, or at least in `Referer`. A
page is ours if it comes from the host that it asks, or from `access_url`. Clients that are no
browsers send nothing of the kind.

`Host` is believed in no link, for a link that another person follows would lead where the sender of
one request wants. It may name this machine to itself, or the address that we listen at.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

DEFAULT_PORTS = {"http": 80, "https": 443}
OWN_SITES = ("same-origin", "none")  # none: a person typed the address
LOOPBACK = "localhost"

# A name, or an address of IPv6 in its brackets and nothing else beside them; and a port.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s\[\]:@/?#\\,]+))(?::(\d{1,5}))?", re.ASCII)
PORT_MAX = 65_535

FORWARDED_HEADER = "x-forwarded-for"
PROXIES_MAX = 16  # in a row; the next one is taken for the client

Place = tuple[str, int]  # a host and a port
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class OwnAddress:
    """The address at which clients reach this daemon: `access_url`, if it is set, and the HOST:PORT
    at which it listens."""

    access_url: str | None = None
    listening: Collection[str] = ()

    def links_lead_to(self, scheme: str, host: str) -> str | None:
        """Return what links begin with; None if only the Host of this request says it."""
        if self.access_url:
            return self.access_url
        place = _place(scheme, host)
        if place is None:
            return None
        is_ours = _is_loopback(place[0]) or place in (
            _place(scheme, each) for each in self.listening
        )
        return f"{scheme}://{host}" if is_ours else None

    def foreign_page(self, scheme: str, headers: Mapping[str, str]) -> str | None:
        """Return in words that a page of another site made a browser send this; None if not."""
        site = headers.get("sec-fetch-site", "").strip().lower()
        if site and site not in OWN_SITES:
            return f"the browser says that the page is from another site: {site[:20]}"
        page = headers.get("origin", headers.get("referer"))
        if page is None or self._is_own(page, scheme, headers.get("host", "")):
            return None
        return "the page is from another host than this one; if both are yours, set access_url"

    def _is_own(self, page: str, scheme: str, host: str) -> bool:
        found = _origin(page)
        if found is None:
            return False
        if self.access_url is not None and found == _origin(self.access_url):
            return True
        # Before a listener that speaks http there may be a proxy that speaks https.
        if scheme == "https" and found[0] != "https":
            return False
        return found[1] == _place(found[0], host)


def _origin(url: str) -> tuple[str, Place] | None:
    scheme, separator, rest = url.partition("://")
    place = _place(scheme.lower(), rest.partition("/")[0]) if separator else None
    return None if place is None else (scheme.lower(), place)


def _place(scheme: str, host: str) -> Place | None:
    """Return the host and port of HOST or HOST:PORT, or None if the text is neither."""
    found = _HOST.fullmatch(host) if scheme in DEFAULT_PORTS else None
    if found is None:
        return None
    port = int(found[3]) if found[3] else DEFAULT_PORTS[scheme]
    return ((found[1] or found[2]).lower(), port) if port <= PORT_MAX else None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == LOOPBACK


# Pages of other sites may send these methods and headers with a token, and read these of answers.
CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
CORS_HEADERS = (
    "authorization, coder-session-token, content-type, content-disposition, idempotency-key,"
    " if-none-match, last-event-id"
)
CORS_EXPOSED = "etag, retry-after, content-disposition, www-authenticate"
CORS_SECONDS = 600  # for which a browser need not ask again
PREFLIGHT_HEADERS = (
    ("access-control-allow-methods", CORS_METHODS),
    ("access-control-allow-headers", CORS_HEADERS),
    ("access-control-max-age", str(CORS_SECONDS)),
)


def cors_headers(headers: Mapping[str, str], allowed: Collection[str]) -> Sequence[tuple[str, str]]:
    """Return the headers that let a page of another site read the answer; none if it may not.

    Such a page may not send cookies. It shows a token, so it cannot act for a person who happens to
    be logged in here.
    """
    origin = headers.get("origin", "")
    if origin.lower() not in allowed:
        return ()
    return (
        ("access-control-allow-origin", origin),
        ("access-control-expose-headers", CORS_EXPOSED),
        ("vary", "origin"),
    )


def client_address(peer: str, forwarded: str, trusted: Collection[Network]) -> str:
    """Return the address of the client: that of the other side, if it is no proxy of ours.

    Each proxy on the way adds the address of its client to X-Forwarded-For. So the list is read
    from its end: everything before the first address that is no proxy of ours can be made up.
    """
    if not trusted or not forwarded:
        return peer
    address = peer
    for each in reversed(forwarded.rsplit(",", PROXIES_MAX)[-PROXIES_MAX:]):
        before = _ip_address(each)
        if before is None or not _is_any(_ip_address(address), trusted):
            break
        address = str(before)
    return address


def is_trusted(peer: str, trusted: Collection[Network]) -> bool:
    """Return whether the other end of a connection is a proxy of ours."""
    return _is_any(_ip_address(peer), trusted)


def _ip_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        known = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    return getattr(known, "ipv4_mapped", None) or known


def _is_any(address: IPv4Address | IPv6Address | None, networks: Collection[Network]) -> bool:
    return address is not None and any(address in network for network in networks)
