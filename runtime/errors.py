"""The errors that the kernel raises: full, gone, without an answer, or called wrongly."""


class RuntimeFault(Exception):
    """Base of the errors that a caller of the kernel may meet and handle."""


class MailboxFull(RuntimeFault):
    """The actor is slower than those who cast to it. This mail was not taken."""


class ChildrenFull(RuntimeFault):
    """The supervisor holds as many children as it may; this one was not started."""


class ActorGone(RuntimeFault):
    """The actor ended: it takes no mail, and what it had not answered stays unanswered."""


class NoAnswer(RuntimeFault):
    """The time of an ask ran out. The asker cannot know whether the actor acted on it."""


class RestartsUsedUp(RuntimeFault):
    """A child crashed more often than its budget allows, so its supervisor crashes too."""


class Misuse(AssertionError):
    """The kernel was called wrongly: our bug. Being an assertion, it is never restarted away."""


class ChildBroken(AssertionError):
    """An assertion failed in a child that its supervisor cannot do without."""


def require_assertions() -> None:
    """Refuse to run under `python -O`: assertions guard what is written, so they must be on."""
    if not __debug__:
        raise Misuse("python -O: assertions are off; start without -O and without PYTHONOPTIMIZE")
