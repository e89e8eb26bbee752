"""Asking a model to sum up a conversation, in the way that gets a summary out of it.

It is asked first as by a call of the chat, with one question more. If that leads to nothing but
thoughts, to a summary without its end, or to a refusal of how it is asked, it is asked plainly,
once. If the conversation is longer than the model's window, because the model says so or is known
to have a smaller one, it is asked in parts, each with the summary of those before it. The caller
decides what is tried again later.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import trio

from actors.chat.turn import retries
from actors.chat.turn.answering import ask
from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.ports import Model
from actors.chat.turn.spending import OverLimit
from actors.chat.turn.steps import answer_cost
from actors.chat.turn.work import Attempt
from actors.law.chat import Role
from actors.law.failures.wording import failure
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.message import UNPRICED, Cost, Reservation
from actors.law.parts.prompt import Prompt
from actors.prompts.compaction import (
    PORTION_BYTES_MIN,
    PORTIONS_MAX,
    Compaction,
    CompactionSource,
    NoSummary,
    Summary,
    plain_prompt,
    portion_bytes,
    portions,
    prompt_for_part,
    prompt_for_summary,
    summary_in,
    tokens_about,
)
from actors.prompts.fullness import is_progress
from actors.streams.pieces import Piece
from runtime.scope import CausedScope

ESTIMATE_TOLERANCE = 1.1  # what only an estimate says to be longer than the window is tried
HALVINGS_MAX = 3  # of parts that are too long all the same; then the window is said to be too small
PART_TRIES_MAX = 3  # of one part; then all of it is tried again later, by its caller

TOO_SMALL = (
    "The conversation is too long to be summarised by this model. Choose one with a larger context"
    " window, edit an earlier message, or start a new chat."
)


NO_SUMMARY = NoSummary(
    "The model made no summary of the conversation. Choose another model, or start a new chat."
)
NOT_SHORTER = NoSummary(
    "The summary of the conversation is as long as what it would replace. Choose a model with a"
    " larger context window, edit an earlier message, or start a new chat."
)


class Scribe:
    """A writer of one summary. What the model said on the way is booked before it is asked anything
    else; the cost of what it said last is left `unbooked` in the attempt."""

    def __init__(
        self, compaction: Compaction, model: Model, attempt: Attempt, deps: TurnDeps
    ) -> None:
        self.runtime_ms = 0
        self.is_paid = False  # for anything
        self.attempt = attempt
        self._compaction = compaction
        self._model = model
        self._deps = deps
        # A model that reads a whole window at once may be silent for longer than in a chat.
        silence = deps.limits.silence_seconds
        self._guards = TurnLimits(startup_seconds=silence, silence_seconds=silence)

    async def summary(self, prompt: Prompt) -> str | ProviderFailure:
        """Return the summary, or an empty text if the model made none. `prompt` is what the model
        would be asked in the chat now."""
        said: str | ProviderFailure | None = None
        try:
            said = await self._summary(prompt)
        finally:
            unbooked = self.attempt.unbooked
            if (
                said is None and unbooked is not None
            ):  # what is booked later is counted all the same
                self._deps.budgets.give_back(unbooked.reservation, is_spent=False)
        return said

    async def _summary(self, prompt: Prompt) -> str | ProviderFailure:
        window = self._model.context_limit
        if window is None or self._may_fit(prompt, window):
            said = await self._made(prompt_for_summary(prompt, self._compaction.guidance))
            if not (isinstance(said, ProviderFailure) and said.too_long):
                return said
        return await self._in_parts(prompt, portion_bytes(prompt.messages, window))

    def _may_fit(self, prompt: Prompt, window: int) -> bool:
        """Tell whether the prompt may fit into the window. Asking with one that is too long costs
        nothing where it is refused, but some providers cut it."""
        full = self._compaction.full
        known = full.tokens or tokens_about(prompt.messages)
        return known <= window and known + full.coming <= window * ESTIMATE_TOLERANCE

    async def _in_parts(self, prompt: Prompt, bytes_max: int) -> str | ProviderFailure:
        for _ in range(HALVINGS_MAX):
            if bytes_max < PORTION_BYTES_MIN:
                break
            parts = portions(prompt.messages, bytes_max)
            if len(parts) > PORTIONS_MAX:
                break
            said = await self._part_by_part(prompt, parts)
            if not (isinstance(said, ProviderFailure) and said.too_long):
                return said
            bytes_max //= 2
        return failure(FailureKind.CONFIG, self._model.vendor, message=TOO_SMALL)

    async def _part_by_part(self, prompt: Prompt, parts: Sequence[str]) -> str | ProviderFailure:
        so_far = ""
        for number, part in enumerate(parts, 1):
            guidance = self._compaction.guidance
            asking = prompt_for_part(
                prompt, part, so_far, number=number, count=len(parts), guidance=guidance
            )
            said = await self._part(asking)
            if isinstance(said, ProviderFailure) or not said:
                return said
            so_far = said
        return so_far

    async def _part(self, prompt: Prompt) -> str | ProviderFailure:
        """Ask for the summary of one part, again after failures of a moment: they are no reason to
        begin with the first part again."""
        for attempt in range(1, PART_TRIES_MAX):
            said = await self._made(prompt)
            if not isinstance(said, ProviderFailure) or not said.retryable:
                return said
            if said.retry_after_seconds > retries.CAP_SECONDS:
                return said
            await trio.sleep(retries.pause_seconds(said, attempt, self._deps.chance()))
        return await self._made(prompt)

    async def _made(self, prompt: Prompt) -> str | ProviderFailure:
        said = await self._ask_once(prompt)
        if isinstance(said, ProviderFailure):
            if said.kind is not FailureKind.CONFIG or said.too_long:
                return said
        elif found := summary_in(said):
            return found
        said = await self._ask_once(plain_prompt(prompt, self._model.settings))
        return said if isinstance(said, ProviderFailure) else summary_in(said)

    async def _ask_once(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        """Ask once. Nothing of the answer is shown, and no part of it is kept."""
        await book_due(self.attempt, self._deps)
        budgets, asking = self._deps.budgets, Attempt(self._compaction.key)
        answer: ModelAnswer | ProviderFailure | None = None
        # A turn asks a person about a soft limit when it goes on behind the summary.
        reserved = await budgets.reserve(
            asking.key.chat, self._model, prompt, "compaction", asks=False
        )
        if isinstance(reserved, OverLimit):
            return reserved.failure(self._model.vendor)
        try:
            with CausedScope(seconds=self._deps.limits.summary_seconds):
                asked = await ask(
                    self._model,
                    prompt,
                    asking,
                    self._guards,
                    show=_show_nobody,
                    telemetry=self._deps.telemetry,
                )
                answer = asked.said
                self.runtime_ms += asked.runtime_ms
        finally:  # cut short, too: nothing is awaited here
            self._note(answer, asking, reserved)
        return answer or failure(FailureKind.TIMEOUT, self._model.vendor, retryable=True)

    def _note(
        self,
        answer: ModelAnswer | ProviderFailure | None,
        asking: Attempt,
        reserved: Reservation | None,
    ) -> None:
        if isinstance(answer, ModelAnswer):
            self.attempt.unbooked = answer_cost(self._deps.prices, self._model, answer, reserved)
        elif asking.has_said:  # what it had said by then is paid for
            self.attempt.unbooked = replace(UNPRICED, reservation=reserved)
        else:
            self._deps.budgets.give_back(reserved, is_spent=False)
        self.is_paid |= self.attempt.unbooked is not None


def _show_nobody(role: Role, piece: Piece, *, alone: bool = False) -> None:
    """Show nothing: watchers see that a summary is made, but not what the model says meanwhile."""


async def book_due(attempt: Attempt, deps: TurnDeps) -> None:
    """Book what was paid for in this attempt, and becomes no message."""
    cost, attempt.unbooked = attempt.unbooked, None
    if cost is not None:
        await deps.books.book(attempt.key.chat, "compaction", [cost])


async def book_answer(attempt: Attempt, cost: Cost, deps: TurnDeps) -> None:
    """Book an answer that has not become a message. If it is kept as one all the same, then without
    its cost."""
    await deps.books.book(attempt.key.chat, "answer", [cost])
    attempt.is_booked = True


async def shown_summary(
    compaction: Compaction, scribe: Scribe, prompt: Prompt, deps: TurnDeps
) -> Summary | NoSummary | ProviderFailure:
    """Make the summary. Watchers see that it is being made, and all of it when it is there."""
    preview = deps.previews.begin(compaction.key, scribe.attempt)
    try:
        preview.add(Role.ASSISTANT, compaction.begun())
        said = await _summary(compaction, scribe, prompt)
        match said:
            case Summary():
                preview.add(Role.TOOL, compaction.succeeded(said))
            case NoSummary(why):
                preview.add(Role.TOOL, compaction.failed(why))
            case ProviderFailure():
                preview.add(Role.TOOL, compaction.failed(said.message))
            case _:
                assert_never(said)
        return said
    finally:
        deps.previews.end(preview)


async def _summary(
    compaction: Compaction, scribe: Scribe, prompt: Prompt
) -> Summary | NoSummary | ProviderFailure:
    text = await scribe.summary(prompt)
    if isinstance(text, ProviderFailure):
        return text
    if not text:
        return NO_SUMMARY
    full = compaction.full
    before = full.tokens + full.coming or tokens_about(prompt.messages)
    # A user who asks for a summary gets one, however little there is to be summed up.
    if compaction.source is CompactionSource.AUTOMATIC and not is_progress(
        text, tokens_before=before
    ):
        return NOT_SHORTER
    assert scribe.attempt.unbooked is not None, "what was said last has not been booked"
    return Summary(text, scribe.runtime_ms, scribe.attempt.unbooked)
