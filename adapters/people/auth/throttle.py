"""How often somebody may try to log in: who fails waits, longer each time.

Counted are the name, whether or not there is such a user, the address it comes from, and both
together. There is more patience with the name alone, or anybody could keep its user out by trying.
An attempt counts as failed from its start, so that many at once are no way around it.

Several processes behind one address count each for itself, and get equal shares of the attempts:
each is as patient as all of them are to be together, divided by their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from math import ceil

from adapters.http.refusals import HttpError
from runtime.clock import now

FORGET_SECONDS = 900.0  # after the last attempt, and the wait for the next one
ENTRIES_MAX = 20_000  # beyond it who tried least lately is forgotten
IPV6_BITS = 64  # of an address: whoever has one has all that begin like it


@dataclass(frozen=True, slots=True)
class Patience:
    """So many failures cost nothing; then each doubles the wait, up to a cap."""

    free: int
    cap_seconds: float
    first_seconds: float = 1.0

    def seconds(self, failures: int) -> float:
        over = failures - self.free
        return (
            0.0
            if over <= 0
            else min(self.cap_seconds, self.first_seconds * 2.0 ** min(over - 1, 32))
        )

    def divided(self, processes: int) -> "Patience":
        free = max(1, self.free // processes)
        return Patience(free, self.cap_seconds * processes, self.first_seconds * processes)


BOTH = Patience(5, 300.0)
ADDRESS = Patience(30, 60.0)
NAME = Patience(50, 30.0)


_Key = tuple[str | None, str | None]


@dataclass(slots=True)
class _Tried:
    failures: int = 0
    last: float = 0.0
    until: float = 0.0


class Throttle:
    def __init__(self, *, processes: int = 1) -> None:
        self._both, self._address, self._name = (
            patience.divided(processes) for patience in (BOTH, ADDRESS, NAME)
        )
        self._tried: dict[_Key, _Tried] = {}  # who tried least lately is first

    def seconds_to_wait(self, name: str, address: str) -> float:
        """0: he may try, and that is counted until he succeeds."""
        tries = [(self._of(key), patience) for key, patience in self._keys(name, address)]
        wait = max(tried.until for tried, _ in tries) - now()
        if wait > 0:
            return wait
        for tried, patience in tries:
            tried.failures += 1
            tried.last = now()
            tried.until = now() + patience.seconds(tried.failures)
        self._forget()
        return 0.0

    def succeeded(self, name: str, address: str) -> None:
        """It was he: what was tried in his name from there is forgiven, and this attempt."""
        for key, patience in self._keys(name, address):
            tried = self._of(key)
            tried.failures = 0 if patience is self._both else max(0, tried.failures - 1)
            tried.until = (
                0.0 if patience is self._both else now() + patience.seconds(tried.failures)
            )

    def __len__(self) -> int:
        return len(self._tried)

    def _of(self, key: _Key) -> _Tried:
        """As the last of all; what was long ago does not count."""
        tried = self._tried.pop(key, None)
        if tried is None or max(tried.last, tried.until) + FORGET_SECONDS < now():
            tried = _Tried(last=now())
        self._tried[key] = tried
        return tried

    def _keys(self, name: str, address: str) -> Sequence[tuple[_Key, Patience]]:
        who, whence = name.lower(), _network(address)
        return (
            ((who, whence), self._both),
            ((None, whence), self._address),
            ((who, None), self._name),
        )

    def _forget(self) -> None:
        while len(self._tried) > ENTRIES_MAX:
            del self._tried[next(iter(self._tried))]


def _network(address: str) -> str:
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address) and known.ipv4_mapped is None:
        return f"{int(known) >> (128 - IPV6_BITS):x}::"
    return str(known)


def slow_down(throttle: Throttle, name: str, address: str) -> None:
    """Refused, if he has to wait; counted, if not."""
    seconds = ceil(throttle.seconds_to_wait(name, address))
    if seconds > 0:
        raise HttpError(
            429,
            "Too many attempts to log in.",
            detail=f"try again in {seconds} s",
            headers=(("retry-after", str(seconds)),),
        )
