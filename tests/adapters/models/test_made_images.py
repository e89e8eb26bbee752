"""Images that a model makes, over OpenAI's two interfaces, through whole turns of a chat.

The samples are written by hand after the vendors' public documentation.
"""

import json

import pytest
import trio

from actors.law.parts.message import FilePart, TextPart
from adapters.models.providers.faults import SkippedKinds
from adapters.models.providers.openai_chat.response import ChatDecoder
from tests.adapters.models.providers.replay import answer_of, deltas_of, events
from tests.adapters.models.wired import a_config, a_wired_chat
from tests.fakes.network import streamed

CHAT = a_config("openrouter", "google/gemini-2.5-flash-image")
RESPONSES = a_config("openai", "gpt-5")


def over_chat(url, content="Here."):
    image = {"type": "image_url", "image_url": {"url": url}, "index": 0}
    delta = {"role": "assistant", "content": content, "images": [image]}
    choice = {"index": 0, "delta": delta, "finish_reason": "stop"}
    return events(json.dumps({"id": "c", "choices": [choice]}).encode(), b"[DONE]")


def over_responses(result, **more):
    item = {"type": "image_generation_call", "id": "ig", "status": "completed", "result": result}
    said = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Here."}]}
    told = [
        {"type": "response.output_item.added", "item": {**item, "result": None}},
        {"type": "response.image_generation_call.partial_image", "partial_image_b64": "aGFs"},
        {"type": "response.output_item.done", "item": item | more},
        {"type": "response.output_item.done", "item": said},
        {"type": "response.completed", "response": {"id": "r", "status": "completed"}},
    ]
    return events(*(json.dumps(each).encode() for each in told))


@pytest.mark.parametrize(
    ("config", "answer", "media_type"),
    [
        (CHAT, over_chat("data:image/png;base64,aW1n"), "image/png"),
        (RESPONSES, over_responses("aW1n"), "image/png"),
        (RESPONSES, over_responses("aW1n", output_format="webp"), "image/webp"),
    ],
)
async def test_an_image_that_a_model_makes_is_kept_in_its_message(
    config, answer, media_type, autojump_clock
):
    async with a_wired_chat(config, [streamed(answer)]) as (stage, _):
        await trio.sleep(60)

    said = stage.rows[-1].parts
    assert sorted(type(part).__name__ for part in said) == ["FilePart", "TextPart"]
    assert FilePart(media_type, data="aW1n") in said
    assert stage.status == "waiting"


async def test_an_image_that_could_not_be_made_costs_nothing_else(autojump_clock):
    async with a_wired_chat(RESPONSES, [streamed(over_responses(None))]) as (stage, _):
        await trio.sleep(60)

    assert [type(part) for part in stage.rows[-1].parts] == [TextPart]


def test_an_image_that_stands_elsewhere_is_counted_and_not_fetched():
    skipped = SkippedKinds()
    decoder = ChatDecoder("n", skipped=skipped)

    answer = answer_of(deltas_of(decoder, [over_chat("https://a.test/1.png")]))

    assert [type(part) for part in answer.parts] == [TextPart]
    assert skipped.statistics().skipped == {"image that is elsewhere": 1}
