"""Passwords: argon2 in worker threads, few at once, and as much work for nobody as for somebody.

How long a login takes does not tell whether its user exists: where there is nothing to compare with
the same work is done on a hash that no password has.
"""

import secrets
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from adapters.http.refusals import HttpError
from runtime.threads.limits import ThreadLimits
from runtime.threads.work import read

# Of argon2id: 19 MiB, two passes, one core for 20 to 30 ms. As dear to guess as OWASP asks for, and
# a login takes little from the chats that run beside it.
COST = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
AT_ONCE = 2  # more wait
HASHING = ThreadLimits("passwords", AT_ONCE)
WAITING_MAX = 64  # then who comes is told to come again: 503
RETRY_SECONDS = 2

CHARACTERS_MIN = 10
CHARACTERS_MAX = 256

_Result = TypeVar("_Result")


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or COST
        self._nobodys = _hash_of_nothing(self._hasher)
        self._callers = 0
        self.runs_count = 0  # of argon2

    async def hashed(self, password: str) -> str:
        return await self._run(self._hasher.hash, _normal(password))

    async def matches(self, hash: str | None, password: str) -> bool:
        """None: there is none, so it does not; which takes as long."""
        return await self._run(self._verify, hash or self._nobodys, _normal(password))

    async def renewed(self, hash: str, password: str) -> str | None:
        """Of a password that matches: its hash at today's cost, if that is another."""
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
    """Why this is no password to have, if so; `names` are what its user is called."""
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
    """Keyboards differ in how they write the same letter."""
    return unicodedata.normalize("NFKC", password).encode()


def _hash_of_nothing(hasher: PasswordHasher) -> str:
    """As costly as any other; made without the work."""

    def text(count: int) -> str:
        return b64encode(secrets.token_bytes(count)).rstrip(b"=").decode()

    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${text(hasher.salt_len)}${text(hasher.hash_len)}"
