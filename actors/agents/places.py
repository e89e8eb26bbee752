"""How many children a family may have, also where several are spawned at once. Pure.

Children of one chat are spawned by the calls of one step, all at the same time. Each of them takes
its place in a line before it has the store counted, and is counted behind those before it; so they
are as many as there may be, and not one more, without waiting for each other.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from actors.agents.ports import Household
from actors.law.ids import ChatId

# A child is archived with its root and never before, so this is for as long as the family lives.
# It bounds what archiving locks at once, and what a model can do that spawns without an end.
CHILDREN_MAX = 1_000  # of a chat; one more is refused, and those at rest can be given more work
# Of a chat at the same time; one more is refused until one of them has settled. Those at rest may
# be given more work all the same, by their users too: then there may be as many as children.
AT_WORK_MAX = 50


class Places:
    """Of children on their way into the store, as far as this process puts them there."""

    def __init__(self) -> None:
        self._coming: dict[ChatId, dict[ChatId, None]] = {}

    @contextmanager
    def coming(self, parent: ChatId, child: ChatId) -> Iterator[Sequence[ChatId]]:
        """While the block runs the child is on its way; those that stand before it in line."""
        line = self._coming.setdefault(parent, {})
        before = [other for other in line if other != child]
        line[child] = None
        try:
            yield before
        finally:
            line.pop(child, None)
            if not line:
                self._coming.pop(parent, None)


def no_place(household: Household, *, before: int) -> str | None:
    """Why there is no place for another child, for the model; None: there is one. The household is
    counted without the `before` that stand in line."""
    if household.children + before >= CHILDREN_MAX:
        return (
            f"this chat has had {CHILDREN_MAX} agents, and there are no more for it;"
            " give the work to one that rests, with message_agent"
        )
    if household.at_work + before >= AT_WORK_MAX:
        return (
            f"{AT_WORK_MAX} agents of this chat are at work, and more cannot be at the same time;"
            " wait for one with wait_agent, or stop one with interrupt_agent, and spawn then"
        )
    return None
