"""The dispatcher of policy hooks: it asks the server of the deployment, within bounds, and counts.

A question that cannot be asked has an answer all the same: that it failed, and how. What follows
from that is for the rules in `actors.tools.hooks.rules` to say, and they say no. Nothing of a
question is stored; it may be asked again, after a crash or when its chat is tried once more.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import trio

from actors.law.chat import Chat
from actors.law.ids import ChatId, RunnerId, chat_name
from actors.tools.hooks.port import HookEvent, HookFailed, HookReply, HookSubject
from adapters.models.providers.dial import Dial, Origin
from adapters.models.providers.faults import CallFailed, ConnectionLost, ProviderUnreachable
from adapters.models.providers.http import HttpClient, ProviderRequest
from adapters.settings.caching import RecentlyUsed
from adapters.tools.hooks.replies import REPLY_BYTES_MAX, read_reply
from adapters.tools.hooks.signing import HookQuestion, token
from runtime.clock import now, wall
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

QUESTIONS_MAX = 256  # at once; one more waits, and fails after `WAIT_SECONDS`
ADMISSIONS_MAX = 192  # of them for requests of the API: the others are left to turns
WAIT_SECONDS = 0.25
RETRY_SECONDS = 0.25  # before a question is asked once more that no server has heard
SESSIONS_MAX = 32_768  # chats whose sessions are known; the one unused for longest begins anew
HELD_NOTICES_MAX = 16  # of one chat; then the oldest goes

DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class HookEndpoint:
    """The server that is asked."""

    url: str
    secret: str = field(repr=False)
    timeout_seconds: float

    def request(self, body: bytes, authorization: str) -> ProviderRequest:
        parts = urlsplit(self.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("Authorization", f"Bearer {authorization}"),
        )
        host = parts.hostname or ""
        origin = Origin(parts.scheme, host, parts.port or DEFAULT_PORTS[parts.scheme])
        return ProviderRequest(origin, target, headers, body)


class HookFigures(Protocol):
    """Counts what hooks are asked and answer."""

    def hook_dispatched(self, event: str, result: str, seconds: float) -> None:
        """Count a question, by what came of it and how long it took."""
        ...

    def hook_replied(self, event: str, reply: HookReply) -> None:
        """Count what an answer decides, and how much it says."""
        ...


@dataclass(frozen=True, slots=True)
class HookStatistics:
    asking: Annotated[int, GaugeMetric("Questions to the policy hook that are on their way.")]
    asked_count: Annotated[int, CounterMetric("Questions that the policy hook was asked.")]
    failed_count: Annotated[int, CounterMetric("Questions that the policy hook did not answer.")]
    denied_count: Annotated[int, CounterMetric("Prompts and calls that the policy hook denied.")]
    repeated_count: Annotated[
        int, CounterMetric("Questions that were asked once more: no connection held.")
    ]


@dataclass(eq=False, slots=True)
class _Session:
    """The session of a chat: one life of its actor, and what waits for its next step."""

    runner: RunnerId | None = None
    notices: list[str] = field(default_factory=list)
    failed: HookFailed | None = None


class HookDispatcher:
    """Fulfils `actors.tools.hooks.rules.PolicyHooks`."""

    is_on = True

    def __init__(
        self,
        endpoint: HookEndpoint,
        dial: Dial,
        *,
        deployment: Callable[[], Awaitable[UUID]],
        figures: HookFigures,
    ) -> None:
        """`deployment` reads the id of the deployment, before the first question."""
        self._endpoint = endpoint
        self._client = HttpClient(dial)
        self._read_deployment = deployment
        self._deployment: UUID | None = None
        self._figures = figures
        self._all = trio.Semaphore(QUESTIONS_MAX)
        self._admissions = trio.Semaphore(ADMISSIONS_MAX)
        self._sessions: RecentlyUsed[ChatId, _Session] = RecentlyUsed(SESSIONS_MAX)
        self._asking = 0
        self._asked_count = 0
        self._failed_count = 0
        self._denied_count = 0
        self._repeated_count = 0

    async def ask(
        self,
        event: HookEvent,
        subject: HookSubject,
        data: Mapping[str, Any],
        *,
        is_admission: bool = False,
    ) -> HookReply | HookFailed:
        began = now()
        self._asked_count += 1
        self._asking += 1
        try:
            reply = await self._ask(HookQuestion(uuid4(), event, subject, data), is_admission)
        finally:
            self._asking -= 1
        self._count(event, subject, reply, now() - began)
        return reply

    def begins_session(self, chat: Chat) -> bool:
        assert chat.holder is not None, "a chat at work is held"
        session = self._session(chat.id)
        is_first = session.runner != chat.holder.runner
        session.runner = chat.holder.runner
        return is_first

    def hold_notice(self, chat: ChatId, text: str) -> None:
        notices = self._session(chat).notices
        notices.append(text)
        del notices[:-HELD_NOTICES_MAX]

    def take_notices(self, chat: ChatId) -> tuple[str, ...]:
        session = self._session(chat)
        taken, session.notices = tuple(session.notices), []
        return taken

    def hold_failure(self, chat: ChatId, failed: HookFailed) -> None:
        self._session(chat).failed = failed

    def take_failure(self, chat: ChatId) -> HookFailed | None:
        session = self._session(chat)
        failed, session.failed = session.failed, None
        return failed

    def statistics(self) -> HookStatistics:
        return HookStatistics(
            asking=self._asking,
            asked_count=self._asked_count,
            failed_count=self._failed_count,
            denied_count=self._denied_count,
            repeated_count=self._repeated_count,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    def _session(self, chat: ChatId) -> _Session:
        session = self._sessions.get(chat)
        if session is None:
            session = _Session()
            self._sessions.put(chat, session)
        return session

    def _count(
        self, event: HookEvent, subject: HookSubject, reply: HookReply | HookFailed, seconds: float
    ) -> None:
        if isinstance(reply, HookFailed):
            self._failed_count += 1
            self._figures.hook_dispatched(event, reply.fault, seconds)
            chat = chat_name(subject.chat)
            emit("hook.failed", "warning", chat=chat, about=event, why=reply.detail)
            return
        is_denied = reply.decision == "deny"
        self._denied_count += is_denied
        self._figures.hook_dispatched(event, "denied" if is_denied else "ok", seconds)
        self._figures.hook_replied(event, reply)

    async def _ask(self, question: HookQuestion, is_admission: bool) -> HookReply | HookFailed:
        reply: HookReply | HookFailed | None = None
        try:
            async with self._place(is_admission) as has_place:
                if not has_place:
                    return HookFailed("over_capacity", "too many questions are on their way")
                with trio.move_on_after(self._endpoint.timeout_seconds):
                    reply = await self._answer(question)
        except Exception as error:  # noqa: BLE001  # whatever it is, it counts as no
            emit("hook.crashed", "error", chat=chat_name(question.subject.chat), error=error)
            return HookFailed("internal_error", "the daemon could not ask; its log says why")
        limit = f"no answer within {self._endpoint.timeout_seconds:g} s"
        return reply or HookFailed("timeout", limit)

    @asynccontextmanager
    async def _place(self, is_admission: bool) -> AsyncIterator[bool]:
        """Take a place among those that may be asked at once; False: there was none in time."""
        places = (self._admissions, self._all) if is_admission else (self._all,)
        taken: list[trio.Semaphore] = []
        try:
            with trio.move_on_after(WAIT_SECONDS):
                for place in places:
                    await place.acquire()
                    taken.append(place)
            yield len(taken) == len(places)
        finally:
            for place in taken:
                place.release()

    async def _answer(self, question: HookQuestion) -> HookReply | HookFailed:
        if self._deployment is None:
            self._deployment = await self._read_deployment()
        body, endpoint = question.body(), self._endpoint
        signed = token(
            question,
            body,
            url=endpoint.url,
            secret=endpoint.secret,
            deployment=self._deployment,
            now=wall(),
            timeout_seconds=endpoint.timeout_seconds,
        )
        request = endpoint.request(body, signed)
        try:
            return await self._try(question.event, request)
        except (ConnectionLost, ProviderUnreachable):
            self._repeated_count += 1
            await trio.sleep(RETRY_SECONDS)
        except CallFailed as error:
            return HookFailed("connection_error", str(error))
        try:
            return await self._try(question.event, request)
        except CallFailed as error:
            return HookFailed("connection_error", str(error))

    async def _try(self, event: HookEvent, request: ProviderRequest) -> HookReply | HookFailed:
        async with self._client.call(request) as response:
            body = await response.read(REPLY_BYTES_MAX + 1)
            return read_reply(event, response.status, body)
