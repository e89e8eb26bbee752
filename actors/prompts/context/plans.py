"""Plans that are handed in: where they stand, and what they have to be. Pure."""

from actors.law.chat import Chat

PLAN_BYTES_MAX = 32 * 1024  # a longer plan is refused
SUFFIX = ".md"


def plan_name(chat: Chat) -> str:
    """Of the file that a plan is kept as."""
    return f"PLAN-{chat.id}{SUFFIX}"


def path_fault(path: str, place: str) -> str | None:
    """Why the file at `path` is not the plan of a chat whose plan stands at `place`."""
    if path != place:
        return f"path: the plan of this chat stands at {place}; write it there, then propose it"
    if not path.endswith(SUFFIX):
        return f"path: must end with {SUFFIX}"
    return None


def plan_of(content: bytes) -> tuple[str, str | None]:
    """The text of a plan, and what is wrong with it."""
    if len(content) > PLAN_BYTES_MAX:
        fact = f"the plan has more than {PLAN_BYTES_MAX} bytes"
        return "", f"{fact}; keep what decides, and refer to files for the rest"
    text = content.decode("utf-8", "replace").strip()
    return text, None if text else "the plan is empty; write it first"
