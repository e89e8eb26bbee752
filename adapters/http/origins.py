"""By which addresses clients reach us, and from which pages a browser asks. Pure.

A browser sends its cookies with whatever request any page makes it send, and keeps the cookies of
whatever answer. It says which page that was: in `Origin`, in `Sec-Fetch-Site`, or at least in
`Referer`. A page is ours if it comes from the host that it asks, or from `access_url`. Clients that
are no browsers say nothing of the kind.

What `Host` says is believed in no link: a link that somebody else follows would lead where the
sender of one request wants. It may name this machine to itself, or the address that we listen at.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

DEFAULT_PORTS = {"http": 80, "https": 443}
OWN_SITES = ("same-origin", "none")  # none: no page, but the person at the browser
LOOPBACK = "localhost"

# A name, or an address of IPv6 in its brackets and nothing else beside them; and a port.
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s\[\]:@/?#\\,]+))(?::(\d{1,5}))?", re.ASCII)
PORT_MAX = 65_535

Place = tuple[str, int]  # a host and a port


@dataclass(frozen=True, slots=True)
class OwnAddress:
    """Where clients reach this daemon: `access_url`, if it is set; and HOST:PORT it listens at."""

    access_url: str | None = None
    listening: Collection[str] = ()

    def links_lead_to(self, scheme: str, host: str) -> str | None:
        """Return what links begin with; None if nothing but this request's Host says it."""
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
        """Return in words that a page which is none of ours has made a browser ask, if so."""
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
    """Return the host and port that HOST or HOST:PORT means; None: it is neither."""
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
