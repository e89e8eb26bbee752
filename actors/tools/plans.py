"""The plan of a chat: where it is written, and what has to be in it. Pure."""

from posixpath import basename, dirname, isabs, normpath

from actors.law.chat import Chat
from actors.law.ids import ChatId

FOLDER = ".promptcorner/plans"  # in a workspace
_NAME = "plan.md"  # by which models like to call it


def plan_path(home: str, chat: ChatId) -> str:
    return f"{home}/{FOLDER}/PLAN-{chat}.md"


def write_refusal(path: str, home: str, chat: Chat) -> str | None:
    """Return why this chat may not write to this path, or None if plans do not forbid it.

    Chats of a family work in one place, so each of them has a plan of its own.
    """
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


PLAN_BYTES_MAX = 32 * 1024  # a longer plan is refused
SUFFIX = ".md"


def plan_name(chat: Chat) -> str:
    """Return the name of the file that a plan is kept as."""
    return f"PLAN-{chat.id}{SUFFIX}"


def plan_path_fault(path: str, place: str) -> str | None:
    """Return why the file at `path` is not the plan of a chat whose plan stands at `place`."""
    if path != place:
        return f"path: the plan of this chat stands at {place}; write it there, then propose it"
    if not path.endswith(SUFFIX):
        return f"path: must end with {SUFFIX}"
    return None


def read_plan(content: bytes) -> tuple[str, str | None]:
    """Return the text of a plan, and what is wrong with it."""
    if len(content) > PLAN_BYTES_MAX:
        fact = f"the plan has more than {PLAN_BYTES_MAX} bytes"
        return "", f"{fact}; keep what decides, and refer to files for the rest"
    text = content.decode("utf-8", "replace").strip()
    return text, None if text else "the plan is empty; write it first"
