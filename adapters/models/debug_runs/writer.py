"""The writer of records: an actor with a bounded mailbox, which no turn waits for.

Steps are told as they begin and end, with references to what was asked and said; their documents
are made in a thread, and written one after the other. At its bounds a step is left out and
counted, and nothing waits. What cannot be written is logged and counted; the turn never knows.

Runs that are open are kept alive by a beat. A run without one, because its process has gone, counts
as interrupted after `STALE_SECONDS`. If its chat goes on elsewhere, so does the run.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NoReturn, assert_never
from uuid import UUID

import trio

from actors.law.ids import ChatId, WorkerId
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from adapters.models.debug_runs.documents import (
    NotedExchange,
    attempt_document,
    endpoint_of,
    failure_document,
    request_document,
    response_document,
    usage_document,
)
from adapters.models.debug_runs.redaction import json_text
from adapters.models.debug_runs.store import DebugRunStore, RecordStatus, RunHead
from runtime.errors import RuntimeFault
from runtime.log import emit
from runtime.mailbox import Address, Mailbox, Reply, open_mailbox
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import ThreadLimits, read

STEPS_WAITING_MAX = 256  # to be written; one more is left out, and counted
BYTES_WAITING_MAX = 64 << 20  # of their exchanges; likewise
NOTES_WAITING_MAX = 16_384  # ends of runs and the like, which are small; likewise
WRITE_SECONDS_MAX = 5.0  # for one record; then it is left out, and counted
BEAT_SECONDS = 150.0  # between two beats of open runs, and two looks for those without one
FLUSH_SECONDS = 3.0  # at the end of the process; what waits then is left out
FORGET_TRIES_MAX = 3
FORGET_PAUSE_SECONDS = 0.5
PREPARING = ThreadLimits("debug_records", 1)


@dataclass(frozen=True, slots=True)
class StepBegan:
    """A model is asked. The record of its run begins with its first step."""

    run: RunHead
    step: UUID
    operation: str
    prompt: Prompt = field(repr=False)


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A model has answered or failed, or the call was cut short."""

    step: UUID
    status: RecordStatus
    said: ModelAnswer | ProviderFailure | None = field(repr=False)
    exchanges: tuple[NotedExchange, ...] = field(repr=False)
    ends_run: UUID | None  # which ends with it; None: it is of a turn

    @property
    def size(self) -> int:
        return sum(exchange.size for exchange in self.exchanges)


@dataclass(frozen=True, slots=True)
class StepAnswered:
    """The answer of a step has become a message."""

    step: UUID
    message: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    run: UUID
    status: RecordStatus


@dataclass(frozen=True, slots=True)
class ForgetAfter:
    """An edit has removed this message and all after it."""

    chat: ChatId
    message: int


@dataclass(frozen=True, slots=True)
class ForgetFamily:
    """A root chat has been archived."""

    root: ChatId


@dataclass(eq=False, slots=True)
class OpenTurn:
    """The run of a turn that is at work in this process."""

    run: RunHead
    step: UUID | None = None  # that was begun last


@dataclass(frozen=True, slots=True)
class Flush:
    """Answer once all that was told before this has been written."""

    reply: Reply[None]


RecordMail = StepBegan | StepEnded | StepAnswered | RunEnded | ForgetAfter | ForgetFamily | Flush


@dataclass(frozen=True, slots=True)
class DebugRunStatistics:
    open: Annotated[int, GaugeMetric("Turns at work here whose model calls are recorded.")]
    waiting: Annotated[int, GaugeMetric("Steps of recorded model calls that wait to be written.")]
    waiting_bytes: Annotated[int, GaugeMetric("Bytes of exchanges that wait to be written.")]
    written_count: Annotated[int, CounterMetric("Steps of recorded model calls that were written.")]
    left_out_count: Annotated[
        int, CounterMetric("Records of model calls that were left out: too many waited.")
    ]
    failed_count: Annotated[int, CounterMetric("Records of model calls that could not be written.")]
    stale_count: Annotated[
        int, CounterMetric("Recorded runs that were ended because their process had gone.")
    ]


