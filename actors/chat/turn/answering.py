"""Asking a model and showing its answer as it comes, under two guards: it has to begin, and to go
on.

A provider that runs tools itself may pause in the middle of an answer. It is then asked to go on,
in the same attempt, and what it says further belongs to the same answer.

Our own guard is asked before anything is blamed on the provider: an attempt that we cut short is a
timeout, whatever came out of the connection on the way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.ports import NO_TELEMETRY, Batch, HearsTogether, Model, ShowPiece, Telemetry
from actors.chat.turn.work import Attempt, Silent, SlowStart
from actors.law.chat import Role
from actors.law.failures import wording
from actors.law.failures.classify import classify
from actors.law.failures.signals import Signals
from actors.law.ids import chat_name
from actors.law.parts.assemble import NO_SERVERS, Assembly, ModelAnswer
from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    Delta,
    FailureKind,
    FinishReason,
    ProviderFailure,
    ReasoningDelta,
    TextDelta,
    ToolInputDelta,
    ToolInputStarted,
)
from actors.law.parts.message import (
    HookNoticePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolResultPart,
)
from actors.law.parts.prompt import Prompt
from actors.prompts.converting import assistant_output
from actors.streams.pieces import ArgsPiece, Piece, ReasoningPiece
from runtime.clock import now, wall
from runtime.ends import holds_assertion
from runtime.log import emit
from runtime.scope import CausedScope

# A guard is renewed at most once in this share of the silence it allows, which may so be cut short
# by as much: every renewal costs a seventh of what a delta does.
RENEWED_SHARE = 0.002
# Of one answer that its provider pauses; then the turn goes on with what there is of it.
CONTINUATIONS_MAX = 20
UNEXPECTED = "what speaks with the provider failed; the log of the server says how"


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """The answer of a model or its failure, and how long it took."""

    said: ModelAnswer | ProviderFailure
    runtime_ms: int


async def ask(
    model: Model,
    prompt: Prompt,
    attempt: Attempt,
    limits: TurnLimits,
    *,
    show: ShowPiece,
    servers: Mapping[str, UUID] = NO_SERVERS,
    telemetry: Telemetry = NO_TELEMETRY,
) -> ModelOutcome:
    """Ask the model once, and return its whole answer or why there is none.

    The answer is shown, and noted in `attempt`, as it comes. `servers` says of the tools that
    belong to a server, by their names, which server it is.
    """
    began = attempt.asked_model_at = now()
    hearing, asking = _Hearing(attempt, Assembly(servers), show), prompt
    continuations_count = 0
    while True:
        guard = CausedScope()
        telemetry.model_asked(model, asking)
        gone_wrong = await _listen(model, asking, hearing, guard, limits, telemetry)
        # What was heard to its end counts, whatever happened on the way out.
        said = hearing.outcome(model.vendor) or gone_wrong
        assert said is not None, "a provider's answer ends with Finished or Failed"
        further = _continued(prompt, said)
        if further is None:
            break
        if continuations_count == CONTINUATIONS_MAX:
            chat = chat_name(attempt.key.chat)
            emit("answer.paused", "warning", chat=chat, provider=model.vendor)
            break
        asking, continuations_count = further, continuations_count + 1
        hearing.go_on()
    if isinstance(said, ProviderFailure) and said.retryable:
        was_slow = said is gone_wrong and isinstance(guard.requested, SlowStart)
        telemetry.attempt_failed(model, FailureKind.TIMEOUT if was_slow else said.kind)
    return ModelOutcome(said, round((now() - began) * 1000))


async def ask_shown(
    model: Model, prompt: Prompt, attempt: Attempt, servers: Mapping[str, UUID], deps: TurnDeps
) -> ModelOutcome:
    """Ask the model once, and show its answer to those who watch the chat."""
    preview = deps.previews.begin(attempt.key, attempt)
    try:
        return await ask(
            model,
            prompt,
            attempt,
            deps.limits,
            show=preview.add,
            servers=servers,
            telemetry=deps.telemetry,
        )
    finally:
        deps.previews.end(preview)


def _continued(prompt: Prompt, said: ModelAnswer | ProviderFailure) -> Prompt | None:
    """Return the prompt by which a paused answer goes on; None if it has come to an end.

    An answer with calls for us goes on with their results.
    """
    if isinstance(said, ProviderFailure) or said.reason is not FinishReason.PAUSED:
        return None
    so_far = assistant_output(said.parts)
    if so_far is None or said.local_calls:
        return None
    return replace(prompt, messages=(*prompt.messages, so_far), bytes_count=None)


async def _listen(
    model: Model,
    prompt: Prompt,
    hearing: "_Hearing",
    guard: CausedScope,
    limits: TurnLimits,
    telemetry: Telemetry,
) -> ProviderFailure | None:
    """Hear what the model says, and return what went wrong meanwhile, if anything did."""
    began = now()
    guard.renew(limits.startup_seconds, SlowStart(limits.startup_seconds))
    silent, until = Silent(limits.silence_seconds), 0.0
    crash: Exception | None = None

    def take(batch: Batch) -> bool:
        nonlocal until
        if (at := now()) >= until:
            if not until and not isinstance(batch[0], AnswerFailed):
                telemetry.answer_began(model, at - began)
            guard.renew(limits.silence_seconds, silent)
            until = at + limits.silence_seconds * RENEWED_SHARE
        return hearing.hear(batch, wall())

    try:
        with guard:
            async with model.provider.stream(prompt) as batches:
                if isinstance(batches, HearsTogether):
                    await batches.hear(take)
                else:
                    async for batch in batches:
                        take(batch)
    except Exception as error:
        if holds_assertion(error):
            raise
        crash = error
    if guard.requested is not None:  # our own doing, whatever came out of the connection then
        return wording.silent_stream(model.vendor)
    return None if crash is None else hearing.broken_off(crash, model.vendor)


class _Hearing:
    """An answer on its way: what the provider says is assembled and shown."""

    def __init__(self, attempt: Attempt, assembly: Assembly, show: ShowPiece) -> None:
        self._attempt = attempt
        self._assembly = attempt.answer = assembly
        self._show = show
        self._end: AnswerFinished | AnswerFailed | None = None

    def hear(self, batch: Batch, at: datetime) -> bool:
        """Take in a batch, and return whether anything has been said yet."""
        pieces = pieces_of(batch, self._assembly, at)
        alone = len(pieces) == 1
        if pieces:
            self._attempt.has_said = True
        for piece in pieces:
            role = Role.TOOL if type(piece) is ToolResultPart else Role.ASSISTANT
            self._show(role, piece, alone=alone)
        last = batch[-1]
        if isinstance(last, AnswerFinished | AnswerFailed):
            self._end = last
        return self._attempt.has_said

    def go_on(self) -> None:
        """Hear what is said further to the same answer."""
        self._assembly.go_on()
        self._end = None

    def outcome(self, label: str) -> ModelAnswer | ProviderFailure | None:
        """Return the answer or the failure, or None if the provider has not come to its end."""
        end = self._end
        if end is None:
            return None
        if isinstance(end, AnswerFailed):
            return end.failure
        answer = self._assembly.answer()
        if end.reason is not FinishReason.CONTENT_FILTER:
            return answer
        if all(isinstance(part, ReasoningPart) for part in answer.parts):
            return wording.withheld_answer(label, answer.refusal)
        # What was said before stays, and a notice behind it says that there is no more.
        notice = HookNoticePart(wording.withheld_rest(label, answer.refusal))
        self._show(Role.ASSISTANT, notice, alone=True)
        return replace(answer, parts=(*answer.parts, notice))

    def broken_off(self, error: Exception, label: str) -> ProviderFailure:
        """Return the failure of a provider that raised. None should, so this is logged as a bug."""
        chat = chat_name(self._attempt.key.chat)
        emit("provider.crashed", "error", chat=chat, provider=label, error=error)
        failure = classify(Signals(f"{type(error).__name__}: {error}", label), wall())
        return replace(failure, detail=UNEXPECTED)


def pieces_of(batch: Sequence[Delta], assembly: Assembly, at: datetime) -> list[Piece]:
    """Return what watchers are shown of a batch. Text that arrived together is shown together."""
    pieces: list[Piece] = []
    text: list[str] = []
    for delta in batch:
        completed = assembly.add(delta, at)
        if type(delta) is TextDelta:
            if delta.text:
                text.append(delta.text)
            continue
        if text:
            pieces.append(TextPart("".join(text)))
            text.clear()
        piece = _piece_of(delta, completed, assembly)
        if piece is not None:
            pieces.append(piece)
    if text:
        pieces.append(TextPart("".join(text)))
    return pieces


def _piece_of(delta: Delta, completed: Part | None, assembly: Assembly) -> Piece | None:
    match delta:
        case ReasoningDelta(text=text):
            return ReasoningPiece(text, assembly.began_at(delta.block)) if text else None
        case ToolInputStarted() | ToolInputDelta():
            args = "" if isinstance(delta, ToolInputStarted) else delta.args_delta
            server = assembly.server_of(delta)
            return ArgsPiece(delta.id, delta.name, args, delta.provider_executed, server)
        case _:
            # Text and thoughts have been shown while they came; everything else is shown whole.
            return None if isinstance(completed, TextPart | ReasoningPart) else completed
