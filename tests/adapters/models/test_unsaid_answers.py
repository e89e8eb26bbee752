"""Answers that end oddly before anything was said, through whole turns of a chat, at each vendor.

The samples are written by hand after the vendors' public documentation.
"""

import json

import pytest
import trio

from tests.adapters.models import given
from tests.adapters.models.providers.bedrock_converse import samples
from tests.adapters.models.providers.replay import events
from tests.adapters.models.wired import a_config, a_wired_chat, sent
from tests.fakes.network import streamed

COMPATIBLE = a_config("openai-compat", "m", base_url="https://a.test/v1")
GEMINI = a_config("google", "gemini-2.5-pro")
CLAUDE = a_config("anthropic", "claude-sonnet-4-5")
RESPONSES = a_config("openai", "gpt-5")
NOVA = given.a_config("bedrock", "us.amazon.nova-pro-v1:0")


def nova(reason, *said):
    return samples.stream(*said, reason=reason)


def gemini(reason, *parts, **more):
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": reason}
    return events(json.dumps({"candidates": [candidate | more], "responseId": "r"}).encode())


def claude(stop, *blocks):
    said = [{"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}]
    for index, block in enumerate(blocks):
        said += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_stop", "index": index},
        ]
    said.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {}})
    said.append({"type": "message_stop"})
    return events(*(json.dumps(each).encode() for each in said))


def chat(finish, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return events(json.dumps({"id": "c", "choices": [choice]}).encode(), b"[DONE]")


def responses(reason, *items):
    over = {"id": "r", "status": "incomplete", "incomplete_details": {"reason": reason}}
    ended = [{"type": "response.output_item.done", "item": item} for item in items]
    ended.append({"type": "response.incomplete", "response": over})
    return events(*(json.dumps(each).encode() for each in ended))


THOUGHT = {"text": "hm", "thought": True}
SIGNED = {"type": "thinking", "thinking": "hm", "signature": "s"}
SUMMARY = [{"type": "summary_text", "text": "hm"}]
REASONED = {"type": "reasoning", "id": "rs", "summary": SUMMARY, "encrypted_content": "x"}
SAID_HALF = {
    "type": "message",
    "id": "msg",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "half", "annotations": []}],
}
SPENT = (
    "{} spent all the tokens of its answer on thinking, and said nothing. Raise the largest output"
    " of this model, ask for less effort, or choose another model."
)


async def settled(config, *answers):
    async with a_wired_chat(config, *([streamed(answer)] for answer in answers)) as (stage, _):
        await trio.sleep(600)
        return stage


@pytest.mark.parametrize(
    ("config", "answer", "kind", "message"),
    [
        (GEMINI, gemini("MAX_TOKENS", THOUGHT), "config", SPENT.format("Google")),
        (CLAUDE, claude("max_tokens", SIGNED), "config", SPENT.format("Anthropic")),
        (
            NOVA,
            nova("max_tokens", *samples.thoughts(0, {"text": "hm"})),
            "config",
            SPENT.format("AWS Bedrock"),
        ),
        (RESPONSES, responses("max_output_tokens", REASONED), "config", SPENT.format("OpenAI")),
        (
            COMPATIBLE,
            chat("length", reasoning_content="hm"),
            "config",
            SPENT.format("OpenAI Compatible"),
        ),
        (
            GEMINI,
            gemini("OTHER"),
            "generic",
            "Google ended its answer without a word (OTHER). Say it in other words, or choose"
            " another model.",
        ),
        (
            GEMINI,
            gemini("LANGUAGE", THOUGHT),
            "generic",
            "Google ended its answer without a word (LANGUAGE). The model does not speak a language"
            " of the conversation: choose another model.",
        ),
        (
            GEMINI,
            gemini("NO_IMAGE"),
            "generic",
            "Google ended its answer without a word (NO_IMAGE). It was asked for an image and made"
            " none: say what the image shall show.",
        ),
        (
            GEMINI,
            gemini("MODEL_ARMOR"),
            "content_filter",
            "Google withheld the reply for policy reasons (MODEL_ARMOR). Say it in other words, or"
            " choose another model.",
        ),
        (
            CLAUDE,
            claude("brand_new"),
            "generic",
            "Anthropic ended its answer without a word (brand_new). Say it in other words, or"
            " choose another model.",
        ),
        (
            COMPATIBLE,
            chat("eos"),
            "generic",
            "OpenAI Compatible ended its answer without a word (eos). Say it in other words, or"
            " choose another model.",
        ),
    ],
)
async def test_an_answer_with_nothing_in_it_and_an_odd_end_is_an_error_that_says_so(
    config, answer, kind, message, autojump_clock
):
    stage = await settled(config, answer)

    error = stage.row.last_error
    assert stage.status == "error"
    assert (error.kind, error.message) == (kind, message)
    assert stage.said == [("user", "hello")]


