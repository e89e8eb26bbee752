"""Passwords: argon2 in worker threads, few at once; and how often a login may be tried.

How long a login takes does not tell whether its user exists: where there is nothing to compare
with, the same work is done on a hash that no password has.

A login that fails makes the next one wait, longer each time. Counted are the name, whether or not
there is such a user, the address it comes from, and both together. The name alone has more
patience, or any person could lock its user out by trying. An attempt counts as failed from its
start, so that many at once are no way around it. Several processes behind one address count each
for itself: each is as patient as all of them are to be together, divided by their number.
"""

import secrets
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from adapters.http.refusals import HttpError
from adapters.settings.caching import RecentlyUsed
from runtime.clock import now
from runtime.threads import ThreadLimits, read

# Of argon2id: 19 MiB, two passes, one core for 20 to 30 ms. As dear to guess as OWASP asks for, and
# a login takes little from the chats that run beside it.
COST = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
AT_ONCE = 2  # more wait
HASHING = ThreadLimits("passwords", AT_ONCE)
WAITING_MAX = 64  # then a login is refused for now: 503
RETRY_SECONDS = 2

FORGET_SECONDS = 900.0  # after the last attempt, and the wait for the next one
ENTRIES_MAX = 20_000  # beyond it the one that was tried longest ago is forgotten
IPV6_BITS = 64  # of an address: its owner has all addresses that begin like it

CHARACTERS_MIN = 10
CHARACTERS_MAX = 256

_Result = TypeVar("_Result")


class Passwords:
    """Hashes and checks passwords."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or COST
        self._no_users = _hash_of_nothing(self._hasher)
        self._callers = 0
        self.runs_count = 0  # of argon2

    async def hashed(self, password: str) -> str:
        """Return the hash of a password."""
        return await self._run(self._hasher.hash, _normal(password))

    async def matches(self, hash: str | None, password: str) -> bool:
        """Return whether a password has this hash. Without a hash it takes as long to say no."""
        return await self._run(self._verify, hash or self._no_users, _normal(password))

    async def renewed(self, hash: str, password: str) -> str | None:
        """Return the hash of a matching password at today's cost, or None if it has that cost."""
        if not self._hasher.check_needs_rehash(hash):
            return None
        return await self.hashed(password)

    def _verify(self, hash: str, password: bytes) -> bool:
        try:
            return self._hasher.verify(hash, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[..., _Result], *arguments: object) -> _Result:
        if self._callers >= AT_ONCE + WAITING_MAX:
            raise HttpError(
                503,
                "Too many people log in at this moment.",
                detail=f"try again in {RETRY_SECONDS} s",
                headers=(("retry-after", str(RETRY_SECONDS)),),
            )
        self.runs_count += 1
        self._callers += 1
        try:
            return await read(HASHING, partial(work, *arguments))
        finally:
            self._callers -= 1


def fault_of(password: str, *names: str) -> str | None:
    """Return what is wrong with a new password, or None. `names` are those of its user."""
    if len(password) < CHARACTERS_MIN:
        return f"must have {CHARACTERS_MIN} characters or more"
    if len(password) > CHARACTERS_MAX:
        return f"must have {CHARACTERS_MAX} characters or fewer"
    if len(set(password)) < 4:
        return "must have 4 different characters or more"
    if any(name and password.lower() == name.lower() for name in names):
        return "must not be what you are called"
    return None


def _normal(password: str) -> bytes:
    """Normalize a password: keyboards differ in how they write the same letter."""
    return unicodedata.normalize("NFKC", password).encode()


def _hash_of_nothing(hasher: PasswordHasher) -> str:
    """Make a hash that no password has. It costs as much to check as any other."""

    def text(count: int) -> str:
        return b64encode(secrets.token_bytes(count)).rstrip(b"=").decode()

    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${text(hasher.salt_len)}${text(hasher.hash_len)}"


@dataclass(frozen=True, slots=True)
class LoginPatience:
    """A number of failures that cost nothing. Each further one doubles the wait, up to a cap."""

    free: int
    cap_seconds: float
    first_seconds: float = 1.0

    def seconds(self, failures: int) -> float:
        """Return how long to wait after so many failures."""
        over = failures - self.free
        return (
            0.0
            if over <= 0
            else min(self.cap_seconds, self.first_seconds * 2.0 ** min(over - 1, 32))
        )

    def divided(self, processes: int) -> "LoginPatience":
        free = max(1, self.free // processes)
        return LoginPatience(free, self.cap_seconds * processes, self.first_seconds * processes)


BOTH = LoginPatience(5, 300.0)
ADDRESS = LoginPatience(30, 60.0)
NAME = LoginPatience(50, 30.0)


_Key = tuple[str | None, str | None]


@dataclass(slots=True)
class _Tried:
    failures: int = 0
    last: float = 0.0
    until: float = 0.0


class LoginThrottle:
    """Counts attempts to log in, and says how long to wait before the next one."""

    def __init__(self, *, processes: int = 1) -> None:
        self._both, self._address, self._name = (
            patience.divided(processes) for patience in (BOTH, ADDRESS, NAME)
        )
        # Beyond the bound the one that was tried longest ago is forgotten.
        self._tried: RecentlyUsed[_Key, _Tried] = RecentlyUsed(ENTRIES_MAX)

    def seconds_to_wait(self, name: str, address: str) -> float:
        """Return 0 if a login may be tried now, and count it as failed until it succeeds."""
        tries = [(self._of(key), patience) for key, patience in self._keys(name, address)]
        wait = max(tried.until for tried, _ in tries) - now()
        if wait > 0:
            return wait
        for tried, patience in tries:
            tried.failures += 1
            tried.last = now()
            tried.until = now() + patience.seconds(tried.failures)
        return 0.0

    def succeeded(self, name: str, address: str) -> None:
        """Forgive what was tried in this name from this address, and this attempt."""
        for key, patience in self._keys(name, address):
            tried = self._of(key)
            tried.failures = 0 if patience is self._both else max(0, tried.failures - 1)
            tried.until = (
                0.0 if patience is self._both else now() + patience.seconds(tried.failures)
            )

    def __len__(self) -> int:
        return len(self._tried)

    def _of(self, key: _Key) -> _Tried:
        """Return the count of a key, as the newest of all. Attempts of long ago do not count."""
        tried = self._tried.get(key)
        if tried is None or max(tried.last, tried.until) + FORGET_SECONDS < now():
            tried = _Tried(last=now())
            self._tried.put(key, tried)
        return tried

    def _keys(self, name: str, address: str) -> Sequence[tuple[_Key, LoginPatience]]:
        who, whence = name.lower(), _network(address)
        return (
            ((who, whence), self._both),
            ((None, whence), self._address),
            ((who, None), self._name),
        )


def _network(address: str) -> str:
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address) and known.ipv4_mapped is None:
        return f"{int(known) >> (128 - IPV6_BITS):x}::"
    return str(known)


def slow_down(throttle: LoginThrottle, name: str, address: str) -> None:
    """Refuse an attempt to log in that has to wait, and count one that has not."""
    seconds = ceil(throttle.seconds_to_wait(name, address))
    if seconds > 0:
        raise HttpError(
            429,
            "Too many attempts to log in.",
            detail=f"try again in {seconds} s",
            headers=(("retry-after", str(seconds)),),
        )
