"""The state of users' tokens at forges, as administrators are told of it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import trio

from actors.law.ids import UserId
from adapters.chats.changes.store import ForgeTokenStore, forge_token_subject
from adapters.postgres.driver.faults import DatabaseFault
from adapters.settings.secrets import CannotOpen, Vault
from runtime.clock import now

LOOK_SECONDS = 30.0  # that an overview is good for: the probes of a daemon are open to everybody
ANSWER_SECONDS = 5.0  # for the database
TOKENS_MAX = 10_000  # that are looked at, the newest

TokenRow = tuple[UserId, str, bytes, bool, float | None]


@dataclass(frozen=True, slots=True)
class ForgeOverview:
    """Tokens at one forge: how many there are, and of how many something is wrong."""

    count: int = 0
    closed: int = 0  # sealed with another master key
    refused: int = 0  # by the forge
    delayed: int = 0  # the forge asks for patience
    delayed_seconds: float = 0.0  # the longest of these waits

    def faults(self) -> Iterator[str]:
        """Yield in words what is wrong."""
        if self.closed:
            yield f"{_of(self.closed, self.count)} sealed with a secret key that is not ours"
        if self.refused:
            yield f"{_of(self.refused, self.count)} refused by the forge"
        if self.delayed:
            waits = f"for up to {math.ceil(self.delayed_seconds / 60)} min"
            yield f"{_of(self.delayed, self.count)} told by the forge to be patient, {waits}"


def overview(rows: Sequence[TokenRow], vault: Vault) -> Mapping[str, ForgeOverview]:
    """Return what is to be said of tokens, by the hosts of their forges."""
    found: dict[str, ForgeOverview] = {}
    for user, host, sealed, is_refused, seconds in rows:
        known = found.get(host, ForgeOverview())
        is_closed = _is_closed(vault, sealed, forge_token_subject(user, host))
        found[host] = replace(
            known,
            count=known.count + 1,
            closed=known.closed + is_closed,
            refused=known.refused + (is_refused and not is_closed),
            delayed=known.delayed + (seconds is not None),
            delayed_seconds=max(known.delayed_seconds, seconds or 0.0),
        )
    return found


def together(found: Iterable[ForgeOverview]) -> ForgeOverview:
    """Return what is to be said of all forges together."""
    whole = list(found)
    return ForgeOverview(
        count=sum(each.count for each in whole),
        closed=sum(each.closed for each in whole),
        refused=sum(each.refused for each in whole),
        delayed=sum(each.delayed for each in whole),
        delayed_seconds=max((each.delayed_seconds for each in whole), default=0.0),
    )


class ForgeTokensCheck:
    """Looks at the tokens at times, for the probes of a daemon."""

    def __init__(self, tokens: ForgeTokenStore, vault: Vault) -> None:
        self._tokens = tokens
        self._vault = vault
        self._turn = trio.Lock()
        self._looked_at = -math.inf
        self._said: str | None = None

    async def note(self) -> str | None:
        """Return in words what is wrong with tokens, without names of users or hosts. None: all are
        well, or the database cannot be asked, which has a check of its own."""
        async with self._turn:
            if now() >= self._looked_at + LOOK_SECONDS:
                self._said = await self._look()
                self._looked_at = now()
            return self._said

    async def _look(self) -> str | None:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                rows = await self._tokens.examined(TOKENS_MAX)
        except (DatabaseFault, trio.TooSlowError):
            return None
        found = overview(rows, self._vault).values()
        return "; ".join(together(found).faults()) or None


def _of(count: int, all_count: int) -> str:
    return f"{count} of {all_count} {'token is' if all_count == 1 else 'tokens are'}"


def _is_closed(vault: Vault, sealed: bytes, subject: str) -> bool:
    try:
        vault.open(sealed, subject)
    except CannotOpen:
        return True
    return False
