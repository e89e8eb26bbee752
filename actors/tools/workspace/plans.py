"""Where the plan of a chat is written, and what may not be written elsewhere. Pure."""

from posixpath import basename, dirname, isabs, normpath

from actors.law.chat import Chat
from actors.law.ids import ChatId

FOLDER = ".promptcorner/plans"  # in a workspace
_NAME = "plan.md"  # by which models like to call it


def plan_path(home: str, chat: ChatId) -> str:
    return f"{home}/{FOLDER}/PLAN-{chat}.md"


def unwritable(path: str, home: str, chat: Chat) -> str | None:
    """Why this chat does not write there; None: as far as plans are concerned, it may. Chats of a
    family work in one place, so that each has a plan of its own."""
    own = plan_path(home, chat.id)
    if chat.is_planning and chat.is_root:
        if path == own:
            return None
        return f"{path}: while planning only the plan may be written, and that is {own}"
    if basename(path).lower() != _NAME:
        return None
    if not isabs(path):
        return f"{path}: not an absolute path; the plan of this chat is {own}"
    if dirname(normpath(path)) == home:
        return f"{path}: the plan of this chat is {own}; write it there"
    return None
