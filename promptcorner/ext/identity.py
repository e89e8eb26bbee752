"""Identity sources that a plugin brings: they say whose an HTTP request is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IdentityRequest:
    """The part of an HTTP request that may say who asks."""

    method: str
    path: str  # without the query
    headers: Mapping[str, str]  # by their names in lower case
    peer: str  # the address of the other end of the connection: of a proxy, if there is one
    is_from_trusted_proxy: bool  # whether the setting `trusted_proxies` contains `peer`


@dataclass(frozen=True, slots=True)
class Identity:
    """A user who asks, and what the request may be used for.

    The user has to exist here and be active. A request may do what both the user's roles and
    `scopes` allow; `all` is everything that the user may do (docs/people.md lists the others).
    """

    username: str
    scopes: tuple[str, ...] = ("all",)


class IdentitySource(ABC):
    """A source that is asked about requests that show no token, cookie or ticket of ours."""

    @abstractmethod
    async def identify(self, request: IdentityRequest) -> Identity | None:
        """Say who asks, or None if this source cannot tell: the next one is asked then."""