async def test_the_vendors_own_words_are_the_detail(autojump_clock):
    stage = await settled(GEMINI, gemini("OTHER", finishMessage="the weather"))

    assert stage.row.last_error.detail == "the weather"


@pytest.mark.parametrize(
    ("config", "answer"),
    [
        (GEMINI, gemini("MAX_TOKENS", THOUGHT, {"text": "half"})),
        (GEMINI, gemini("OTHER", {"text": "half"})),
        (CLAUDE, claude("max_tokens", {"type": "text", "text": "half"})),
        (COMPATIBLE, chat("length", content="half")),
    ],
)
async def test_an_odd_end_behind_some_words_leaves_the_words(config, answer, autojump_clock):
    stage = await settled(config, answer)

    assert stage.status == "waiting"
    assert stage.said[-1] == ("assistant", "half")


@pytest.mark.parametrize(
    ("config", "answer", "why"),
    [
        (CLAUDE, claude("refusal", {"type": "text", "text": "half"}), "."),
        (GEMINI, gemini("SAFETY", {"text": "half"}), " (SAFETY)."),
        (COMPATIBLE, chat("content_filter", content="half"), "."),
        (RESPONSES, responses("content_filter", SAID_HALF), "."),
        (NOVA, nova("content_filtered", *samples.words(0, "half")), " (content_filtered)."),
    ],
)
async def test_a_refusal_behind_some_words_leaves_the_words_and_says_so(
    config, answer, why, autojump_clock
):
    stage = await settled(config, answer)

    words, notice = stage.rows[-1].parts
    assert (stage.status, words.text) == ("waiting", "half")
    assert f"withheld the rest of the reply for policy reasons{why}" in notice.text
    assert type(notice).__name__ == stage.shown()[-1] == "HookNoticePart"


async def test_a_notice_of_a_refusal_is_not_told_to_the_model(autojump_clock):
    refused = claude("refusal", {"type": "text", "text": "half"})
    fine = claude("end_turn", {"type": "text", "text": "whole"})

    async with a_wired_chat(CLAUDE, [1.0, streamed(refused)], [streamed(fine)]) as (stage, network):
        await stage.send("again")
        await trio.sleep(600)
        asked = sent(network)[1]["messages"]

    assert [message["role"] for message in asked] == ["user", "assistant", "user"]
    assert [block["text"] for block in asked[1]["content"]] == ["half"]


@pytest.mark.parametrize(
    ("config", "answer"), [(CLAUDE, claude("end_turn")), (COMPATIBLE, chat("stop"))]
)
async def test_a_model_that_has_nothing_to_say_may_end_as_ever(config, answer, autojump_clock):
    stage = await settled(config, answer)

    assert stage.status == "waiting"


async def test_an_answer_that_lacked_machines_is_made_again(autojump_clock):
    broken = chat("insufficient_system_resource", content="ha")

    stage = await settled(COMPATIBLE, broken, chat("stop", content="whole"))

    assert stage.said == [("user", "hello"), ("assistant", "whole")]
