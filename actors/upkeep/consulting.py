"""A model is asked for advice, and what it says is told while it comes."""

from collections.abc import Callable
from itertools import count
from random import random

import trio

from actors.chat.turn import retries
from actors.chat.turn.answering import ask
from actors.chat.turn.ports import Model
from actors.chat.turn.world import Limits
from actors.law.chat import ChatError
from actors.law.ids import EpisodeKey
from actors.law.parts.assemble import Answer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt
from actors.streams.episodes import Episode
from actors.streams.pieces import NumberedPiece
from runtime.clock import wall


async def consult(
    model: Model,
    prompt: Prompt,
    key: EpisodeKey,
    *,
    limits: Limits,
    told: Callable[[str], object],
    begun_anew: Callable[[], object],
) -> Answer | ProviderFailure:
    """Asked again while that may help; then what was `told` of the attempt before is void. How
    long all of it may take is the caller's affair."""

    def hear(_: EpisodeKey, said: NumberedPiece) -> bytes:
        if isinstance(said.piece, TextPart):
            told(said.piece.text)
        return b""

    for failures_count in count(1):
        asked = await ask(model, prompt, Episode(key, hear), limits)
        if isinstance(asked.said, Answer):
            return asked.said
        following = retries.after(
            asked.said, failures_count=failures_count, now=wall(), chance=random()
        )
        if isinstance(following, ChatError):
            return asked.said
        begun_anew()
        await trio.sleep(following.after_seconds)
    raise AssertionError("failures are counted without end")


def advice_in(answer: Answer) -> str:
    """Empty: there is none."""
    return "".join(part.text for part in answer.parts if isinstance(part, TextPart)).strip()
