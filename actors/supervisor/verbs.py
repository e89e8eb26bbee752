"""What others may do to the supervisor. Nobody else builds its mail."""

from actors.law.chat import Message, StoredChat
from actors.supervisor.mail import Compare, Drain, LookForWork, SupervisorMail, Take
from runtime.errors import ActorGone, MailboxFull
from runtime.mailbox import Address


def look_for_work(supervisor: Address[SupervisorMail]) -> bool:
    """Hint that chats wait. May be lost; the poll behind it finds them."""
    return supervisor.hint(LookForWork())


def compare(supervisor: Address[SupervisorMail]) -> bool:
    """Hint that it may have missed something. May be lost; it compares every so often anyway."""
    return supervisor.hint(Compare())


def take(
    supervisor: Address[SupervisorMail],
    stored: StoredChat,
    history: tuple[Message, ...] | None = None,
) -> bool:
    """Hand over a chat that was acquired on a claim of its slots, with all its messages if they are
    known. Return False if that was lost: the supervisor finds the chat later."""
    try:
        supervisor.cast(Take(stored, history))
    except (ActorGone, MailboxFull):
        return False
    return True


def drain(supervisor: Address[SupervisorMail]) -> None:
    """Take nothing more, let steps in flight finish, give the chats back, end. Again: at once."""
    supervisor.cast(Drain())
