"""The supervisor's rules for the end of a chat actor, of a search, of a comparison. Pure."""

from collections.abc import Collection, Set
from dataclasses import dataclass
from enum import Enum, auto
from typing import assert_never

from actors.law.chat import ChatError
from actors.law.ids import RunnerId
from actors.law.requests import Abandon, FinishError, FinishInterruption, Interrupt, Request
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from runtime.backoff import delay_seconds
from runtime.ends import Broken, Crashed, End, Finished, Stopped

# A chat whose actor crashes is given back after a pause, so that it is tried again, here or
# elsewhere; beyond this many crashes in a row in one process the chat is stopped for good.
CRASHES_MAX = 10
CRASHED_FIRST_SECONDS = 0.2
CRASHED_CAP_SECONDS = 60.0

FAULT = ChatError(
    "The chat has been stopped because of a fault in the server, which has been recorded. "
    "Send a message to try again."
)


# after the end of a chat actor


@dataclass(frozen=True, slots=True)
class Forget:
    """The actor held nothing any more: forget it."""


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The chat is held and not run: let it be taken again, after a pause."""

    after_seconds: float


@dataclass(frozen=True, slots=True)
class Park:
    """The chat must not run again before an operator has looked: put it into its error state."""

    error: Exception


def after_end(end: End, *, crashes_count: int) -> Forget | GiveBack | Park:
    """Return what follows the end of a chat actor.

    `crashes_count` is how many actors of the chat crashed here in a row, this one included.
    """
    match end:
        case Finished() | Stopped():
            return Forget()
        case Broken(error):
            return Park(error)
        case Crashed(error):
            if crashes_count > CRASHES_MAX:
                return Park(error)
            pause = delay_seconds(
                crashes_count,
                first_seconds=CRASHED_FIRST_SECONDS,
                cap_seconds=CRASHED_CAP_SECONDS,
            )
            return GiveBack(pause)
        case _:
            assert_never(end)


def requests_to_park(status: Status) -> tuple[Request, ...]:
    """Return the requests that bring a chat into its error state and take its holder away. A chat
    at rest only loses its holder."""
    stop = (FinishError(FAULT), Abandon())
    match status:
        case Status.RUNNING:
            return stop
        case Status.INTERRUPTING:
            return (FinishInterruption(), *stop)
        case Status.REQUIRES_ACTION:
            return (Interrupt("stopped because of a fault in the server"), *stop)
        case Status.WAITING | Status.ERROR:
            return (Abandon(),)
        case _:
            assert_never(status)


# searching


class SearchState(Enum):
    """The state of searches. They run one at a time; hints that come meanwhile ask for one more,
    not for one each."""

    IDLE = auto()
    LOOKING = auto()
    LOOKING_AGAIN = auto()


def begin_search(search: SearchState) -> tuple[SearchState, bool]:
    """Return the state after a hint, and whether to begin a search."""
    if search is SearchState.IDLE:
        return SearchState.LOOKING, True
    return SearchState.LOOKING_AGAIN, False


def end_search(search: SearchState, is_full: bool | None) -> tuple[SearchState, bool]:
    """Return the state after a search, and whether to search again: if a hint asked for it, or if
    it brought as many as it could. After a search that failed (None) the poll begins the next
    one."""
    if is_full is None or (search is SearchState.LOOKING and not is_full):
        return SearchState.IDLE, False
    return SearchState.LOOKING, True


# comparing


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between what runs here and what the store says this process holds."""

    missing: frozenset[RunnerId]  # run here, but not held by the store: their actors shall look
    strangers: tuple[ChatMoved, ...]  # held by the store, but not known here
    orphans: tuple[ChatMoved, ...]  # the same for the second time in a row: give them back


def compare_held(
    held: Collection[ChatMoved],
    *,
    known: Set[RunnerId],
    here: Set[RunnerId],
    strangers_before: Set[RunnerId],
) -> Difference:
    """Compare what the store says with what runs here.

    `known` were here when the store was asked, `here` are here now. A runner that came or went in
    between proves nothing.
    """
    in_store = {moved.runner_id for moved in held}
    unknown = [m for m in held if m.runner_id not in known and m.runner_id not in here]
    return Difference(
        missing=frozenset(known & here) - in_store,
        strangers=tuple(m for m in unknown if m.runner_id not in strangers_before),
        orphans=tuple(m for m in unknown if m.runner_id in strangers_before),
    )
