"""The vendors' own clients read the model's answers without complaint.

They run on trio, but for their streams, which run in threads: on trio they leave generators behind
wherever a stream ends.
"""

import json

import anthropic
import httpx2
import openai
import pytest
import trio

from tests.adapters.rehearsal.serving import a_model

QUESTION = [{"role": "user", "content": "how is the weather"}]
CALL = 'weather:{"city":"Rome"}'
USAGE = {"input_tokens": 100, "output_tokens": 30, "cached_tokens": 40, "reasoning_tokens": 8}
ANTHROPIC_TOOL = {"name": "weather", "input_schema": {"type": "object"}}
CHAT_TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
RESPONSES_TOOL = {"type": "function", "name": "weather", "parameters": {"type": "object"}}


def claude(model, **options):
    client = anthropic.AsyncAnthropic(base_url=model.url, api_key="k", max_retries=0)
    return client.with_options(**options)


def gpt(model, **options):
    client = openai.AsyncOpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0)
    return client.with_options(**options)


async def messages(client, streamed=True, **more):
    asked = {"model": "claude", "max_tokens": 99, "messages": QUESTION, **more}
    if not streamed:
        return await client.messages.create(**asked)

    def read():
        with (
            anthropic.Anthropic(base_url=client.base_url, api_key="k", max_retries=0) as same,
            same.messages.stream(**asked) as stream,
        ):
            return stream.get_final_message()

    return await trio.to_thread.run_sync(read)


async def completions(client, streamed=True, **more):
    asked = {"model": "gpt", "messages": QUESTION, **more}
    if not streamed:
        return await client.chat.completions.create(**asked)

    def read():
        options = {"include_usage": True}
        with (
            openai.OpenAI(base_url=client.base_url, api_key="k", max_retries=0) as same,
            same.chat.completions.stream(**asked, stream_options=options) as stream,
        ):
            return stream.get_final_completion()

    return await trio.to_thread.run_sync(read)


async def responses(client, streamed=True, **more):
    asked = {"model": "gpt", "input": "how is the weather", **more}
    if not streamed:
        return await client.responses.create(**asked)

    def read():
        with (
            openai.OpenAI(base_url=client.base_url, api_key="k", max_retries=0) as same,
            same.responses.stream(**asked) as stream,
        ):
            return stream.get_final_response()

    return await trio.to_thread.run_sync(read)


pytestmark = pytest.mark.slow  # the clients take their time to be made
both = pytest.mark.parametrize("streamed", [True, False])


@both
async def test_anthropic_reads_reasoning_text_and_usage(streamed):
    async with a_model(reasoning=2, text="It rains.", **USAGE) as model, claude(model) as client:
        answer = await messages(client, streamed)

    thinking, text = answer.content
    assert ("thinking", "They are w") == (thinking.type, thinking.thinking)
    assert thinking.signature
    assert "It rains." == text.text
    assert "end_turn" == answer.stop_reason
    usage = answer.usage
    assert (60, 40, 30) == (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens)


@both
async def test_anthropic_reads_a_call_and_the_text_after_its_result(streamed):
    async with a_model(tool_calls=CALL, preamble=1) as model, claude(model) as client:
        first = await messages(client, streamed, tools=[ANTHROPIC_TOOL])
        call = first.content[1]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}
        said = [
            *QUESTION,
            {"role": "assistant", "content": [block.model_dump() for block in first.content]},
            {"role": "user", "content": [result]},
        ]
        second = await messages(client, streamed, tools=[ANTHROPIC_TOOL], messages=said)

    assert ("tool_use", "weather", {"city": "Rome"}) == (first.stop_reason, call.name, call.input)
    assert ["text"] == [block.type for block in second.content]


