"""What a turn asks of the world before it runs calls."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from actors.law.ids import ChatId
from actors.tools.approvals.policy import Consent, Policy, Rule


class Grants(Protocol):
    async def of(self, root: ChatId, chat: ChatId) -> Set[str]:
        """Return what is not asked about again, as it is known: what a person has allowed always in
        this family of chats, and the starts of servers that were allowed to this chat."""
        ...


class NoGrants:
    async def of(self, root: ChatId, chat: ChatId) -> Set[str]:
        return frozenset()


NO_GRANTS = NoGrants()


@dataclass(frozen=True, slots=True)
class Approving:
    """How a deployment asks for consent."""

    grants: Grants = NO_GRANTS
    usual: Policy = Policy.ALLOW  # of chats that have no policy of their own
    rules: tuple[Rule, ...] = ()
    seconds: float = 300.0  # then what nobody has decided is denied; 0: it waits for as long

    def consent_under(self, policy: str) -> Consent:
        """Return what holds in a chat with this policy of its own, or with none (""), as long as no
        person has allowed anything there."""
        return Consent(Policy(policy) if policy else self.usual, self.rules)


NOBODY_ASKS = Approving()
