"""What those who put chats to work know of a supervisor: its places and its address."""

from collections.abc import Callable
from uuid import UUID

from actors.supervisor.mail import SupervisorMail
from actors.supervisor.slots import Slots
from actors.supervisor.world import Limits
from runtime.mailbox import Address, Mailbox, open_mailbox

SETTLING_MAX = 1_024  # chats being given back at once; what is over, a comparison finds later
SPARE_MAIL = 64  # mail that is not about a chat: ends of searches and comparisons, drains


class Intake:
    """The places of a supervisor, and the mailbox by which it is handed chats.

    It is made before its supervisor, because tools of chats send to it: an agent is a new chat.
    """

    def __init__(self, limits: Limits, new_id: Callable[[], UUID]) -> None:
        self.slots = Slots(limits, new_id)
        self.address: Address[SupervisorMail]
        self.mailbox: Mailbox[SupervisorMail]
        # Room for all that can happen to every chat at once: no end of an actor is ever refused.
        capacity = 3 * limits.held + SETTLING_MAX + SPARE_MAIL
        self.address, self.mailbox = open_mailbox("supervisor", capacity=capacity)