@both
async def test_chat_reads_text_and_usage(streamed):
    async with a_model(text="It rains.", **USAGE) as model, gpt(model) as client:
        answer = await completions(client, streamed)

    choice, usage = answer.choices[0], answer.usage
    assert ("It rains.", "stop") == (choice.message.content, choice.finish_reason)
    assert (100, 30, 130) == (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
    assert 40 == usage.prompt_tokens_details.cached_tokens
    assert 8 == usage.completion_tokens_details.reasoning_tokens


@both
async def test_chat_reads_calls_and_the_text_after_their_results(streamed):
    calls = CALL + ' time:{"zone":"UTC"}'
    async with a_model(tool_calls=calls) as model, gpt(model) as client:
        first = await completions(client, streamed, tools=[CHAT_TOOL])
        called = first.choices[0].message.tool_calls
        said = [
            *QUESTION,
            {"role": "assistant", "tool_calls": [call.model_dump() for call in called]},
            *({"role": "tool", "tool_call_id": call.id, "content": "it is"} for call in called),
        ]
        second = await completions(client, streamed, tools=[CHAT_TOOL], messages=said)

    assert "tool_calls" == first.choices[0].finish_reason
    expected = [("weather", {"city": "Rome"}), ("time", {"zone": "UTC"})]
    assert expected == [(c.function.name, json.loads(c.function.arguments)) for c in called]
    assert "stop" == second.choices[0].finish_reason


@both
async def test_responses_reads_reasoning_text_and_usage(streamed):
    async with a_model(reasoning=2, text="It rains.", **USAGE) as model, gpt(model) as client:
        answer = await responses(client, streamed)

    reasoning, message = answer.output
    assert "They are w" == reasoning.summary[0].text
    assert "It rains." == answer.output_text == message.content[0].text
    assert (100, 30, 40) == (
        answer.usage.input_tokens,
        answer.usage.output_tokens,
        answer.usage.input_tokens_details.cached_tokens,
    )


@both
async def test_responses_reads_a_call_and_the_text_after_its_result(streamed):
    async with a_model(tool_calls=CALL) as model, gpt(model) as client:
        first = await responses(client, streamed, tools=[RESPONSES_TOOL])
        call = first.output[0]
        said = [
            *QUESTION,
            {"type": "function_call", "call_id": call.call_id, "name": "w", "arguments": "{}"},
            {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"},
        ]
        second = await responses(client, streamed, tools=[RESPONSES_TOOL], input=said)

    assert ("weather", {"city": "Rome"}) == (call.name, json.loads(call.arguments))
    assert ["message"] == [item.type for item in second.output]


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("400", "BadRequestError"),
        ("401", "AuthenticationError"),
        ("403", "PermissionDeniedError"),
        ("404", "NotFoundError"),
        ("429", "RateLimitError"),
        ("500", "InternalServerError"),
        ("529", "InternalServerError"),
        ("overflow", "BadRequestError"),
    ],
)
async def test_a_refusal_is_the_error_the_client_has_for_it(fault, name):
    # The client of Anthropic has an error of its own for an overload.
    anthropics = {"529": "OverloadedError"}.get(fault, name)
    async with a_model(faults=fault) as model, claude(model) as one, gpt(model) as other:
        with pytest.raises(getattr(anthropic._exceptions, anthropics)):
            await messages(one)
        with pytest.raises(getattr(openai, name)):
            await completions(other)
        with pytest.raises(getattr(openai, name)):
            await responses(other)


async def test_the_clients_know_an_overflow_by_its_code_or_text():
    async with a_model(faults="overflow") as model, claude(model) as one, gpt(model) as other:
        with pytest.raises(anthropic.BadRequestError) as too_long:
            await messages(one)
        with pytest.raises(openai.BadRequestError) as too_long_too:
            await completions(other)

    assert "prompt is too long" in too_long.value.message
    assert "context_length_exceeded" == too_long_too.value.code


async def test_retry_after_reaches_the_client():
    async with a_model(faults="429:7") as model, claude(model) as client:
        with pytest.raises(anthropic.RateLimitError) as limited:
            await messages(client)

    assert "7" == limited.value.response.headers["retry-after"]


async def test_a_client_that_retries_gets_its_answer(clock_over_sockets):
    async with a_model(faults="529@1", text="again") as model, claude(model, max_retries=1) as one:
        answer = await messages(one, streamed=False)

    assert "again" == answer.content[0].text


async def test_an_error_in_mid_stream_is_an_error_of_the_client():
    async with a_model(faults="error:2") as model, claude(model) as one, gpt(model) as other:
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            await messages(one)
        with pytest.raises(openai.APIError, match="The server had an error"):
            await completions(other)


@pytest.mark.parametrize("fault", ["reset:2", "hangup:2"])
async def test_a_lost_connection_is_a_connection_error_of_the_client(fault):
    async with a_model(faults=fault) as model, claude(model) as client:
        with pytest.raises((httpx2.ReadError, httpx2.RemoteProtocolError)):
            await messages(client)


async def test_a_refused_answer_says_so_in_each_form():
    async with a_model(faults="refusal") as model, claude(model) as one, gpt(model) as other:
        refused = await messages(one)
        declined = await completions(other)
        withheld = await responses(other)

    assert ("refusal", []) == (refused.stop_reason, refused.content)
    assert "general_harms" == refused.stop_details.category
    assert "I cannot play this part." == declined.choices[0].message.refusal
    assert "I cannot play this part." == withheld.output[0].content[0].refusal


async def test_a_filtered_answer_says_so_in_each_form():
    async with a_model(faults="filter:1") as model, gpt(model) as client:
        filtered = await completions(client, streamed=False)
        incomplete = await responses(client, streamed=False)

    assert "content_filter" == filtered.choices[0].finish_reason
    assert "content_filter" == incomplete.incomplete_details.reason


async def test_an_answer_cut_at_its_limit_says_so_in_each_form():
    async with a_model(faults="length") as model, claude(model) as one, gpt(model) as other:
        short = await messages(one)
        shorter = await completions(other, streamed=False)
        shortest = await responses(other, streamed=False)

    assert "max_tokens" == short.stop_reason
    assert "length" == shorter.choices[0].finish_reason
    assert "max_output_tokens" == shortest.incomplete_details.reason


async def test_the_clients_list_the_models():
    async with a_model(models="one,two") as model, claude(model) as one, gpt(model) as other:
        anthropics = [each.id async for each in one.models.list()]
        openais = [each.id async for each in other.models.list()]

    assert ["one", "two"] == anthropics == openais