class RecordWriter:
    """The writer of one process. `run` it under a supervisor."""

    def __init__(
        self,
        store: DebugRunStore,
        *,
        worker: Callable[[], WorkerId | None],
        may_record: Callable[[], bool],
    ) -> None:
        """`may_record` says whether there may be records of anybody: if not, none are looked
        after."""
        self.open_turns: dict[ChatId, OpenTurn] = {}  # as many as chats at work here, at most
        self._address: Address[RecordMail]
        self.mailbox: Mailbox[RecordMail]
        self._address, self.mailbox = open_mailbox("debug runs", capacity=NOTES_WAITING_MAX)
        self._store = store
        self._worker = worker
        self._may_record = may_record
        self._steps_waiting = 0
        self._bytes_waiting = 0
        self._written_count = 0
        self._left_out_count = 0
        self._failed_count = 0
        self._stale_count = 0

    def tell(self, mail: RecordMail) -> None:
        """Have something written, or left out if too much waits. It waits for nothing."""
        is_step, size = isinstance(mail, StepBegan | StepEnded), _size(mail)
        if is_step and (
            self._steps_waiting >= STEPS_WAITING_MAX
            or self._bytes_waiting + size > BYTES_WAITING_MAX
        ):
            self._left_out_count += 1
            return
        try:
            self._address.cast(mail)
        except RuntimeFault:
            self._left_out_count += 1
            return
        self._steps_waiting += is_step
        self._bytes_waiting += size

    async def flush(self, seconds: float) -> None:
        """Wait until what was told so far has been written, for so long at most."""
        with suppress(RuntimeFault), trio.move_on_after(seconds, shield=True):
            await self._address.ask(Flush, seconds=seconds)

    def statistics(self) -> DebugRunStatistics:
        return DebugRunStatistics(
            open=len(self.open_turns),
            waiting=self._steps_waiting,
            waiting_bytes=self._bytes_waiting,
            written_count=self._written_count,
            left_out_count=self._left_out_count,
            failed_count=self._failed_count,
            stale_count=self._stale_count,
        )

    async def run(self) -> NoReturn:
        """Write what is told until cancelled."""
        self._steps_waiting = self._bytes_waiting = 0  # what waited went with a former life
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look_after)
            while True:
                mail = await self.mailbox.receive()
                try:
                    await self._write_or_leave(mail)
                finally:
                    self._steps_waiting -= isinstance(mail, StepBegan | StepEnded)
                    self._bytes_waiting -= _size(mail)

    async def _write_or_leave(self, mail: RecordMail) -> None:
        """Write what was told. Records are removed with more patience than they are written."""
        if await self._attempt(partial(self._write, mail)):
            return
        again = FORGET_TRIES_MAX - 1 if isinstance(mail, ForgetAfter | ForgetFamily) else 0
        for _ in range(again):
            await trio.sleep(FORGET_PAUSE_SECONDS)
            if await self._attempt(partial(self._write, mail)):
                return

    async def _attempt(self, write: Callable[[], Awaitable[object]]) -> bool:
        """Do one piece of work within its limit. What fails is logged, and left out."""
        try:
            with trio.fail_after(WRITE_SECONDS_MAX):
                await write()
        except Exception as error:  # noqa: BLE001  # a record is worth less than what it is about
            self._failed_count += 1
            emit("debug_run.missed", "warning", error=error)
            return False
        return True

    async def _write(self, mail: RecordMail) -> None:
        match mail:
            case StepBegan():
                request = await read(PREPARING, partial(request_document, mail.prompt))
                await self._store.begin_step(mail.run, mail.step, mail.operation, request)
            case StepEnded():
                ended = await read(PREPARING, partial(ended_step, mail))
                await self._store.end_step(mail.step, ended)
                if mail.ends_run is not None:
                    await self._store.end_run(mail.ends_run, mail.status)
                self._written_count += 1
            case StepAnswered(step, message):
                await self._store.answered(step, message)
            case RunEnded(run, status):
                await self._store.end_run(run, status)
            case ForgetAfter(chat, message):
                await self._store.forget_after(chat, message)
            case ForgetFamily(root):
                await self._store.forget_family(root)
            case Flush(reply):
                reply.put(None)
            case _:
                assert_never(mail)

    async def _look_after(self) -> NoReturn:
        """Keep open runs alive, and end those that nothing keeps alive."""
        is_first = True
        while True:
            if self.open_turns:
                await self._attempt(self._beat)
            if is_first or self._may_record():
                await self._attempt(self._finish_stale)
            is_first = False
            await trio.sleep(BEAT_SECONDS)

    async def _beat(self) -> None:
        runs = {turn.run.id: chat for chat, turn in self.open_turns.items()}
        alive = await self._store.beat(runs.keys(), self._worker())
        for run, chat in runs.items():
            turn = self.open_turns.get(chat)
            if run not in alive and turn is not None and turn.run.id == run:
                del self.open_turns[chat]

    async def _finish_stale(self) -> None:
        self._stale_count += await self._store.finish_stale()


def _size(mail: RecordMail) -> int:
    return mail.size if isinstance(mail, StepEnded) else 0


def ended_step(mail: StepEnded) -> dict[str, Any]:
    """Return the parameters of the statement that ends a step. Pure; it may take a while."""
    said = mail.said
    answer = said if isinstance(said, ModelAnswer) else None
    failure = said if isinstance(said, ProviderFailure) else None
    return {
        "status": mail.status,
        "response": None if answer is None else json_text(response_document(answer)),
        "usage": None if answer is None else json_text(usage_document(answer.usage)),
        "error": None if failure is None else json_text(failure_document(failure)),
        "metadata": json_text(_metadata(answer)),
        "endpoint": endpoint_of(mail.exchanges),
        "attempts": json_text(_attempts(mail.exchanges)),
    }


def _attempts(exchanges: Sequence[NotedExchange]) -> list[dict[str, Any]]:
    return [attempt_document(exchange) for exchange in exchanges]


def _metadata(answer: ModelAnswer | None) -> dict[str, Any]:
    return (
        {}
        if answer is None or answer.context_limit is None
        else {"context_limit": answer.context_limit}
    )
