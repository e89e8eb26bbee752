"""Who has a place: all connections that are open, and which of them gives way to the next one.

There are so many places. When all are taken, a connection gives way on which nothing is being
served: first the one that has waited longest without ever showing a good token, then the one of a
user that has been quiet for a while. If all are busy, the next one may stand beside them for one
request, in the hope that it is an admin's (`Visitor.is_beside`); and if there is no room to stand
either, it is turned away. No coroutine waits here for another one to leave.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from adapters.http.host.bounds import BESIDE_MAX, QUIET_SECONDS
from runtime.cause import Cause
from runtime.clock import now
from runtime.scope import CausedScope


@dataclass(frozen=True, slots=True)
class GaveWay(Cause):
    """Nothing was being served on this connection, and another one needed its place."""


@dataclass(slots=True, eq=False)
class Visitor:
    """What is known by now of the other end of a connection."""

    is_known: bool = False  # somebody has shown a good token on it
    is_beside: bool = False  # it has no place: an admin is served one request, all others none
    scope: CausedScope = field(default_factory=CausedScope)


class Places:
    def __init__(self, places_max: int, beside_max: int = BESIDE_MAX) -> None:
        self.places_max = places_max
        self.beside_max = beside_max
        self.taken = 0
        self.beside = 0
        self.gave_way_count = 0
        self.turned_away_count = 0
        # Since when nothing is being served on them; the longest first.
        self._strangers: OrderedDict[Visitor, float] = OrderedDict()
        self._known: OrderedDict[Visitor, float] = OrderedDict()
        self._beside: OrderedDict[Visitor, float] = OrderedDict()
        self._gone: set[Visitor] = set()  # that gave way, and have not ended yet

    def enter(self) -> Visitor | None:
        """None: it is to be turned away."""
        visitor = Visitor()
        if self.taken < self.places_max or self.make_room():
            self.taken += 1
            return visitor
        if self.beside < self.beside_max or self._gives_way(next(iter(self._beside), None)):
            self.beside += 1
            visitor.is_beside = True
            return visitor
        self.turned_away_count += 1
        return None

    def leave(self, visitor: Visitor) -> None:
        """It has ended."""
        self.serves(visitor)
        if visitor in self._gone:
            self._gone.discard(visitor)
        else:
            self._give_back(visitor)

    def waits(self, visitor: Visitor) -> None:
        """Nothing is being served on it."""
        if visitor not in self._gone:
            self._among(visitor)[visitor] = now()

    def serves(self, visitor: Visitor) -> None:
        self._among(visitor).pop(visitor, None)

    def make_room(self) -> bool:
        """Whether a connection has given its place away; it ends soon."""
        visitor = next(iter(self._strangers), None)
        if visitor is None:
            known, since = next(iter(self._known.items()), (None, 0.0))
            visitor = known if since + QUIET_SECONDS <= now() else None
        return self._gives_way(visitor)

    def _gives_way(self, visitor: Visitor | None) -> bool:
        if visitor is None:
            return False
        self.serves(visitor)
        self._give_back(visitor)
        self._gone.add(visitor)
        self.gave_way_count += 1
        visitor.scope.cancel(GaveWay())
        return True

    def _give_back(self, visitor: Visitor) -> None:
        if visitor.is_beside:
            self.beside -= 1
        else:
            self.taken -= 1

    def _among(self, visitor: Visitor) -> OrderedDict[Visitor, float]:
        if visitor.is_beside:
            return self._beside
        return self._known if visitor.is_known else self._strangers
