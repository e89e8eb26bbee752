"""Asking a model: what is made of its answer, what watchers see, and how long we listen."""

import logging
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.chat.turn.answering import RENEWED_SHARE, UNEXPECTED, ask, pieces_of
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import Model
from actors.chat.turn.work import Attempt
from actors.law.chat import Role
from actors.law.ids import EpisodeKey
from actors.law.parts.assemble import Assembly, ModelAnswer
from actors.law.parts.deltas import (
    AnswerFinished,
    FailureKind,
    FinishReason,
    ProviderRefusal,
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
)
from actors.law.parts.message import (
    HookNoticePart,
    SourcePart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import CallSettings, Prompt
from actors.streams.pieces import ArgsPiece, ReasoningPiece
from actors.streams.previews import Preview
from runtime.log import LOGGER_NAME
from tests.actors.law.chats import CHAT, NOW
from tests.fakes.scripted import BREAKS_OFF, DONE, HANGS, NO_CREDIT, ScriptedProvider
from tests.fakes.watching import pickled
from tests.fakes.watching import shown as seen

PROMPT = Prompt("model", ())
SERVER = UUID(int=7)


def a_preview():
    return Preview(EpisodeKey(CHAT, 3, 1), pickled)


def a_model(provider):
    return Model(provider, None, "one", "openai", "gpt", CallSettings())


@dataclass
class Heard:
    said: object
    runtime_ms: int
    seconds: float
    preview: Preview


async def heard(*script, provider=None, **limits):
    provider = provider or ScriptedProvider(list(script))
    preview, began = a_preview(), trio.current_time()
    asked = await ask_shown(provider, preview, TurnLimits(**limits))
    return Heard(asked.said, asked.runtime_ms, trio.current_time() - began, preview)


async def ask_shown(provider, preview, limits=None, attempt=None):
    attempt = attempt or Attempt(preview.key)
    return await ask(a_model(provider), PROMPT, attempt, limits or TurnLimits(), show=preview.add)


# what is made of it


async def test_an_answer_is_all_that_was_said(autojump_clock):
    made = await heard("Hel", 1.5, "lo")

    assert (TextPart("Hello"),) == made.said.parts
    assert 1500 == made.runtime_ms


@pytest.mark.parametrize("error", [TypeError("a bug"), AssertionError("a broken promise")], ids=str)
async def test_a_listener_that_fails_is_no_failure_of_the_provider(autojump_clock, error):
    class Broken:
        ended_by = None

        def hear(self, piece, alone):
            raise error

        def fail(self, error):
            self.ended_by = error

    preview, listener = a_preview(), Broken()
    preview.listener = listener
    asked = await ask_shown(ScriptedProvider(["Hel", "lo"]), preview)

    assert (TextPart("Hello"),) == asked.said.parts
    assert error is listener.ended_by
    assert 2 == len(preview.encoded)


async def test_an_answer_of_nothing_is_an_answer(autojump_clock):
    made = await heard(DONE)

    assert ModelAnswer((), FinishReason.STOP) == made.said


async def test_a_failure_is_handed_on_as_it_is(autojump_clock):
    made = await heard("Hel", NO_CREDIT)

    assert NO_CREDIT.failure is made.said


WITHHELD = AnswerFinished(
    FinishReason.CONTENT_FILTER, refusal=ProviderRefusal("violence", "no fights")
)


@pytest.mark.parametrize("before", [[], [ReasoningDelta("r", "hm"), ReasoningEnded("r")]])
async def test_an_answer_that_is_withheld_is_a_failure(autojump_clock, before):
    made = await heard(*before, WITHHELD)

    assert (FailureKind.CONTENT_FILTER, False) == (made.said.kind, made.said.retryable)
    assert made.said.message == (
        "OpenAI withheld the reply for policy reasons (violence). Say it in other words, or choose"
        " another model."
    )
    assert "no fights" == made.said.detail


async def test_what_was_visible_before_an_answer_was_withheld_is_kept_with_a_notice(autojump_clock):
    made = await heard("Hel", TextEnded("t"), WITHHELD)

    notice = HookNoticePart(
        "OpenAI withheld the rest of the reply for policy reasons (violence). Say it in other"
        " words, or choose another model. Its own words: no fights"
    )
    assert (TextPart("Hel"), notice) == made.said.parts
    assert notice == seen(made.preview)[-1].piece


async def test_a_notice_of_a_withheld_answer_says_no_more_than_is_known(autojump_clock):
    made = await heard("Hel", AnswerFinished(FinishReason.CONTENT_FILTER))

    assert made.said.parts[-1].text == (
        "OpenAI withheld the rest of the reply for policy reasons. Say it in other words, or choose"
        " another model."
    )


# how long we listen


@pytest.mark.parametrize(
    ("script", "seconds"),
    [([HANGS], 60), (["a", HANGS], 600), (["a", 599, "b", HANGS], 1199), ([59, "a", HANGS], 659)],
    ids=["at the start", "in the middle", "each part renews it", "the first part ends the start"],
)
async def test_silence_has_a_limit(autojump_clock, script, seconds):
    made = await heard(*script)

    kind = FailureKind.STREAM_SILENCE_TIMEOUT
    assert (kind, True, "openai") == (made.said.kind, made.said.retryable, made.said.provider)
    assert seconds == pytest.approx(made.seconds)


async def test_silence_after_a_quick_succession_ends_hardly_early(autojump_clock):
    made = await heard(*["a", 0.1] * 100, HANGS)

    assert FailureKind.STREAM_SILENCE_TIMEOUT is made.said.kind
    assert 609.9 >= made.seconds >= 609.9 - 600 * RENEWED_SHARE


async def test_silence_short_of_the_limits_is_none(autojump_clock):
    made = await heard(59, "a", 599, "b", 599)

    assert (TextPart("ab"),) == made.said.parts


async def test_both_limits_can_be_set(autojump_clock):
    slow = await heard(HANGS, startup_seconds=2)
    silent = await heard("a", HANGS, startup_seconds=2, silence_seconds=3)

    assert [2, 3] == [pytest.approx(slow.seconds), pytest.approx(silent.seconds)]


class Rude(ScriptedProvider):
    """Does something of its own while it is hung up on."""

    def __init__(self, *script, then):
        super().__init__(list(script))
        self.then = then

    @asynccontextmanager
    async def stream(self, prompt):
        try:
            async with super().stream(prompt) as batches:
                yield batches
        finally:
            if self.then is HANGS:
                await trio.sleep_forever()
            raise self.then


async def test_what_breaks_while_we_hang_up_does_not_hide_the_silence(autojump_clock):
    made = await heard(provider=Rude(HANGS, then=OSError("connection reset")))

    assert FailureKind.STREAM_SILENCE_TIMEOUT is made.said.kind


@pytest.mark.parametrize("then", [HANGS, OSError("connection reset")])
async def test_an_answer_that_came_to_its_end_counts_whatever_follows(autojump_clock, then):
    answer = await heard(provider=Rude("Hello", TextEnded("t"), DONE, then=then))
    failure = await heard(provider=Rude(NO_CREDIT, then=then))

    assert (TextPart("Hello"),) == answer.said.parts
    assert NO_CREDIT.failure is failure.said


async def test_a_silence_that_ends_without_a_word_is_a_silence(autojump_clock):
    class Quiet(ScriptedProvider):
        async def _play(self, script):
            with trio.move_on_after(100, shield=True):
                await trio.sleep(61)
            return
            yield

    made = await heard(provider=Quiet([]))

    assert FailureKind.STREAM_SILENCE_TIMEOUT is made.said.kind


# a provider that breaks its contract


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (KeyError("choices"), FailureKind.GENERIC, False),
        (OSError("connection reset by peer"), FailureKind.TIMEOUT, True),
    ],
)
async def test_a_provider_that_raises_has_failed_and_a_human_is_told(
    autojump_clock, caplog, error, kind, retryable
):
    with caplog.at_level(logging.ERROR, LOGGER_NAME):
        made = await heard("Hel", error)

    assert (kind, retryable) == (made.said.kind, made.said.retryable)
    assert UNEXPECTED == made.said.detail, "what a bug says is for the log"
    [entry] = caplog.records
    assert "provider.crashed" == entry.message
    assert {"chat": f"chat/{CHAT}", "provider": "openai", "error": error} == entry.fields


