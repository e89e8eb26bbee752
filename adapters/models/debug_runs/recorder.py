"""The recorder of model calls: it decides whose calls are recorded, and notes them as they happen.

A user's calls are recorded if the deployment records all calls, or if an administrator lets users
record theirs and the user has switched that on. It is decided when a turn first asks a model, from
what the catalogue has in memory. The calls of everybody else pass by: their models are handed back
as they are.

The steps of one turn share a run, also across processes and retries, because its id is made from
the message that the turn answers. Every call beside a turn has a run of its own.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4, uuid5

from actors.chat.turn.ports import (
    Batch,
    CallRecorder,
    ConfiguredProvider,
    Model,
    Models,
    RecordKind,
)
from actors.law.change import Change
from actors.law.chat import Body, Chat, ChatError, Message, Role, Visibility
from actors.law.ids import ChatId, UserId
from actors.law.parts.assemble import Assembly, ModelAnswer
from actors.law.parts.deltas import AnswerFailed, AnswerFinished, ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.states import Status
from actors.law.store.ports import Applied
from adapters.models.debug_runs.attempts import noting
from adapters.models.debug_runs.documents import NotedExchange, label_of, prompt_label, trigger_of
from adapters.models.debug_runs.store import RecordStatus, RunHead
from adapters.models.debug_runs.writer import (
    DebugRunStatistics,
    ForgetAfter,
    ForgetFamily,
    OpenTurn,
    RecordWriter,
    RunEnded,
    StepAnswered,
    StepBegan,
    StepEnded,
)
from runtime.clock import wall

RUNS = UUID("6a1f1d2e-0c57-4d0b-9a3f-6f5f3a6f2b9d")  # the namespace of ids of turns' runs


@dataclass(frozen=True, slots=True)
class RecordSwitches:
    """The switches of recording, as they are known in this process now."""

    is_forced: bool  # the deployment records the calls of all users
    allows_users: Callable[[], bool]  # an administrator lets users record theirs
    is_wanted_by: Callable[[UserId], bool]  # the user has switched it on

    def is_on_for_any(self) -> bool:
        """Return whether there may be users whose calls are recorded."""
        return self.is_forced or self.allows_users()

    def is_on_for(self, user: UserId) -> bool:
        return self.is_forced or (self.allows_users() and self.is_wanted_by(user))


class CallRecords:
    """Fulfils `actors.chat.turn.ports.CallRecorder`; its `note_commit` follows the commits of this
    process."""

    def __init__(self, switches: RecordSwitches, writer: RecordWriter) -> None:
        self._switches = switches
        self._writer = writer
        self._open = writer.open_turns

    def recorded(
        self, model: Model, chat: Chat, kind: RecordKind, history: Sequence[Message] = ()
    ) -> Model:
        """Return the model as it is asked: itself, or one whose calls are recorded."""
        if kind == "chat_turn":
            turn = self._turn(model, chat, history)
            if turn is None:
                return model
            step = uuid5(turn.run.id, str(chat.history_version))
            asking: ConfiguredProvider = RecordedProvider(model.provider, self._writer, turn, step)
        elif self._switches.is_on_for(chat.owner_id):
            turn = OpenTurn(_head(uuid4(), model, chat, kind, history))
            asking = RecordedProvider(model.provider, self._writer, turn)
        else:
            return model
        return replace(model, provider=asking)

    def _turn(self, model: Model, chat: Chat, history: Sequence[Message]) -> OpenTurn | None:
        """Return the run of the chat's turn, or None if it is not recorded. What was decided for a
        turn holds to its end."""
        turn = self._open.get(chat.id)
        if turn is None and not self._switches.is_on_for(chat.owner_id):
            return None
        trigger = trigger_of(history)
        id = uuid5(RUNS, f"{chat.id}/{0 if trigger is None else trigger.id}")
        if turn is not None and turn.run.id == id:
            turn.run = replace(turn.run, history_tip_message_id=_tip(history))
            return turn
        if turn is not None:
            self._end(chat.id, "completed")
            if not self._switches.is_on_for(chat.owner_id):
                return None
        turn = self._open[chat.id] = OpenTurn(_head(id, model, chat, "chat_turn", history))
        return turn

    def statistics(self) -> DebugRunStatistics:
        return self._writer.statistics()

    def note_commit(self, applied: Applied) -> None:
        """Note what became of a turn that is recorded, and remove what an edit or the archive takes
        out of a chat. It waits for nothing: it runs in the task that commits."""
        change, chat = applied.change, applied.chat
        turn = self._open.get(chat.id)
        if turn is not None:
            self._note_answer(turn, applied)
            ended = end_of_turn(change)
            if ended is not None:
                self._end(chat.id, ended)
            elif chat.holder is None:  # another process goes on with it, and with its run
                del self._open[chat.id]
        if change.deleted or (chat.archived and not change.before.chat.archived):
            self._forget(change)

    def _note_answer(self, turn: OpenTurn, applied: Applied) -> None:
        for message in applied.messages:
            if message.body.role is Role.ASSISTANT and turn.step is not None:
                self._writer.tell(StepAnswered(turn.step, message.id))

    def _forget(self, change: Change) -> None:
        chat = change.chat
        if not self._switches.is_on_for_any():
            return  # what is left of former times is removed by its age
        if change.deleted:
            self._writer.tell(ForgetAfter(chat.id, min(row.id for row in change.deleted)))
        if chat.archived and chat.is_root:
            self._writer.tell(ForgetFamily(chat.id))

    def _end(self, chat: ChatId, status: RecordStatus) -> None:
        self._writer.tell(RunEnded(self._open.pop(chat).run.id, status))


def _head(
    id: UUID, model: Model, chat: Chat, kind: RecordKind, history: Sequence[Message]
) -> RunHead:
    trigger = trigger_of(history)
    return RunHead(
        id,
        kind,
        chat.id,
        chat.root_id,
        chat.parent_id,
        model.config_id,
        model.vendor,
        model.name,
        trigger_message_id=None if trigger is None else trigger.id,
        history_tip_message_id=_tip(history),
        first_message="" if trigger is None else label_of(trigger.body.parts),
    )


def _tip(history: Sequence[Message]) -> int | None:
    return history[-1].id if history else None


def end_of_turn(change: Change) -> RecordStatus | None:
    """Return how a turn ended with this change, or None if it goes on. Pure."""
    before, after = change.before.chat.status, change.chat.status
    if after is Status.ERROR:
        return "error"
    is_interrupted = before is Status.INTERRUPTING
    if after is Status.WAITING:
        return "interrupted" if is_interrupted else "completed"
    if is_interrupted and after is Status.RUNNING:
        return "interrupted"
    return "completed" if any(map(_is_prompt, change.added)) else None


def _is_prompt(body: Body) -> bool:
    is_said = body.role is Role.USER and body.visibility is not Visibility.MODEL
    return is_said and not body.compressed


@dataclass(frozen=True, slots=True)
class RecordedModels:
    """The models of jobs beside turns, each recorded as this kind. Fulfils
    `actors.chat.turn.ports.Models`."""

    models: Models
    recorder: CallRecorder
    kind: RecordKind

    async def model_for(self, chat: Chat) -> Model | ChatError:
        model = await self.models.model_for(chat)
        if isinstance(model, ChatError):
            return model
        return self.recorder.recorded(model, chat, self.kind)


class RecordedProvider:
    """A provider whose calls are noted as steps of a run. Fulfils
    `actors.chat.turn.ports.ConfiguredProvider`."""

    def __init__(
        self,
        provider: ConfiguredProvider,
        writer: RecordWriter,
        turn: OpenTurn,
        step: UUID | None = None,
    ) -> None:
        """`step` is what every call belongs to; None: each is a step of its own."""
        self._provider = provider
        self._writer = writer
        self._turn = turn
        self._step = step

    @asynccontextmanager
    async def stream(self, prompt: Prompt) -> AsyncIterator[AsyncIterator[Batch]]:
        step = self._begin("stream", prompt)
        try:
            with noting(step.exchanges):
                async with self._provider.stream(prompt) as batches:
                    yield _HeardBatches(batches, step)
        finally:  # cut short, too: nothing is awaited here
            self._end(step)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        step = self._begin("generate", prompt)
        try:
            with noting(step.exchanges):
                step.said = await self._provider.generate(prompt)
            return step.said
        finally:
            self._end(step)

    def _begin(self, operation: str, prompt: Prompt) -> "NotedCall":
        step, run = NotedCall(self._step or uuid4()), self._turn.run
        if not run.first_message:
            run = self._turn.run = replace(run, first_message=prompt_label(prompt))
        self._turn.step = step.id
        self._writer.tell(StepBegan(run, step.id, operation, prompt))
        return step

    def _end(self, step: "NotedCall") -> None:
        said = step.outcome()
        status: RecordStatus = "interrupted"
        if isinstance(said, ModelAnswer):
            status = "completed"
        elif said is not None:
            status = "error"
            _classify(step.exchanges, said)
        run = self._turn.run
        ends = None if run.kind == "chat_turn" else run.id
        self._writer.tell(StepEnded(step.id, status, said, tuple(step.exchanges), ends))


def _classify(exchanges: Sequence[NotedExchange], failure: ProviderFailure) -> None:
    """Note with the exchange that failed whether another one would help, and when."""
    if not exchanges:
        return
    last = exchanges[-1]
    last.retry_classification = failure.kind.value if failure.retryable else "not_retryable"
    if failure.retryable and failure.retry_after_seconds:
        last.retry_delay_ms = round(failure.retry_after_seconds * 1000)


@dataclass(eq=False, slots=True)
class NotedCall:
    """One call of a model, as far as it has come."""

    id: UUID
    exchanges: list[NotedExchange] = field(default_factory=list)
    assembly: Assembly = field(default_factory=Assembly)
    is_finished: bool = False
    said: ModelAnswer | ProviderFailure | None = None

    def hear(self, batch: Batch) -> None:
        at = wall()
        for delta in batch:
            self.assembly.add(delta, at)
        last = batch[-1]
        self.is_finished = isinstance(last, AnswerFinished)
        if isinstance(last, AnswerFailed):
            self.said = last.failure

    def outcome(self) -> ModelAnswer | ProviderFailure | None:
        """Return what the model said to its end; None: it was cut short."""
        return self.assembly.answer() if self.is_finished else self.said


class _HeardBatches:
    """The batches of an answer, each heard on its way."""

    def __init__(self, batches: AsyncIterator[Batch], step: NotedCall) -> None:
        self._batches = batches
        self._step = step

    def __aiter__(self) -> "_HeardBatches":
        return self

    async def __anext__(self) -> Batch:
        batch = await self._batches.__anext__()
        self._step.hear(batch)
        return batch
