"""A model is asked for advice, and what it says is told while it comes."""

from collections.abc import Callable
from itertools import count
from random import random

import trio

from actors.chat.turn import retries
from actors.chat.turn.answering import ask
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import Model
from actors.chat.turn.work import Attempt
from actors.law.chat import ChatError, Role
from actors.law.ids import EpisodeKey
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt
from actors.streams.pieces import Piece
from runtime.clock import wall


async def consult(
    model: Model,
    prompt: Prompt,
    key: EpisodeKey,
    *,
    limits: TurnLimits,
    told: Callable[[str], object],
    begun_anew: Callable[[], object],
) -> ModelAnswer | ProviderFailure:
    """Asked again while that may help; then what was `told` of the attempt before is void. How
    long all of it may take is the caller's affair."""

    def show(role: Role, piece: Piece, *, alone: bool = False) -> None:
        if isinstance(piece, TextPart):
            told(piece.text)

    for failures_count in count(1):
        asked = await ask(model, prompt, Attempt(key), limits, show=show)
        if isinstance(asked.said, ModelAnswer):
            return asked.said
        following = retries.retry_after(
            asked.said, failures_count=failures_count, now=wall(), chance=random()
        )
        if isinstance(following, ChatError):
            return asked.said
        begun_anew()
        await trio.sleep(following.after_seconds)
    raise AssertionError("failures are counted without end")


def advice_in(answer: ModelAnswer) -> str:
    """Empty: there is none."""
    return "".join(part.text for part in answer.parts if isinstance(part, TextPart)).strip()