async def test_an_assertion_in_a_provider_is_no_failure_of_the_provider(autojump_clock):
    with pytest.raises(AssertionError, match=r"^ours$"):
        await heard(AssertionError("ours"))


async def test_an_answer_without_an_end_is_a_mistake_of_ours(autojump_clock):
    with pytest.raises(AssertionError, match="ends with Finished or Failed"):
        await heard("Hel", BREAKS_OFF)


@pytest.mark.parametrize("script", [[HANGS], ["Hel", HANGS]])
async def test_being_cancelled_hangs_up(autojump_clock, script):
    provider = ScriptedProvider(script)

    with trio.move_on_after(1) as scope:
        await heard(provider=provider)

    assert scope.cancelled_caught
    assert 1 == provider.hung_up


# what watchers see


async def test_watchers_see_an_answer_while_it_comes(autojump_clock):
    provider = ScriptedProvider(["Hel", HANGS])
    preview = a_preview()
    attempt = Attempt(preview.key)

    with trio.move_on_after(1):
        await ask_shown(provider, preview, attempt=attempt)

    assert [(1, Role.ASSISTANT, TextPart("Hel"))] == [
        (said.seq, said.role, said.piece) for said in seen(preview)
    ]
    assert (TextPart("Hel"),) == attempt.answer.cut_short(NOW)


