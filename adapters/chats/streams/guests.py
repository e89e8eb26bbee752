"""Watchers of chats that are not theirs: they are let go when they may read them no more.

Who watches is let in once, and a stream may go on for weeks. So every now and then one statement
asks for all guests together who of them may still read; at once, where it was this process that
took one off. Owners cost nothing, and where there are no guests nothing is asked.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

import trio

from actors.law.ids import ChatId, UserId
from adapters.access.admission import Admission, Visible
from adapters.http.endpoints import Caller
from adapters.postgres.driver.faults import DatabaseFault
from runtime.cause import Cause
from runtime.statistics import CounterMetric, GaugeMetric

LOOK_SECONDS = 10.0  # between two looks; what another process has changed is seen so late


@dataclass(frozen=True, slots=True)
class Uninvited(Cause):
    """The watcher may read the chat no more."""


@dataclass(frozen=True, slots=True, eq=False)
class _Guest:
    chat: ChatId
    user: UserId
    end: Callable[[], None]


@dataclass(frozen=True, slots=True)
class GuestsStatistics:
    guests: Annotated[int, GaugeMetric("Streams of chats that the watcher does not own.", name="")]
    looks_count: Annotated[
        int, CounterMetric("Times that the rights of such watchers were looked at.")
    ]
    ended_count: Annotated[
        int,
        CounterMetric("Streams that were ended because their watcher may read the chat no more."),
    ]


class Guests:
    """`run` it in a nursery; `doubt` from anywhere."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._guests: set[_Guest] = set()
        self._doubted = trio.Event()
        self._looks_count = 0
        self._ended_count = 0

    @contextmanager
    def watching(self, chat: Visible, who: Caller, end: Callable[[], None]) -> Iterator[None]:
        """`end` is called if he is to be let go while the block runs."""
        guest = self._enter(chat, who, end)
        try:
            yield
        finally:
            self._guests.discard(guest)

    async def served(
        self, chat: Visible, who: Caller, body: AsyncGenerator[bytes, None]
    ) -> AsyncIterator[bytes]:
        """The same body, as long as he may read it: it ends instead of its next piece."""
        over = trio.Event()
        guest = self._enter(chat, who, over.set)
        try:
            async for piece in body:
                if over.is_set():
                    return
                yield piece
        finally:
            self._guests.discard(guest)
            await body.aclose()

    def doubt(self) -> None:
        """Somebody has been taken off."""
        self._doubted.set()

    async def run(self) -> None:
        """Until cancelled. No fault of the database ends it."""
        while True:
            with trio.move_on_after(LOOK_SECONDS):
                await self._doubted.wait()
            self._doubted = trio.Event()
            try:
                await self._look()
            except DatabaseFault:
                continue  # they go on until the next look

    def statistics(self) -> GuestsStatistics:
        return GuestsStatistics(len(self._guests), self._looks_count, self._ended_count)

    def _enter(self, chat: Visible, who: Caller, end: Callable[[], None]) -> _Guest:
        guest = _Guest(chat.id, who.id, end)
        if not chat.by_owner:
            self._guests.add(guest)
        return guest

    async def _look(self) -> None:
        watching = {(guest.chat, guest.user) for guest in self._guests}
        if not watching:
            return
        self._looks_count += 1
        uninvited = await self._admission.uninvited(watching)
        for guest in [one for one in self._guests if (one.chat, one.user) in uninvited]:
            self._guests.discard(guest)
            self._ended_count += 1
            guest.end()
