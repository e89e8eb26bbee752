"""The tool by which an agent asks an advisor: another call of a model, beside the chat's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import (
    NO_RECORDER,
    CallRecorder,
    LocalTool,
    Prompts,
    ToolInvocation,
    ToolOutput,
)
from actors.chat.turn.steps import error_output
from actors.law.chat import Chat, ChatError, Message
from actors.law.ids import EpisodeKey
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.prompts.advice import (
    ADVISOR,
    USED_UP,
    AdvisedChats,
    advice_document,
    advisor_prompt,
    count_advice,
    without_call,
)
from actors.streams.pieces import ResultPiece
from actors.upkeep.asking import advice_in, consult, paid
from adapters.models.catalogue import Catalogue
from adapters.models.costs import Bookkeeper
from adapters.models.settings import AdvisorSettings
from adapters.tools.dispatch import read_arguments, schema_of

DEADLINE_SECONDS = 600.0  # of all attempts together; then there is no advice
NOTHING_SAID = "the advisor said nothing; go on alone, or ask another question"


class AdvisorQuestion(Struct, frozen=True):
    question: Annotated[
        str,
        Meta(description="One precise question, with what you want to do and what is in doubt."),
    ]
    model_intent: Annotated[
        str, Meta(description="What you are doing, for the user: a few words, such as 'Weighing'.")
    ] = ""


TOOL = LocalTool(
    ToolDefinition(
        ADVISOR,
        "Ask another model for advice on what to do next. It reads the latest part of this"
        " conversation. Has to be called alone.",
        schema_of(AdvisorQuestion),
    ),
    DEADLINE_SECONDS,
    exclusive=True,
    repeatable=True,
    strict=True,
)


@dataclass(frozen=True, slots=True)
class AdvisorTool:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    advised: AdvisedChats
    catalogue: Catalogue
    prompts: Prompts
    limits: TurnLimits
    bookkeeper: Bookkeeper
    recorder: CallRecorder = NO_RECORDER

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        return (TOOL,) if chat in self.advised else ()

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        asked = read_arguments(AdvisorQuestion, calling.call.args or "{}")
        if isinstance(asked, str):
            return error_output(asked)
        question = asked.question.strip()
        if not question:
            return error_output("question: is blank")
        settings = (await self.catalogue.snapshot()).settings.advisor
        left = settings.uses_max - count_advice(calling.history) if settings.uses_max else None
        if left is not None and left <= 0:
            return ToolOutput(advice_document("limit_reached", advice=USED_UP, remaining_uses=0))
        return ToolOutput(await self._advice(calling, question, settings=settings, left=left))

    async def _advice(
        self, calling: ToolInvocation, question: str, *, settings: AdvisorSettings, left: int | None
    ) -> JsonText:
        """Return the advice, or why there is none. Only advice counts: a call that failed can be
        made again."""
        chat = calling.chat
        model = await self.catalogue.model_for_advice(chat)
        if isinstance(model, ChatError):
            return advice_document("error", error=model.message, remaining_uses=left)
        failed = partial(
            advice_document,
            "error",
            advisor_model=f"{model.vendor}/{model.name}",
            remaining_uses=left,
        )
        history = without_call(calling.history, calling.call.id)
        prompt = await self.prompts.prompt_for(chat, history, model, ())
        if isinstance(prompt, ChatError):
            return failed(error=prompt.message)
        asking = advisor_prompt(prompt, question, output_tokens_max=settings.output_tokens_max)
        call, key = calling.call, EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
        ask = partial(
            consult,
            self.recorder.recorded(model, chat, "quickgen", history),
            asking,
            key,
            limits=self.limits,
            show_text=lambda text: calling.show(ResultPiece(call.id, call.name, text)),
            start_over=lambda: calling.show(ResultPiece(call.id, call.name, "", resets=True)),
        )
        books = self.bookkeeper
        said = await paid(ask, model, asking, books=books, chat=chat.id, what="advice")
        if isinstance(said, ProviderFailure):
            return failed(error=said.message)
        advice = advice_in(said)
        if not advice:
            return failed(error=NOTHING_SAID)
        return advice_document(
            "advice",
            advice=advice,
            advisor_model=f"{model.vendor}/{model.name}",
            remaining_uses=None if left is None else left - 1,
        )