async def test_watchers_see_the_results_of_the_providers_own_tools_as_a_tools(autojump_clock):
    call = ToolCall("w", "search", "{}", provider_executed=True)
    made = await heard(call, ProviderToolResult("w", "search", "[]"), SourceFound("1", "http://x"))

    assert [Role.ASSISTANT, Role.TOOL, Role.ASSISTANT] == [s.role for s in seen(made.preview)]
    assert [ToolCallPart, ToolResultPart, SourcePart] == [type(p) for p in made.said.parts]
    assert list(made.said.parts) == [s.piece for s in seen(made.preview)]


def pieces(*batches):
    """What is shown of batches that come a second apart."""
    assembly = Assembly()
    return [
        piece
        for second, batch in enumerate(batches)
        for piece in pieces_of(batch, assembly, NOW + timedelta(seconds=second))
    ]


def test_a_call_is_shown_with_the_server_whose_tool_it_calls():
    assembly = Assembly({"one__add": SERVER})
    batch = [
        ToolInputStarted("c", "one__add"),
        ToolInputDelta("c", "one__add", "{}"),
        ToolCall("c", "one__add", "{}"),
        ToolCall("d", "execute", "{}"),
        ToolCall("e", "one__add", "{}", provider_executed=True),
    ]

    made = pieces_of(batch, assembly, NOW)

    assert [SERVER, SERVER, SERVER, None, None] == [p.mcp_server_config_id for p in made]


def test_text_that_arrives_together_is_shown_together():
    made = pieces([TextDelta("t", "Hel"), TextDelta("t", "lo")], [TextDelta("t", "!")])

    assert [TextPart("Hello"), TextPart("!")] == made


def test_what_comes_between_texts_is_shown_between_them():
    source = SourceFound("s", "https://x")

    made = pieces([TextDelta("t", "a"), source, TextDelta("t", "b"), TextEnded("t")])

    assert [TextPart("a"), SourcePart("s", "https://x"), TextPart("b")] == made


def test_nothing_is_not_shown():
    assert [] == pieces([TextDelta("t", ""), ReasoningDelta("r", "", '{"signature":"s"}'), DONE])


def test_thoughts_are_shown_with_the_time_at_which_they_began():
    later = NOW + timedelta(seconds=2)

    made = pieces(
        [ReasoningDelta("r", "a")],
        [ReasoningDelta("r", "b"), ReasoningEnded("r")],
        [ReasoningDelta("q", "c")],
        [ReasoningDelta("q", "d")],
    )

    thoughts = [("a", NOW), ("b", NOW), ("c", later), ("d", later)]
    assert [ReasoningPiece(*thought) for thought in thoughts] == made


def test_a_call_is_shown_by_its_name_then_by_pieces_then_whole():
    made = pieces(
        [ToolInputStarted("c", "f")],
        [ToolInputDelta("c", "f", '{"a"'), ToolInputDelta("c", "f", ":1}")],
        [ToolCall("c", "f", '{"a":1}')],
    )

    args = [ArgsPiece("c", "f", piece) for piece in ("", '{"a"', ":1}")]
    whole = ToolCallPart("c", "f", '{"a":1}', created_at=NOW + timedelta(seconds=2))
    assert [*args, whole] == made


def test_whose_call_it_is_shows_from_the_start():
    started, delta = ToolInputStarted("c", "f", True), ToolInputDelta("c", "f", "{", True)

    assert [True, True] == [piece.provider_executed for piece in pieces([started, delta])]


DELTAS = st.one_of(
    st.builds(TextDelta, st.sampled_from("tu"), st.text(max_size=3)),
    st.builds(TextEnded, st.sampled_from("tu")),
    st.builds(ReasoningDelta, st.sampled_from("rq"), st.text(max_size=3)),
    st.builds(ReasoningEnded, st.sampled_from("rq")),
    st.builds(ToolInputDelta, st.sampled_from("ab"), st.just("f"), st.text(max_size=3)),
    st.builds(SourceFound, st.sampled_from("s"), st.just("https://x")),
)


@given(st.lists(DELTAS, max_size=12), st.lists(st.integers(1, 4), max_size=12))
def test_however_it_is_cut_into_batches_watchers_see_the_same(deltas, sizes):
    batches, rest = [], deltas
    for size in [*sizes, len(deltas) + 1]:
        batches, rest = [*batches, rest[:size]], rest[size:]

    cut = pieces(*filter(None, batches))
    whole = pieces(deltas) if deltas else []

    assert _flat(whole) == _flat(cut)
    said = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert said == "".join(piece.text for piece in cut if isinstance(piece, TextPart))


def _flat(pieces):
    """What they say, letter by letter."""
    return [
        (type(piece), letter)
        for piece in pieces
        for letter in (getattr(piece, "text", None) or getattr(piece, "args_delta", "") or " ")
    ]
