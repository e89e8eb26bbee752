"""The execution states of a stored chat, and how its columns map to them. Pure."""

from enum import Enum


class Status(Enum):
    """The status column. Together with the queue and `archived` it makes the state."""

    WAITING = "waiting"
    RUNNING = "running"
    INTERRUPTING = "interrupting"
    REQUIRES_ACTION = "requires_action"
    ERROR = "error"

    @property
    def ends_a_turn(self) -> bool:
        """Return whether a turn is over. A chat that waits for results or consent is in the midst
        of one."""
        return self in (Status.WAITING, Status.ERROR)


class State(Enum):
    """The state of a chat. The value is how it is written in tables, logs and refusals.

    0 and 1 say whether the queue is empty; X says that the chat is archived. Who holds the chat is
    another question, with another answer in every state.
    """

    W = "W"  # waiting for a user
    E0 = "E0"  # stopped by an error
    E1 = "E1"
    R0 = "R0"  # at work
    R1 = "R1"
    I0 = "I0"  # being interrupted: what was said is still to be kept
    I1 = "I1"
    A0 = "A0"  # a client has to answer tool calls
    A1 = "A1"
    XW = "XW"
    XE0 = "XE0"
    XE1 = "XE1"
    INVALID = "Invalid"  # every other combination; only reconciling leads out of it


_LIVE = {
    (Status.WAITING, False): State.W,
    (Status.ERROR, False): State.E0,
    (Status.ERROR, True): State.E1,
    (Status.RUNNING, False): State.R0,
    (Status.RUNNING, True): State.R1,
    (Status.INTERRUPTING, False): State.I0,
    (Status.INTERRUPTING, True): State.I1,
    (Status.REQUIRES_ACTION, False): State.A0,
    (Status.REQUIRES_ACTION, True): State.A1,
}
_ARCHIVED = {
    (Status.WAITING, False): State.XW,
    (Status.ERROR, False): State.XE0,
    (Status.ERROR, True): State.XE1,
}

RUNNABLE = frozenset({Status.RUNNING, Status.INTERRUPTING, Status.REQUIRES_ACTION})


def state_of(status: Status, *, queued: bool, archived: bool) -> State:
    return (_ARCHIVED if archived else _LIVE).get((status, queued), State.INVALID)
