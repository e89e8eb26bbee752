"""Streams that are open: they end when the token that opened them is no longer good.

A request is let in once, and a stream may go on for weeks. So whenever something of its user has
changed, or the time of its token is over, the tokens of their streams are checked again, in a task
of its own: no stream has a task or a clock for it, and where nothing changes no token is looked at.

A change between the moment when a caller is let in and the moment when their stream is known here
is not missed: a stream that begins soon after a change is checked as well.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import trio

from actors.law.ids import UserId
from adapters.http.endpoints import Access, Call, Caller, Endpoint, HttpResponse, Socket, Upgrade
from adapters.people.auth.callers import Callers
from adapters.postgres.driver.faults import DatabaseFault
from runtime.clock import now
from runtime.ends import Cause
from runtime.log import emit
from runtime.scope import CausedScope
from runtime.statistics import CounterMetric, GaugeMetric

POLICY_VIOLATION = 1008  # how a socket is closed whose token is no longer good
LATELY_SECONDS = 60.0  # after a change of a user, their new streams are checked
RETRY_SECONDS = 1.0  # when the database is away; doubted streams go on so long
LOOK_SECONDS = 30.0  # between two looks at the clock; so long a stream may outlive its token


@dataclass(frozen=True, slots=True)
class TokenEnded(Cause):
    """The token that opened the stream is not good any more."""

    token: str


@dataclass(slots=True, eq=False)
class _Open:
    token: str
    end: Callable[[], None]
    until: float  # then the token ends, unless it was used since


@dataclass(frozen=True, slots=True)
class OpenStreamsStatistics:
    """Streams that are open now, and those that were ended."""

    users: Annotated[int, GaugeMetric("Users who have a stream open here.")]
    streams: Annotated[int, GaugeMetric("Streams of users that are open here.", name="")]
    doubted: Annotated[int, GaugeMetric("Users whose tokens are to be looked at again.")]
    ended_count: Annotated[
        int, CounterMetric("Streams that were ended because their token is not good any more.")
    ]


class OpenStreams:
    """Ends streams. `run` it in a nursery, and call `doubt` from anywhere."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._open: dict[UserId, set[_Open]] = {}
        self._doubted: set[UserId] = set()
        self._lately: dict[UserId, float] = {}  # users who have changed, and until when that counts
        self._all_lately = 0.0
        self._more = trio.lowlevel.ParkingLot()
        self._ended_count = 0

    def guarding(self, row: Endpoint) -> Endpoint:
        """Return the row with a handler whose streams end with the token that opened them."""
        return row if row.access is Access.OPEN else replace(row, handle=partial(self._handle, row))

    def doubt(self, user: UserId) -> None:
        """Check the streams of a user again: something of them has changed."""
        self._lately = {who: until for who, until in self._lately.items() if until > now()}
        self._lately[user] = now() + LATELY_SECONDS
        self._look_at(user)

    def doubt_all(self) -> None:
        """Check all streams again: something may have changed of any user."""
        self._all_lately = now() + LATELY_SECONDS
        for user in self._open:
            self._look_at(user)

    async def run(self) -> None:
        """Check streams until cancelled. No fault of the database ends it."""
        while True:
            while not self._doubted:
                with trio.move_on_after(LOOK_SECONDS):
                    await self._more.park()
                self._doubt_expired()
            user = self._doubted.pop()
            try:
                await self._look(user)
            except DatabaseFault:
                self._doubted.add(user)
                await trio.sleep(RETRY_SECONDS)

    def statistics(self) -> OpenStreamsStatistics:
        return OpenStreamsStatistics(
            users=len(self._open),
            streams=sum(map(len, self._open.values())),
            doubted=len(self._doubted),
            ended_count=self._ended_count,
        )

    async def _handle(self, row: Endpoint, call: Call) -> HttpResponse | Upgrade:
        answer = await row.handle(call)
        if isinstance(answer, Upgrade):
            return Upgrade(partial(self._serve, call.user, answer))
        if isinstance(answer.body, bytes):
            return answer
        return replace(answer, body=self._body(call.user, answer.body))

    async def _serve(self, caller: Caller, upgrade: Upgrade, socket: Socket) -> None:
        scope = CausedScope()
        stream = self._enter(caller, partial(scope.cancel, TokenEnded(caller.token)))
        try:
            with scope:
                await upgrade.serve(socket)
        finally:
            self._leave(caller.id, stream)
        if scope.interrupted_by is not None:
            await socket.close(POLICY_VIOLATION, "the token is no longer good")

    async def _body(self, caller: Caller, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the body until the token is not good. It ends with the next piece, which is never
        far, since streams show that they live."""
        over = trio.Event()
        stream = self._enter(caller, over.set)
        try:
            async for piece in body:
                if over.is_set():
                    return
                yield piece
        finally:
            self._leave(caller.id, stream)
            if isinstance(body, AsyncGenerator):
                await body.aclose()

    def _enter(self, caller: Caller, end: Callable[[], None]) -> _Open:
        stream = _Open(caller.token, end, caller.until)
        self._open.setdefault(caller.id, set()).add(stream)
        if max(self._lately.get(caller.id, 0.0), self._all_lately) > now():
            self._look_at(caller.id)
        return stream

    def _leave(self, user: UserId, stream: _Open) -> None:
        streams = self._open[user]
        streams.remove(stream)
        if not streams:
            del self._open[user]

    def _look_at(self, user: UserId) -> None:
        if user in self._open:
            self._doubted.add(user)
            self._more.unpark()

    def _doubt_expired(self) -> None:
        """Check the streams of tokens whose time is over: one that was used may go on."""
        for user, streams in self._open.items():
            if any(stream.until <= now() for stream in streams):
                self._doubted.add(user)

    async def _look(self, user: UserId) -> None:
        for token in {stream.token for stream in self._open.get(user, ())}:
            until = await self._callers.good_until(token)
            if until is None:
                self._end(user, token)
                continue
            for stream in self._of_token(user, token):
                stream.until = until

    def _of_token(self, user: UserId, token: str) -> list[_Open]:
        return [stream for stream in self._open.get(user, ()) if stream.token == token]

    def _end(self, user: UserId, token: str) -> None:
        ending = self._of_token(user, token)
        for stream in ending:
            stream.end()
        self._ended_count += len(ending)
        emit("streams.ended", "info", user=str(user), token=token, streams=len(ending))
