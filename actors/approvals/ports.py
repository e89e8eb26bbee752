"""What a turn asks of the world before it runs calls."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from actors.approvals.policy import Policy, Rule
from actors.ids import ChatId


class Grants(Protocol):
    async def of(self, root: ChatId) -> Set[str]:
        """What a person has allowed always, in this family of chats, as it is known."""
        ...


class NoGrants:
    async def of(self, root: ChatId) -> Set[str]:
        return frozenset()


NO_GRANTS = NoGrants()


@dataclass(frozen=True, slots=True)
class Approving:
    """How a deployment asks for consent."""

    grants: Grants = NO_GRANTS
    usual: Policy = Policy.ALLOW  # of chats that have no policy of their own
    rules: tuple[Rule, ...] = ()
    seconds: float = 300.0  # then what nobody has decided is denied; 0: it waits for as long


NOBODY_ASKS = Approving()
