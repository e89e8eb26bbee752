"""What others may do to a chat actor. Nobody else builds its mail."""

from actors.chat.mail import ChatMail, DrainNow, Look, LookAgain
from actors.machine.chat import Stored
from runtime.errors import ActorGone, MailboxFull
from runtime.mailbox import Address


def look_again(chat: Address[ChatMail]) -> bool:
    """Hint that the store has news. A hint may be lost; the poll behind it finds the news."""
    return chat.hint(LookAgain())


def look(chat: Address[ChatMail], stored: Stored) -> bool:
    """Show it what the store holds now, so that it need not read. May be lost like a hint."""
    try:
        chat.cast(Look(stored))
    except (ActorGone, MailboxFull):
        return False
    return True


def drain(chat: Address[ChatMail]) -> None:
    """Finish the step in flight, give the chat back, and end."""
    chat.cast(DrainNow())
