"""What others may do to a chat actor. Nobody else builds its mail."""

from actors.chat.mail import ChatMail, DrainNow, LookAgain
from runtime.mailbox import Address


def look_again(chat: Address[ChatMail]) -> bool:
    """Hint that the store has news. A hint may be lost; the poll behind it finds the news."""
    return chat.hint(LookAgain())


def drain(chat: Address[ChatMail]) -> None:
    """Finish the step in flight, if it would lose anything, give the chat back, and end."""
    chat.cast(DrainNow())
